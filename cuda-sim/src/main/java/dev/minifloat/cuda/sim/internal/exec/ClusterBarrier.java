package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Clocks;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;

/**
 * The barrier of a cluster's threads (PTX ISA, "barrier.cluster"): each arrives, then waits. It
 * completes once every thread that has not exited has arrived.
 */
final class ClusterBarrier {
  private final Cluster cluster;

  /** Lanes of each warp that have arrived at the phase that goes on. */
  private final int[] arrived;

  /** Lanes of each warp whose phase is complete and that have not waited for it yet. */
  private final int[] passed;

  private int[] joined;
  private int[] completed;

  ClusterBarrier(Cluster cluster) {
    this.cluster = cluster;
    arrived = new int[cluster.warps().length];
    passed = new int[cluster.warps().length];
    joined = cluster.clocks().joined();
    completed = joined;
  }

  /** Lanes arrive; {@code releases} if what they did before is to be seen by who waits. */
  void arrive(Warp warp, int lanes, boolean releases) {
    int twice = lanes & (arrived[warp.clusterIndex] | passed[warp.clusterIndex]);
    if (twice != 0) {
      warp.lane = Integer.numberOfTrailingZeros(twice);
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "it arrives at the cluster's barrier again and has not waited between");
    }
    Clocks clocks = cluster.clocks();
    if (releases) {
      clocks.release(warp.clusterIndex, joined);
    }
    arrived[warp.clusterIndex] |= lanes;
    completeIfDue();
  }

  /** The lanes of these whose phase is complete; they go on. */
  int pass(Warp warp, int lanes) {
    int early = lanes & ~(arrived[warp.clusterIndex] | passed[warp.clusterIndex]);
    if (early != 0) {
      warp.lane = Integer.numberOfTrailingZeros(early);
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "it waits at the cluster's barrier and has not arrived");
    }
    int ready = lanes & passed[warp.clusterIndex];
    if (ready != 0) {
      passed[warp.clusterIndex] &= ~ready;
      cluster.clocks().depart(warp.clusterIndex, completed);
    }
    return ready;
  }

  /** Completes the phase if nobody is missing any more. */
  void completeIfDue() {
    boolean any = false;
    for (Warp warp : cluster.warps()) {
      if ((warp.live & ~arrived[warp.clusterIndex]) != 0) {
        return;
      }
      any |= arrived[warp.clusterIndex] != 0;
    }
    if (!any) {
      return;
    }
    for (int i = 0; i < arrived.length; i++) {
      passed[i] |= arrived[i];
      arrived[i] = 0;
    }
    completed = joined;
    joined = cluster.clocks().joined();
    cluster.wake();
  }

  String describe() {
    StringBuilder text = new StringBuilder("waits at the cluster's barrier; not arrived:");
    for (Warp warp : cluster.warps()) {
      int missing = warp.live & ~arrived[warp.clusterIndex];
      if (missing != 0) {
        text.append(
            " block %s warp %d lanes 0x%08x".formatted(warp.block.place(), warp.index, missing));
      }
    }
    return text.toString();
  }
}
