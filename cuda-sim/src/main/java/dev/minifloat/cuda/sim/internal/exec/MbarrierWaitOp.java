package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;

/**
 * mbarrier.test_wait and mbarrier.try_wait. A try_wait holds its threads until the phase is
 * complete, and gives up only when nobody else can go on; a test_wait answers at once.
 */
final class MbarrierWaitOp extends Op {
  /** So often a test_wait looks in vain before a copy that the barrier waits for lands. */
  private static final int PATIENCE = 8;

  /** So often, with nothing to come, before it counts as a deadlock. */
  private static final int MOST_POLLS = 1 << 20;

  private final int predicate;
  private final AddressSource address;
  private final StateSpace space;
  private final int operand;
  private final boolean parity;
  private final boolean tries;

  MbarrierWaitOp(Operands o, Instruction i) {
    predicate = o.predicateDestination(0);
    address = o.address(1);
    space = i.space();
    parity = i.has(".parity");
    tries = i.has(".try_wait");
    operand = o.source(2, parity ? PtxType.U32 : PtxType.B64);
  }

  private Mbarrier barrier(Warp warp, Frame frame, int lane) {
    return MbarrierOps.find(warp, lane, address.of(frame, lane), space);
  }

  private boolean isComplete(Mbarrier barrier, Frame frame, int lane) {
    long value = frame.registers[operand + lane];
    return parity ? barrier.isCompleteByParity(value) : barrier.isComplete(value);
  }

  @Override
  void step(Warp warp) {
    int mask = guarded(warp);
    if (mask == 0) {
      warp.pc++;
      return;
    }
    Frame frame = warp.frame;
    int ready = 0;
    Mbarrier last = null;
    for (int m = mask; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      Mbarrier barrier = barrier(warp, frame, lane);
      if (isComplete(barrier, frame, lane)) {
        ready |= 1 << lane;
        if (barrier != last) {
          barrier.acquire(warp);
          last = barrier;
        }
      } else if (!tries) {
        poll(warp, barrier);
      }
    }
    int answered = tries ? ready | (mask & warp.timedOut) : mask;
    warp.timedOut &= ~mask;
    Operands.setPredicate(frame, predicate, answered, ready);
    if (answered == mask) {
      warp.pc++;
      return;
    }
    warp.keep(mask);
    warp.trying |= mask & ~answered;
    warp.sleep(mask & ~answered);
    if (warp.group != 0) {
      warp.pc++;
    }
  }

  private static void poll(Warp warp, Mbarrier barrier) {
    int polls = barrier.polled();
    Cluster cluster = warp.block.cluster();
    if (polls % PATIENCE == 0
        && (cluster.copies().landFor(barrier)
            || cluster.tensorQueue().completeFor(barrier)
            || cluster.arriveOne(barrier))) {
      return;
    }
    if (polls >= MOST_POLLS) {
      throw new DeviceFault(
          DeviceFault.Kind.DEADLOCK,
          "it has looked %d times at %s".formatted(polls, barrier.describe()));
    }
  }

  /** The barrier that a sleeping lane waits for. */
  Mbarrier awaited(Warp warp, int lane) {
    return barrier(warp, warp.laneFrame[lane], lane);
  }

  @Override
  String waitsFor(Warp warp, int lane) {
    Frame frame = warp.laneFrame[lane];
    long value = frame.registers[operand + lane];
    String what = parity ? "parity " + (value & 1) : "phase " + (value >>> 32);
    return "waits for %s of %s".formatted(what, awaited(warp, lane).describe());
  }
}
