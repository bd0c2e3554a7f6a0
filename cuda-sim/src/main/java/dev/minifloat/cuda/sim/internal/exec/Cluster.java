package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Clocks;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import java.util.SplittableRandom;

/**
 * Blocks that run side by side and reach each other's shared memory; a launch without clusters has
 * clusters of one block. When no thread can go on, a bulk copy that somebody waits for lands; when
 * there is none, tensor cores do what they were given; when there is nothing, waits with a time
 * limit give up; when nothing comes of that either, it is a deadlock.
 */
final class Cluster {
  /** Most instructions that a warp runs before another may. */
  private static final int LONGEST_SLICE = 64;

  /** How often waits give up in vain before nobody believes in progress any more. */
  private static final int MOST_TIMEOUTS = 2;

  private final Launch launch;
  private final Dim3 place;
  private final Clocks clocks;
  private final Block[] blocks;
  private final Warp[] warps;
  private final BulkCopies copies = new BulkCopies(this);
  private final TensorQueue tensorQueue = new TensorQueue();
  private final ClusterBarrier barrier;
  private Block current;
  private int timeouts;

  Cluster(Launch launch, long index) {
    this.launch = launch;
    this.place = launch.clusters().place(index);
    Dim3 size = launch.clusterSize();
    int perBlock = (int) ((launch.blockSize().count() + 31) / 32);
    clocks = new Clocks((int) size.count() * perBlock);
    blocks = new Block[(int) size.count()];
    warps = new Warp[blocks.length * perBlock];
    for (int rank = 0; rank < blocks.length; rank++) {
      blocks[rank] = new Block(launch, this, rank);
      for (int w = 0; w < perBlock; w++) {
        warps[rank * perBlock + w] = blocks[rank].warp(w);
      }
    }
    barrier = new ClusterBarrier(this);
    current = blocks[0];
  }

  /** Its place among the grid's clusters. */
  Dim3 place() {
    return place;
  }

  Clocks clocks() {
    return clocks;
  }

  int size() {
    return blocks.length;
  }

  Block block(int rank) {
    return blocks[rank];
  }

  Warp[] warps() {
    return warps;
  }

  BulkCopies copies() {
    return copies;
  }

  TensorQueue tensorQueue() {
    return tensorQueue;
  }

  ClusterBarrier barrier() {
    return barrier;
  }

  /** The block that runs, or ran last. */
  Block current() {
    return current;
  }

  boolean isDone() {
    for (Block block : blocks) {
      if (!block.isDone()) {
        return false;
      }
    }
    return true;
  }

  /** Runs warps in random order for about so many instructions; returns how many it ran. */
  long run(long budget, SplittableRandom random) {
    long done = 0;
    while (done < budget && !isDone()) {
      Warp next = pick(random);
      if (next == null) {
        if (!copies.landOne(random)
            && !tensorQueue.completeOne(copies.awaited(), random)
            && !arriveOne(null)
            && !timeOut()) {
          throw new DeviceFault(DeviceFault.Kind.DEADLOCK, describeDeadlock());
        }
        continue;
      }
      current = next.block;
      current.runs(next);
      done += next.run(1 + random.nextInt(LONGEST_SLICE));
    }
    return done;
  }

  /** Lets copies land that an arrival at a barrier, or at any if it is null, waits for. */
  boolean arriveOne(Mbarrier barrier) {
    for (Warp warp : warps) {
      if (warp.copies.arriveOne(barrier)) {
        return true;
      }
    }
    return false;
  }

  /** A warp that can run, at random; null if none can. */
  private Warp pick(SplittableRandom random) {
    int start = random.nextInt(warps.length);
    for (int i = 0; i < warps.length; i++) {
      Warp warp = warps[(start + i) % warps.length];
      if (warp.canRun()) {
        return warp;
      }
    }
    return null;
  }

  /** Something happened that others may have waited for. */
  void progress() {
    timeouts = 0;
  }

  /** Lets threads look again whether what they wait for has come. */
  void wake() {
    timeouts = 0;
    for (Warp warp : warps) {
      warp.wake();
    }
  }

  /**
   * Lets waits with a time limit end without success; false if that was tried, or there are none.
   */
  private boolean timeOut() {
    boolean any = false;
    for (Warp warp : warps) {
      any |= warp.trying != 0;
    }
    if (!any || timeouts == MOST_TIMEOUTS) {
      return false;
    }
    int before = timeouts;
    for (Warp warp : warps) {
      warp.timedOut |= warp.trying;
      warp.wake();
    }
    timeouts = before + 1;
    return true;
  }

  private String describeDeadlock() {
    StringBuilder text = new StringBuilder();
    text.append(
        blocks.length == 1
            ? "no thread of the block can go on:"
            : "no thread of the cluster can go on:");
    for (Warp warp : warps) {
      int rest = warp.live;
      while (rest != 0) {
        int lane = Integer.numberOfTrailingZeros(rest);
        int same = 0;
        for (int m = rest; m != 0; m &= m - 1) {
          int l = Integer.numberOfTrailingZeros(m);
          same |= warp.lanePc[l] == warp.lanePc[lane] ? 1 << l : 0;
        }
        rest &= ~same;
        int pc = warp.lanePc[lane];
        text.append("\n  ");
        if (blocks.length > 1) {
          text.append("block ").append(warp.block.place()).append(", ");
        }
        text.append(
            "warp %d, lanes 0x%08x at %s: %s"
                .formatted(
                    warp.index, same, launch.describe(pc), launch.ops()[pc].waitsFor(warp, lane)));
      }
    }
    return text.toString();
  }
}
