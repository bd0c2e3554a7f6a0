package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.trace.Tracer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * 32 lanes, each with its own place in the code. Lanes at the same place run together as a group.
 * When several groups could run, the one deepest in calls and, there, lowest in the code does, so
 * that the others are met again; but no group waits for ever (see {@link #PATIENCE}).
 */
final class Warp {
  /** Instructions after which a group lets others go on, so that spinning lanes starve nobody. */
  private static final int PATIENCE = 512;

  /** Choices of other groups after which every group has its turns for a while. */
  private static final int LONGEST_WAIT = 256;

  private static final int FAIR_TURNS = 64;

  private static final long NOBODY = Long.MAX_VALUE;
  private static final int DEEPEST_CALL = 4096;

  final Block block;
  final int index;

  /** Its number among all warps of its cluster. */
  final int clusterIndex;

  final Counters counters;
  final Traffic reads;
  final Traffic writes;
  final LocalMemory local;
  final AsyncCopies copies;
  private final Op[] ops;

  /** Watches over registers that wgmma uses; null if the module has no wgmma. */
  final RegisterWatch watch;

  /** Its tcgen05.ld and tcgen05.st that it has not waited for. */
  final List<TensorAccess> tensorAccesses = new ArrayList<>();

  /** Who sees each instruction before it runs, and as what; null for nobody. */
  private final Tracer tracer;

  private final WarpView view;

  /** The lanes that run now, their place and their registers. */
  int group;

  int pc;
  Frame frame;

  /** Lanes that have not exited. */
  int live;

  /** Lanes that wait at their place for other lanes or warps. */
  int waiting;

  /** The barrier for which a waiting lane waits; −1 if it waits for lanes of its own warp. */
  final int[] waitsAtBarrier = new int[32];

  /** Lanes that wait until something wakes them: a phase's completion, a copy's landing. */
  private int sleeping;

  /** Those of them that an {@code mbarrier.try_wait} holds, and those that are to give up. */
  int trying;

  int timedOut;

  /** How many bulk groups each lane has committed. */
  final int[] bulkGroups = new int[32];

  /** The mask for which a lane waits at a {@code bar.warp.sync}; 0 if it doesn't. */
  final int[] warpBarrierMask = new int[32];

  final int[] lanePc = new int[32];
  final Frame[] laneFrame = new Frame[32];
  private final int[] laneDepth = new int[32];

  /** The carry flag of each lane. */
  int carry;

  /** The lane whose memory is accessed, for messages. */
  int lane;

  private final long[] lastTurn = new long[32];
  private long turn;
  private long groupRank;
  private long otherRank = NOBODY;
  private int patience;
  private int sliceDone;
  private boolean rotate;
  private long fairUntil;

  /** Whether groups run in turn now, and not the one first that is farthest behind. */
  private boolean fair;

  Warp(Block block, int index, int existing, Frame entry) {
    this.block = block;
    this.index = index;
    this.clusterIndex =
        block.rank() * (int) ((block.launch().blockSize().count() + 31) / 32) + index;
    this.live = existing;
    this.ops = block.launch().ops();
    this.tracer = block.launch().tracer();
    this.view = tracer == null ? null : new WarpView(this);
    this.counters = block.launch().counters();
    this.reads = new Traffic(counters, false);
    this.writes = new Traffic(counters, true);
    this.local = new LocalMemory(entry.code.code().localBytes());
    this.copies = new AsyncCopies(this);
    this.watch = block.launch().module().watchesRegisters() ? new RegisterWatch(this) : null;
    Arrays.fill(lanePc, entry.code.code().firstPc());
    Arrays.fill(laneFrame, entry);
    Arrays.fill(waitsAtBarrier, -1);
  }

  /** Runs up to so many instructions; returns how many it ran, 0 if no lane can go on. */
  int run(int budget) {
    int done = 0;
    sliceDone = 0;
    while (done < budget) {
      if (group == 0 && !select()) {
        break;
      }
      Op op = ops[pc];
      if (tracer != null && !tracer.step(view)) {
        throw new DeviceFault(DeviceFault.Kind.STOPPED, "its tracer has seen enough");
      }
      counters.byClass[op.kind()]++;
      counters.threadInstructions += Integer.bitCount(group);
      if (watch != null) {
        watch.before(op);
      }
      op.step(this);
      sliceDone = ++done;
      if (otherRank != NOBODY && group != 0) {
        patience--;
        if (patience <= 0) {
          rotate = !rotate;
          release();
        } else if (!fair && (groupRank | pc) >= otherRank) {
          release();
        }
      }
    }
    counters.instructions += done;
    sliceDone = 0;
    return done;
  }

  /** Whether all lanes have exited. */
  boolean isDone() {
    return live == 0;
  }

  /** Whether some lane can run. */
  boolean canRun() {
    return group != 0 || (live & ~waiting) != 0;
  }

  private long rank(int lane) {
    return (long) (DEEPEST_CALL - laneDepth[lane]) << 32 | lanePc[lane];
  }

  /** Chooses the group that runs next; false if all lanes wait or have exited. */
  private boolean select() {
    int ready = live & ~waiting;
    if (ready == 0) {
      return false;
    }
    int chosen = Integer.numberOfTrailingZeros(ready);
    int longest = chosen;
    for (int m = ready; m != 0; m &= m - 1) {
      int l = Integer.numberOfTrailingZeros(m);
      if (rank(l) < rank(chosen)) {
        chosen = l;
      }
      if (lastTurn[l] < lastTurn[longest]) {
        longest = l;
      }
    }
    // Lanes that spin through calls or branches are chosen anew all the time, and always first.
    if (turn - lastTurn[longest] > LONGEST_WAIT && turn >= fairUntil) {
      fairUntil = turn + FAIR_TURNS;
    }
    fair = rotate || turn < fairUntil;
    if (fair) {
      chosen = longest;
    }
    long rank = rank(chosen);
    frame = laneFrame[chosen];
    pc = lanePc[chosen];
    groupRank = rank & ~0xFFFF_FFFFL;
    group = 0;
    otherRank = NOBODY;
    turn++;
    for (int m = ready; m != 0; m &= m - 1) {
      int l = Integer.numberOfTrailingZeros(m);
      if (rank(l) == rank) {
        join(l);
        lastTurn[l] = turn;
      } else {
        otherRank = Math.min(otherRank, rank(l));
      }
    }
    patience = PATIENCE;
    return true;
  }

  /** Takes a lane at the group's place into the group. */
  private void join(int lane) {
    if (laneFrame[lane] != frame) {
      frame.absorb(laneFrame[lane], 1 << lane);
      laneFrame[lane] = frame;
    }
    group |= 1 << lane;
  }

  /** Takes lanes that wait at the group's place into the group. */
  int joinWaiting() {
    int joined = 0;
    for (int m = waiting & live; m != 0; m &= m - 1) {
      int l = Integer.numberOfTrailingZeros(m);
      if (lanePc[l] == pc && (rank(l) & ~0xFFFF_FFFFL) == groupRank) {
        join(l);
        joined |= 1 << l;
      }
    }
    waiting &= ~joined;
    sleeping &= ~joined;
    trying &= ~joined;
    return joined;
  }

  /** Writes the group's place back to its lanes; the next step selects a group anew. */
  void release() {
    setPlace(group, pc);
    group = 0;
  }

  /** Puts lanes at a place. */
  void setPlace(int mask, int place) {
    for (int m = mask; m != 0; m &= m - 1) {
      lanePc[Integer.numberOfTrailingZeros(m)] = place;
    }
  }

  /** Moves lanes of the group to a place while the rest of the group goes on after this one. */
  void branch(int mask, int target) {
    if (mask == group) {
      pc = target;
    } else if (mask == 0) {
      pc++;
    } else {
      counters.divergentBranches++;
      setPlace(group & ~mask, pc + 1);
      setPlace(mask, target);
      group = 0;
    }
  }

  /** Leaves only these lanes of the group in it; the others are past this instruction. */
  void keep(int mask) {
    if (mask != group) {
      setPlace(group & ~mask, pc + 1);
      for (int m = group & ~mask; m != 0; m &= m - 1) {
        otherRank = Math.min(otherRank, groupRank | (pc + 1));
      }
      group = mask;
    }
  }

  /** Lanes of the group wait where they are. */
  void waitHere(int mask) {
    waiting |= mask;
    setPlace(mask, pc);
    group &= ~mask;
  }

  /** Lanes of the group wait where they are until they are woken. */
  void sleep(int mask) {
    if (mask != 0) {
      sleeping |= mask;
      waitHere(mask);
    }
  }

  /** Lets sleeping lanes run their instruction again. */
  void wake() {
    waiting &= ~sleeping;
    sleeping = 0;
    trying = 0;
  }

  /** Lanes end. */
  void exit(int mask) {
    copies.finish(mask);
    live &= ~mask;
    block.cluster().barrier().completeIfDue();
    // Who waited for them looks again.
    retryWaiting();
    setPlace(group & ~mask, pc + 1);
    group = 0;
    if (live == 0) {
      block.warpExited(this);
    }
  }

  /** Lets waiting lanes run their instruction again. */
  void retryWaiting() {
    Arrays.fill(waitsAtBarrier, -1);
    Arrays.fill(warpBarrierMask, 0);
    waiting = 0;
    sleeping = 0;
    trying = 0;
  }

  /** Lanes enter a function whose frame is made. */
  void enter(int mask, Frame callee, int target) {
    setPlace(group & ~mask, pc + 1);
    for (int m = mask; m != 0; m &= m - 1) {
      int l = Integer.numberOfTrailingZeros(m);
      callee.caller[l] = frame;
      callee.returnPc[l] = pc + 1;
      laneFrame[l] = callee;
      lanePc[l] = target;
      if (++laneDepth[l] >= DEEPEST_CALL) {
        throw new DeviceFault(
            DeviceFault.Kind.STACK_OVERFLOW, "calls nest deeper than " + DEEPEST_CALL);
      }
    }
    group = 0;
  }

  /** Lanes go back to where they were called from, or exit from a kernel. */
  void leave(int mask) {
    if (frame.code.code().function().entry()) {
      exit(mask);
      return;
    }
    setPlace(group & ~mask, pc + 1);
    Frame left = frame;
    for (int m = mask; m != 0; m &= m - 1) {
      int l = Integer.numberOfTrailingZeros(m);
      ((Caller) ops[left.returnPc[l] - 1]).giveBack(left, left.caller[l], l);
      laneFrame[l] = left.caller[l];
      lanePc[l] = left.returnPc[l];
      laneDepth[l]--;
    }
    group = 0;
  }

  /** Instructions that the launch has run, this slice's included. */
  long ticks() {
    return counters.instructions + sliceDone;
  }

  /** The thread's number among all of its cluster. */
  int actor(int lane) {
    return clusterIndex * 32 + lane;
  }

  /** The thread's number in its block. */
  int thread(int lane) {
    return index * 32 + lane;
  }
}
