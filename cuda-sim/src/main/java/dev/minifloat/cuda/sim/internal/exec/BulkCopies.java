package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.GlobalMemory;
import dev.minifloat.cuda.sim.internal.memory.RaceDetector;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The bulk copies of a cluster that have been issued and not happened. They happen as late as PTX
 * allows: one that a barrier counts when nobody can go on without it, the reading half of one in a
 * bulk group when its thread waits for that, the writing half when its thread waits for it or the
 * kernel ends. So what a kernel does too early fails every time.
 */
final class BulkCopies {
  /**
   * Where a copy into shared memory goes: one in each block of a multicast.
   *
   * @param block whose memory
   * @param offset where it begins there
   * @param barrier counts its bytes
   */
  record Target(Block block, int offset, Mbarrier barrier) {}

  /**
   * A copy into shared memory.
   *
   * @param from where from; null if from shared memory of the issuing block
   * @param sharedSource the offset there if {@code from} is null
   */
  private record Load(
      Warp warp, int lane, int pc, GlobalSide from, int sharedSource, int bytes, List<Target> to) {}

  /** A copy from shared to global memory, in a bulk group of a lane. */
  private static final class Store {
    private final Warp warp;
    private final int lane;
    private final int pc;
    private final int group;
    private final GlobalSide to;
    private final int offset;

    /** What it has read; null before. */
    private byte[] data;

    Store(Warp warp, int lane, int group, GlobalSide to, int offset) {
      this.warp = warp;
      this.lane = lane;
      this.pc = warp.pc;
      this.group = group;
      this.to = to;
      this.offset = offset;
    }
  }

  private final Cluster cluster;
  private final List<Load> loads = new ArrayList<>();
  private final List<Store> stores = new ArrayList<>();

  BulkCopies(Cluster cluster) {
    this.cluster = cluster;
  }

  /** Notes a copy into shared memory, its bytes in flight from now on. */
  void load(
      Warp warp, int lane, GlobalSide from, int sharedSource, int bytes, List<Target> targets) {
    int thread = warp.actor(lane);
    for (Target target : targets) {
      target.block().shared().range(target.offset(), bytes, 16);
      RaceDetector races = target.block().shared().races();
      if (races != null) {
        int barrier = target.barrier().offset();
        races.requireVisible(
            barrier, Mbarrier.BYTES, thread, warp.pc, "an arrival at the mbarrier");
        races.takeOffAsync(target.offset(), bytes, thread, warp.pc);
      }
    }
    RaceDetector own = warp.block.shared().races();
    if (from == null && own != null) {
      own.takeOffRead(sharedSource, bytes, thread, warp.pc);
    }
    loads.add(new Load(warp, lane, warp.pc, from, sharedSource, bytes, targets));
  }

  /** Notes a copy out of shared memory. */
  void store(Warp warp, int lane, GlobalSide to, int offset) {
    RaceDetector races = warp.block.shared().races();
    if (races != null) {
      races.takeOffRead(offset, to.bytes(), warp.actor(lane), warp.pc);
    }
    stores.add(new Store(warp, lane, warp.bulkGroups[lane], to, offset));
  }

  /** Lands a copy that a sleeping thread waits for, or else any; false if there is none. */
  boolean landOne(SplittableRandom random) {
    if (loads.isEmpty()) {
      return false;
    }
    List<Mbarrier> awaited = awaited();
    List<Load> wanted =
        loads.stream()
            .filter(load -> load.to().stream().anyMatch(to -> awaited.contains(to.barrier())))
            .toList();
    List<Load> candidates = wanted.isEmpty() ? loads : wanted;
    land(candidates.get(random.nextInt(candidates.size())));
    return true;
  }

  /** The barriers that sleeping threads wait for. */
  List<Mbarrier> awaited() {
    List<Mbarrier> awaited = new ArrayList<>();
    for (Warp warp : cluster.warps()) {
      for (int m = warp.trying; m != 0; m &= m - 1) {
        int lane = Integer.numberOfTrailingZeros(m);
        Op op = cluster.current().launch().ops()[warp.lanePc[lane]];
        Mbarrier barrier = ((MbarrierWaitOp) op).awaited(warp, lane);
        if (awaited.isEmpty() || awaited.getLast() != barrier) {
          awaited.add(barrier);
        }
      }
    }
    return awaited;
  }

  /** Lands a copy that a barrier counts; false if there is none. */
  boolean landFor(Mbarrier barrier) {
    for (Load load : loads) {
      if (load.to().stream().anyMatch(target -> target.barrier() == barrier)) {
        land(load);
        return true;
      }
    }
    return false;
  }

  private void land(Load load) {
    loads.remove(load);
    Block issuer = load.warp().block;
    for (Target target : load.to()) {
      if (target.block().isDone()) {
        throw described(
            load.warp(),
            load.pc(),
            new DeviceFault(
                DeviceFault.Kind.ILLEGAL_INSTRUCTION,
                "it goes to block %s, which has ended".formatted(target.block().place())));
      }
    }
    Launch launch = issuer.launch();
    boolean check = launch.options().checkInitialized();
    byte[] data;
    try {
      if (load.from() != null) {
        data = load.from().read(launch.memory(), load.to().getFirst().offset(), check);
      } else {
        data = new byte[load.bytes()];
        issuer.shared().copyOut(load.sharedSource(), data, 0, data.length);
        launch.counters().sharedBytesRead += data.length;
        RaceDetector races = issuer.shared().races();
        if (races != null) {
          races.landRead(
              load.sharedSource(), data.length, load.warp().actor(load.lane()), load.pc());
        }
      }
    } catch (DeviceFault fault) {
      throw described(load.warp(), load.pc(), fault);
    }
    if (load.from() != null) {
      launch.counters().globalBytesRead += data.length;
      launch.counters().globalSectorsRead += (data.length + 31) / 32;
    }
    for (Target target : load.to()) {
      RaceDetector races = target.block().shared().races();
      if (races != null) {
        races.landAsync(target.offset(), data.length, load.pc());
      }
      target.block().shared().land(target.offset(), data, 0, data.length);
      launch.counters().sharedBytesWritten += data.length;
    }
    // All have it before anybody hears of it.
    for (Target target : load.to()) {
      target.barrier().requireIntact();
      target.barrier().complete(data.length, true);
    }
  }

  private DeviceFault described(Warp warp, int pc, DeviceFault fault) {
    return new DeviceFault(
        fault.kind(),
        "the bulk copy issued by warp %d of block %s at %s: %s"
            .formatted(
                warp.index,
                warp.block.place(),
                warp.block.launch().describe(pc),
                fault.getMessage()));
  }

  /** Closes the lanes' current bulk groups. */
  void commit(Warp warp, int mask) {
    for (int m = mask; m != 0; m &= m - 1) {
      warp.bulkGroups[Integer.numberOfTrailingZeros(m)]++;
    }
  }

  /** Waits for all but the lanes' latest groups: for their reading only, or for all of them. */
  void await(Warp warp, int mask, int pending, boolean readingOnly) {
    for (Iterator<Store> all = stores.iterator(); all.hasNext(); ) {
      Store store = all.next();
      boolean due =
          store.warp == warp
              && (mask >>> store.lane & 1) != 0
              && store.group < warp.bulkGroups[store.lane] - pending;
      if (due) {
        read(store);
        if (!readingOnly) {
          write(store);
          all.remove();
        }
      }
    }
  }

  private void read(Store store) {
    if (store.data != null) {
      return;
    }
    byte[] data = new byte[store.to.bytes()];
    Block block = store.warp.block;
    try {
      block.shared().copyOut(store.offset, data, 0, data.length);
      block.launch().counters().sharedBytesRead += data.length;
    } catch (DeviceFault fault) {
      throw described(store.warp, store.pc, fault);
    }
    RaceDetector races = block.shared().races();
    if (races != null) {
      races.landRead(store.offset, data.length, store.warp.actor(store.lane), store.pc);
    }
    store.data = data;
  }

  private void write(Store store) {
    Launch launch = store.warp.block.launch();
    GlobalMemory memory = launch.memory();
    launch.counters().globalBytesWritten += store.data.length;
    launch.counters().globalSectorsWritten += (store.data.length + 31) / 32;
    try {
      store.to.write(memory, store.offset, store.data);
    } catch (DeviceFault fault) {
      throw described(store.warp, store.pc, fault);
    }
  }

  /** A block ends: nothing may read its memory, or be on its way there, any more. */
  void ended(Block block) {
    for (Load load : loads) {
      if (load.to().stream().anyMatch(target -> target.block() == block)) {
        throw described(
            load.warp(),
            load.pc(),
            new DeviceFault(
                DeviceFault.Kind.ILLEGAL_INSTRUCTION,
                "block %s ends, and nobody has waited until its shared memory was written"
                    .formatted(block.place())));
      }
    }
    for (Store store : stores) {
      if (store.warp.block == block && store.data == null) {
        throw described(
            store.warp,
            store.pc,
            new DeviceFault(
                DeviceFault.Kind.ILLEGAL_INSTRUCTION,
                "the block ends, and nobody has waited until its shared memory was read"));
      }
    }
  }

  /** Whether something is written only when the kernel ends. */
  boolean hasUnfinished() {
    return !stores.isEmpty();
  }

  /** The kernel ends: everything written so far becomes visible. */
  void finish() {
    for (Store store : stores) {
      write(store);
    }
    stores.clear();
  }
}
