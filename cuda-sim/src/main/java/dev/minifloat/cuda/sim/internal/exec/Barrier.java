package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.RaceDetector;
import dev.minifloat.cuda.sim.trace.TracedBarrier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** One of a block's sixteen barriers. */
final class Barrier {
  /** No count was given: all warps that have not exited. */
  static final int ALL = 0;

  private final Block block;
  private final int id;

  /** Warps that wait, and warps that have arrived, waiting or not. */
  private int waitingWarps;

  private int arrivedWarps;
  private int expected;

  /** What the predicates of a reduction have come to. */
  private int trueThreads;

  private int threads;
  private int[] joined;

  Barrier(Block block, int id) {
    this.block = block;
    this.id = id;
  }

  /**
   * A warp arrives, all of its living lanes at once.
   *
   * @param threadCount the count that its instruction gives, or {@link #ALL}
   * @param waits whether it goes on only when the barrier is complete
   * @param lanes its lanes
   * @param predicates the lanes whose predicate holds, for a reduction
   */
  void arrive(Warp warp, int threadCount, boolean waits, int lanes, int predicates) {
    if (threadCount % 32 != 0) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "barrier %d for %d threads, which is no multiple of the warp's 32"
              .formatted(id, threadCount));
    }
    if ((arrivedWarps >>> warp.index & 1) != 0) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "warp %d arrives at barrier %d twice".formatted(warp.index, id));
    }
    if (arrivedWarps != 0 && threadCount != expected) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "barrier %d for %s threads, where others wait for %s"
              .formatted(id, count(threadCount), count(expected)));
    }
    RaceDetector races = block.shared().races();
    if (arrivedWarps == 0) {
      expected = threadCount;
      trueThreads = 0;
      threads = 0;
      joined = races == null ? null : races.clocks().joined();
    }
    arrivedWarps |= 1 << warp.index;
    if (waits) {
      waitingWarps |= 1 << warp.index;
    }
    trueThreads += Integer.bitCount(predicates);
    threads += Integer.bitCount(lanes);
    if (races != null) {
      races.clocks().arrive(warp.clusterIndex, joined);
    }
    completeIfDue();
  }

  private static String count(int threadCount) {
    return threadCount == ALL ? "all" : Integer.toString(threadCount);
  }

  /** Lets everybody go if nobody is missing any more. */
  void completeIfDue() {
    if (arrivedWarps == 0) {
      return;
    }
    boolean complete =
        expected == ALL
            ? (block.liveWarps() & ~arrivedWarps) == 0
            : Integer.bitCount(arrivedWarps) * 32 >= expected;
    if (!complete) {
      return;
    }
    block.launch().counters().barriers++;
    block.cluster().progress();
    RaceDetector races = block.shared().races();
    int released = waitingWarps;
    for (int m = arrivedWarps; races != null && m != 0; m &= m - 1) {
      int index = Integer.numberOfTrailingZeros(m);
      if ((released >>> index & 1) != 0) {
        races.clocks().depart(block.warp(index).clusterIndex, joined);
      }
    }
    waitingWarps = 0;
    arrivedWarps = 0;
    for (int m = released; m != 0; m &= m - 1) {
      release(block.warp(Integer.numberOfTrailingZeros(m)));
    }
  }

  private void release(Warp warp) {
    for (int m = warp.waiting; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      if (warp.waitsAtBarrier[lane] == id) {
        warp.waitsAtBarrier[lane] = -1;
        warp.waiting &= ~(1 << lane);
        BarrierOp op = (BarrierOp) block.launch().ops()[warp.lanePc[lane]];
        op.complete(warp.laneFrame[lane], lane, trueThreads, threads);
        warp.lanePc[lane]++;
      }
    }
  }

  /** What a tracer sees of it; empty if nobody has arrived. */
  Optional<TracedBarrier> view() {
    if (arrivedWarps == 0) {
      return Optional.empty();
    }
    List<Integer> arrived = new ArrayList<>();
    for (int m = arrivedWarps; m != 0; m &= m - 1) {
      arrived.add(Integer.numberOfTrailingZeros(m));
    }
    return Optional.of(new TracedBarrier(id, arrived, expected));
  }

  /** Whether a warp has arrived and waits. */
  boolean holds(Warp warp) {
    return (waitingWarps >>> warp.index & 1) != 0;
  }

  String describe() {
    int missing = block.liveWarps() & ~arrivedWarps;
    String who = expected == ALL ? "all warps" : expected + " threads";
    int[] names = new int[Integer.bitCount(missing)];
    for (int i = 0, m = missing; m != 0; m &= m - 1) {
      names[i++] = Integer.numberOfTrailingZeros(m);
    }
    return "barrier %d for %s; warps that have not arrived: %s"
        .formatted(id, who, Arrays.toString(names));
  }
}
