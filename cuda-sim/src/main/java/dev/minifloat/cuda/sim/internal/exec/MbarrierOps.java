package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.RaceDetector;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;

/** The instructions on barriers in shared memory (PTX ISA, "mbarrier.init" and what follows it). */
final class MbarrierOps {
  private MbarrierOps() {}

  private interface Action {
    void apply(Warp warp, Frame frame, int lane, Mbarrier barrier);
  }

  static Op decode(Operands o, Instruction i) {
    if (i.has(".init")) {
      return init(o, i);
    }
    if (i.has(".inval")) {
      return each(
          o.address(0),
          i,
          (warp, frame, lane, barrier) -> barrier.block().dropMbarrier(barrier.offset()));
    }
    if (i.has(".pending_count")) {
      return LaneOps.unary(o.destination(0), o.source(1, PtxType.B64), Mbarrier::pendingOf);
    }
    if (i.has(".test_wait") || i.has(".try_wait")) {
      return new MbarrierWaitOp(o, i);
    }
    if (i.has(".arrive") || i.has(".arrive_drop")) {
      return arrive(o, i);
    }
    int bytes = o.source(1, PtxType.U32);
    boolean completes = i.has(".complete_tx");
    return each(
        o.address(0),
        i,
        (warp, frame, lane, barrier) -> {
          if (completes) {
            barrier.complete(frame.registers[bytes + lane], false);
          } else {
            barrier.expect(frame.registers[bytes + lane]);
          }
        });
  }

  private static Op init(Operands o, Instruction i) {
    AddressSource address = o.address(0);
    StateSpace space = i.space();
    int count = o.source(1, PtxType.U32);
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          warp.lane = lane;
          long at = Addresses.shared(address.of(frame, lane), space);
          Block block = warp.block.holder(at, space);
          int offset = block.shared().offset(Addresses.offset(at), Mbarrier.BYTES);
          RaceDetector races = block.shared().races();
          if (races != null) {
            races.write(offset, Mbarrier.BYTES, warp.actor(lane), warp.pc, false, 0);
          }
          block.addMbarrier(Mbarrier.init(block, offset, frame.registers[count + lane]));
        }
      }
    };
  }

  private static Op arrive(Operands o, Instruction i) {
    int destination = o.destination(0);
    boolean expects = i.has(".expect_tx");
    int operand = o.isPresent(2) ? o.source(2, PtxType.U32) : Operands.NOWHERE;
    boolean drops = i.has(".arrive_drop");
    boolean completes = !i.has(".noComplete");
    boolean remote = i.space() == StateSpace.SHARED_CLUSTER;
    if (remote && destination != Operands.NOWHERE) {
      throw new dev.minifloat.cuda.sim.internal.ptx.PtxException(
          o.get(0).position(), "an arrival in .shared::cluster gives no state; '_' was expected");
    }
    return each(
        o.address(1),
        i,
        (warp, frame, lane, barrier) -> {
          long given = operand < 0 ? 1 : frame.registers[operand + lane];
          long state = barrier.state();
          if (expects) {
            barrier.expect(given);
          }
          long arrivals = expects ? 1 : given;
          if (!completes && arrivals >= Mbarrier.pendingOf(state)) {
            throw new DeviceFault(
                DeviceFault.Kind.ILLEGAL_INSTRUCTION,
                ".noComplete, but it completes " + barrier.describe());
          }
          barrier.arrive(warp, arrivals, drops);
          if (destination >= 0) {
            frame.registers[destination + lane] = state;
          }
        });
  }

  /** cp.async.mbarrier.arrive: without .noinc it makes room for its own arrival first. */
  static Op arriveAfterCopies(Operands o, Instruction i) {
    boolean expected = i.has(".noinc");
    return each(
        o.address(0),
        i,
        (warp, frame, lane, barrier) -> {
          if (!expected) {
            barrier.expectOneMore();
          }
          warp.copies.arriveWhenLanded(lane, barrier);
        });
  }

  private static Op each(AddressSource address, Instruction i, Action action) {
    StateSpace space = i.space();
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          action.apply(warp, frame, lane, find(warp, lane, address.of(frame, lane), space));
        }
      }
    };
  }

  /**
   * The barrier at an address; a fault if there is none, or nothing orders its setting up before.
   */
  static Mbarrier find(Warp warp, int lane, long address, StateSpace space) {
    warp.lane = lane;
    long at = Addresses.shared(address, space);
    Block block = warp.block.holder(at, space);
    int offset = block.shared().offset(Addresses.offset(at), Mbarrier.BYTES);
    Mbarrier barrier = block.mbarrier(offset);
    if (barrier == null) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "no mbarrier was set up at shared address 0x%x".formatted(offset));
    }
    RaceDetector races = block.shared().races();
    if (races != null) {
      races.read(offset, Mbarrier.BYTES, warp.actor(lane), warp.pc, true);
    }
    barrier.requireIntact();
    return barrier;
  }
}
