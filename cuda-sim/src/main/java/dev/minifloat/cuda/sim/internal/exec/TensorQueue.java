package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What threads of a cluster have issued to the tensor cores and nobody has waited for: tcgen05.mma,
 * tcgen05.cp and the tcgen05.commit behind them. It happens when a thread waits for an mbarrier at
 * which a commit arrives, that commit's thread's work alone, in its order: as late as PTX allows.
 */
final class TensorQueue {
  /** Something that happens later. */
  abstract static class Work {
    final Warp warp;
    final int lane;
    final int pc;

    Work(Warp warp, int lane) {
      this.warp = warp;
      this.lane = lane;
      this.pc = warp.pc;
    }

    /** What it does; its accesses are no longer in flight then. */
    abstract void happen();

    final boolean isOf(Work other) {
      return warp == other.warp && lane == other.lane;
    }
  }

  /** An arrival at mbarriers once all before it has happened. */
  static final class Commit extends Work {
    private final List<Mbarrier> barriers;

    Commit(Warp warp, int lane, List<Mbarrier> barriers) {
      super(warp, lane);
      this.barriers = barriers;
    }

    @Override
    void happen() {
      for (Mbarrier barrier : barriers) {
        barrier.requireIntact();
        barrier.arriveAsync();
      }
    }
  }

  private final List<Work> works = new ArrayList<>();

  void add(Work work) {
    works.add(work);
    work.warp.block.cluster().progress();
  }

  /** Lets a commit at one of these barriers happen, or else any; false if there is none. */
  boolean completeOne(List<Mbarrier> awaited, SplittableRandom random) {
    List<Commit> all = new ArrayList<>();
    List<Commit> wanted = new ArrayList<>();
    for (Work work : works) {
      if (work instanceof Commit commit) {
        all.add(commit);
        if (commit.barriers.stream().anyMatch(awaited::contains)) {
          wanted.add(commit);
        }
      }
    }
    List<Commit> candidates = wanted.isEmpty() ? all : wanted;
    if (candidates.isEmpty()) {
      return false;
    }
    complete(candidates.get(random.nextInt(candidates.size())));
    return true;
  }

  /** Lets a commit at a barrier happen; false if there is none. */
  boolean completeFor(Mbarrier barrier) {
    for (Work work : works) {
      if (work instanceof Commit commit && commit.barriers.contains(barrier)) {
        complete(commit);
        return true;
      }
    }
    return false;
  }

  private void complete(Commit commit) {
    boolean last = false;
    for (Iterator<Work> all = works.iterator(); !last; ) {
      Work work = all.next();
      if (!work.isOf(commit)) {
        continue;
      }
      all.remove();
      last = work == commit;
      try {
        work.happen();
      } catch (DeviceFault fault) {
        throw described(work, fault);
      }
    }
  }

  private static DeviceFault described(Work work, DeviceFault fault) {
    return new DeviceFault(
        fault.kind(),
        "what warp %d of block %s issued at %s: %s"
            .formatted(
                work.warp.index,
                work.warp.block.place(),
                work.warp.block.launch().describe(work.pc),
                fault.getMessage()));
  }

  /** A block ends: nothing that it issued may be under way any more. */
  void ended(Block block) {
    for (Work work : works) {
      if (work.warp.block == block) {
        throw described(
            work,
            new DeviceFault(
                DeviceFault.Kind.ILLEGAL_INSTRUCTION,
                "the block ends, and nobody has waited for it"));
      }
    }
  }
}
