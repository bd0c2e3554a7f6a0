package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.RaceDetector;
import dev.minifloat.cuda.sim.internal.memory.SharedMemory;
import java.util.SplittableRandom;

/** A block of threads: its warps, its shared memory, its barriers. */
final class Block {
  static final int BARRIERS = 16;

  /** Most instructions that a warp runs before another may. */
  private static final int LONGEST_SLICE = 64;

  private final Launch launch;
  private final long index;
  private final Dim3 place;
  private final Warp[] warps;
  private final SharedMemory shared;
  private final Barrier[] barriers = new Barrier[BARRIERS];
  private int liveWarps;

  /** The warp that runs, or ran last. */
  private Warp current;

  Block(Launch launch, long index) {
    this.launch = launch;
    this.index = index;
    this.place = launch.grid().place(index);
    int threads = (int) launch.blockSize().count();
    warps = new Warp[(threads + 31) / 32];
    ExecutionOptions options = launch.options();
    RaceDetector.Places places = options.detectRaces() ? launch::describe : null;
    shared =
        new SharedMemory(launch.sharedBytes(), warps.length, options.checkInitialized(), places);
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
    current = warps[0];
  }

  Launch launch() {
    return launch;
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

  Warp warp(int warpIndex) {
    return warps[warpIndex];
  }

  int warpCount() {
    return warps.length;
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

  void warpExited(Warp warp) {
    liveWarps &= ~(1 << warp.index);
    for (Barrier barrier : barriers) {
      barrier.completeIfDue();
    }
  }

  /** Runs warps in random order for about so many instructions; returns how many it ran. */
  long run(long budget, SplittableRandom random) {
    long done = 0;
    while (done < budget && liveWarps != 0) {
      Warp next = pick(random);
      if (next == null) {
        throw new DeviceFault(DeviceFault.Kind.DEADLOCK, describeDeadlock());
      }
      current = next;
      done += next.run(1 + random.nextInt(LONGEST_SLICE));
    }
    return done;
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

  private String describeDeadlock() {
    StringBuilder text = new StringBuilder("no thread of the block can go on:");
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
        text.append(
            "\n  warp %d, lanes 0x%08x at %s: %s"
                .formatted(
                    warp.index, same, launch.describe(pc), launch.ops()[pc].waitsFor(warp, lane)));
      }
    }
    return text.toString();
  }
}
