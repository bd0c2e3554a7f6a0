package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;

/** {@code bar.sync}, {@code bar.arrive}, {@code bar.red} and their {@code barrier} forms. */
final class BarrierOp extends Op {
  /** What the instruction does besides arriving. */
  enum Action {
    SYNC,
    ARRIVE,
    POPC,
    AND,
    OR
  }

  private final Action action;
  private final boolean aligned;
  private final int id;
  private final int threads;
  private final PredicateSource source;
  private final int destination;

  /**
   * The instruction.
   *
   * @param id the register of the barrier's number
   * @param threads the register of the count; negative if none is given
   * @param source the predicate of a reduction; null otherwise
   * @param destination the register, or predicate, of a reduction's result
   */
  BarrierOp(
      Action action,
      boolean aligned,
      int id,
      int threads,
      PredicateSource source,
      int destination) {
    this.action = action;
    this.aligned = aligned;
    this.id = id;
    this.threads = threads;
    this.source = source;
    this.destination = destination;
  }

  @Override
  void step(Warp warp) {
    int mask = guarded(warp);
    if (mask == 0) {
      warp.pc++;
      return;
    }
    warp.keep(mask);
    warp.joinWaiting();
    int here = warp.group;
    int first = Integer.numberOfTrailingZeros(here);
    long barrierId = warp.frame.registers[id + first];
    for (int m = here; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      warp.lane = lane;
      if (warp.frame.registers[id + lane] != barrierId) {
        throw new DeviceFault(
            DeviceFault.Kind.ILLEGAL_INSTRUCTION, "lanes of one warp name different barriers");
      }
      warp.waitsAtBarrier[lane] = (int) barrierId;
    }
    int elsewhere = 0;
    for (int m = warp.waiting; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      if (warp.waitsAtBarrier[lane] == barrierId) {
        elsewhere |= 1 << lane;
      }
    }
    if (aligned && elsewhere != 0) {
      int other = warp.lanePc[Integer.numberOfTrailingZeros(elsewhere)];
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "an aligned barrier, at which other lanes of the warp wait at "
              + warp.block.launch().describe(other));
    }
    Barrier barrier = warp.block.barrier(barrierId);
    if ((here | elsewhere) != warp.live) {
      warp.waitHere(here);
      return;
    }
    int count = threads < 0 ? Barrier.ALL : (int) warp.frame.registers[threads + first];
    if (threads >= 0 && count <= 0) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION, "a barrier for " + count + " threads");
    }
    int predicates = predicates(warp);
    if (action == Action.ARRIVE) {
      for (int m = elsewhere; m != 0; m &= m - 1) {
        warp.lanePc[Integer.numberOfTrailingZeros(m)]++;
      }
      warp.waiting &= ~elsewhere;
      warp.setPlace(here, warp.pc + 1);
      warp.group = 0;
      java.util.Arrays.fill(warp.waitsAtBarrier, -1);
      barrier.arrive(warp, count, false, warp.live, predicates);
    } else {
      warp.waitHere(here);
      barrier.arrive(warp, count, true, warp.live, predicates);
    }
  }

  private static int predicates(Warp warp) {
    int predicates = 0;
    for (int m = warp.live; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      boolean here = (warp.group >>> lane & 1) != 0;
      int pc = here ? warp.pc : warp.lanePc[lane];
      BarrierOp op = (BarrierOp) warp.block.launch().ops()[pc];
      if (op.source != null) {
        predicates |= op.source.lanes(warp.laneFrame[lane]) & 1 << lane;
      }
    }
    return predicates;
  }

  /** Gives a lane the result of a reduction. */
  void complete(Frame frame, int lane, int trueThreads, int allThreads) {
    switch (action) {
      case SYNC, ARRIVE -> {}
      case POPC -> frame.registers[destination + lane] = trueThreads;
      case AND -> setPredicate(frame, lane, trueThreads == allThreads);
      case OR -> setPredicate(frame, lane, trueThreads > 0);
    }
  }

  private void setPredicate(Frame frame, int lane, boolean value) {
    int bit = 1 << lane;
    frame.predicates[destination] =
        value ? frame.predicates[destination] | bit : frame.predicates[destination] & ~bit;
  }

  @Override
  String waitsFor(Warp warp, int lane) {
    Barrier barrier = warp.block.barrier(warp.laneFrame[lane].registers[id + lane]);
    if (barrier.holds(warp)) {
      return "waits at " + barrier.describe();
    }
    return "waits for the other lanes of its warp";
  }
}
