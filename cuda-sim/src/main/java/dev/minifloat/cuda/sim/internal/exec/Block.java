package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.RaceDetector;
import dev.minifloat.cuda.sim.internal.memory.SharedMemory;
import dev.minifloat.cuda.sim.internal.memory.TensorMemory;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/** A block of threads: its warps, its shared memory, its barriers. */
final class Block {
  static final int BARRIERS = 16;

  private final Launch launch;
  private final Cluster cluster;
  private final int rank;
  private final long index;
  private final Dim3 place;
  private final Warp[] warps;
  private final SharedMemory shared;
  private final Barrier[] barriers = new Barrier[BARRIERS];
  private final Map<Integer, Mbarrier> mbarriers = new HashMap<>();
  private final Warpgroup[] warpgroups;
  private TensorMemory tensorMemory;

  /** How many blocks its tcgen05 instructions say take part; 0 before the first. */
  private int tensorBlocks;

  private int liveWarps;

  /** The warp that runs, or ran last. */
  private Warp current;

  /**
   * A block.
   *
   * @param rank its number in the cluster
   */
  Block(Launch launch, Cluster cluster, int rank) {
    this.launch = launch;
    this.cluster = cluster;
    this.rank = rank;
    Dim3 size = launch.clusterSize();
    Dim3 inCluster = size.place(rank);
    this.place =
        new Dim3(
            cluster.place().x() * size.x() + inCluster.x(),
            cluster.place().y() * size.y() + inCluster.y(),
            cluster.place().z() * size.z() + inCluster.z());
    Dim3 grid = launch.grid();
    this.index = place.x() + (long) grid.x() * (place.y() + (long) grid.y() * place.z());
    int threads = (int) launch.blockSize().count();
    warps = new Warp[(threads + 31) / 32];
    ExecutionOptions options = launch.options();
    RaceDetector.Places places = options.detectRaces() ? launch::describe : null;
    shared =
        new SharedMemory(
            launch.sharedBytes(),
            launch.reservedStart(),
            cluster.clocks(),
            options.checkInitialized(),
            places);
    for (int i = 0; i < BARRIERS; i++) {
      barriers[i] = new Barrier(this, i);
    }
    for (int i = 0; i < warps.length; i++) {
      int lanes = Math.min(32, threads - i * 32);
      Frame frame = launch.entry().frame(this, i);
      for (int lane = 0; lane < lanes; lane++) {
        launch.entry().placeLocals(frame, lane);
      }
      warps[i] = new Warp(this, i, lanes == 32 ? -1 : (1 << lanes) - 1, frame);
      liveWarps |= 1 << i;
    }
    warpgroups = new Warpgroup[warps.length / 4];
    for (int i = 0; i < warpgroups.length; i++) {
      warpgroups[i] = new Warpgroup(this);
    }
    current = warps[0];
  }

  Launch launch() {
    return launch;
  }

  Cluster cluster() {
    return cluster;
  }

  /** Its number in the cluster. */
  int rank() {
    return rank;
  }

  long index() {
    return index;
  }

  Dim3 place() {
    return place;
  }

  SharedMemory shared() {
    return shared;
  }

  TensorMemory tensorMemory() {
    if (tensorMemory == null) {
      ExecutionOptions options = launch.options();
      tensorMemory =
          new TensorMemory(
              cluster.clocks(),
              options.checkInitialized(),
              options.detectRaces() ? launch::describe : null);
    }
    return tensorMemory;
  }

  /**
   * Faults unless all tcgen05 instructions of the block say that so many blocks take part, and the
   * other one is there.
   */
  void requireTensorBlocks(int blocks) {
    if (tensorBlocks != 0 && tensorBlocks != blocks) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          ".cta_group::%d, but the block has used .cta_group::%d before"
              .formatted(blocks, tensorBlocks));
    }
    tensorBlocks = blocks;
    if (blocks == 2 && (rank ^ 1) >= cluster.size()) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          ".cta_group::2 in block %d of a cluster of %d: there is no pair"
              .formatted(rank, cluster.size()));
    }
  }

  Warp warp(int warpIndex) {
    return warps[warpIndex];
  }

  int warpCount() {
    return warps.length;
  }

  /** The warpgroup of a warp: four that begin with a multiple of four. */
  Warpgroup warpgroup(Warp warp) {
    int wanted = warp.index / 4;
    if (wanted >= warpgroups.length) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "warp %d belongs to no warpgroup: the block has %d warps"
              .formatted(warp.index, warps.length));
    }
    return warpgroups[wanted];
  }

  Warp current() {
    return current;
  }

  /** Warps with lanes that have not exited. */
  int liveWarps() {
    return liveWarps;
  }

  boolean isDone() {
    return liveWarps == 0;
  }

  Barrier barrier(long id) {
    if (id < 0 || id >= BARRIERS) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION,
          "barrier " + id + " doesn't exist; there are " + BARRIERS);
    }
    return barriers[(int) id];
  }

  /** A warp of it runs. */
  void runs(Warp warp) {
    current = warp;
  }

  /** The block of the cluster in whose shared memory an address lies. */
  Block holder(long shared, StateSpace stated) {
    int wanted = Addresses.rank(shared);
    if (wanted == rank) {
      return this;
    }
    if (stated == StateSpace.SHARED || wanted >= cluster.size()) {
      throw new DeviceFault(
          DeviceFault.Kind.OUT_OF_BOUNDS,
          "shared address 0x%x lies in block %d of the cluster; it has %d, and this is block %d"
              .formatted(shared, wanted, cluster.size(), rank));
    }
    Block block = cluster.block(wanted);
    if (block.isDone()) {
      throw new DeviceFault(
          DeviceFault.Kind.OUT_OF_BOUNDS,
          "shared memory of block %s, which has ended".formatted(block.place()));
    }
    return block;
  }

  /** The offset of an address in its own shared memory, which may be given generically. */
  long own(long address) {
    long shared = address >= Addresses.SHARED_WINDOW ? address - Addresses.SHARED_WINDOW : address;
    holder(shared, StateSpace.SHARED);
    return Addresses.offset(shared);
  }

  /** The mbarrier at an offset; null if none was set up there. */
  Mbarrier mbarrier(int offset) {
    return mbarriers.get(offset);
  }

  Collection<Mbarrier> mbarriers() {
    return mbarriers.values();
  }

  void addMbarrier(Mbarrier barrier) {
    mbarriers.put(barrier.offset(), barrier);
  }

  void dropMbarrier(int offset) {
    mbarriers.remove(offset);
  }

  void warpExited(Warp warp) {
    liveWarps &= ~(1 << warp.index);
    cluster.barrier().completeIfDue();
    if (liveWarps == 0) {
      cluster.copies().ended(this);
      cluster.tensorQueue().ended(this);
      if (tensorMemory != null) {
        tensorMemory.requireFree();
      }
    }
    for (Barrier barrier : barriers) {
      barrier.completeIfDue();
    }
  }
}
