package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.RaceDetector;

/** {@code bar.warp.sync}: lanes of one mask meet, each at its own place in the code. */
final class WarpBarrierOp extends Op {
  private final int mask;

  /**
   * The instruction.
   *
   * @param mask the register that holds the mask
   */
  WarpBarrierOp(int mask) {
    this.mask = mask;
  }

  @Override
  void step(Warp warp) {
    int guarded = guarded(warp);
    if (guarded == 0) {
      warp.pc++;
      return;
    }
    warp.keep(guarded);
    for (int m = guarded; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      warp.lane = lane;
      int wanted = (int) warp.frame.registers[mask + lane];
      if ((wanted >>> lane & 1) == 0) {
        throw new DeviceFault(
            DeviceFault.Kind.ILLEGAL_INSTRUCTION,
            "lane %d is not in its own mask 0x%08x".formatted(lane, wanted));
      }
      warp.warpBarrierMask[lane] = wanted;
    }
    int rest = guarded;
    int done = 0;
    boolean others = false;
    while (rest != 0) {
      int wanted = warp.warpBarrierMask[Integer.numberOfTrailingZeros(rest)];
      int come = come(warp, guarded, wanted);
      rest &= ~come;
      if ((wanted & warp.live & ~come) == 0) {
        done |= come & guarded;
        others |= (come & ~guarded) != 0;
        releaseWaiting(warp, come & ~guarded);
        clear(warp, come);
        RaceDetector races = warp.block.shared().races();
        if (races != null) {
          races.clocks().warpSynchronized(warp.clusterIndex);
        }
      }
    }
    if (done != guarded) {
      warp.waitHere(guarded & ~done);
    }
    if (warp.group != 0) {
      warp.pc++;
      // Released lanes elsewhere may come first.
      if (others) {
        warp.release();
      }
    }
  }

  private static int come(Warp warp, int here, int wanted) {
    int come = 0;
    for (int m = (here | warp.waiting) & warp.live; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      come |= warp.warpBarrierMask[lane] == wanted ? 1 << lane : 0;
    }
    return come;
  }

  private static void releaseWaiting(Warp warp, int lanes) {
    warp.waiting &= ~lanes;
    for (int m = lanes; m != 0; m &= m - 1) {
      warp.lanePc[Integer.numberOfTrailingZeros(m)]++;
    }
  }

  private static void clear(Warp warp, int lanes) {
    for (int m = lanes; m != 0; m &= m - 1) {
      warp.warpBarrierMask[Integer.numberOfTrailingZeros(m)] = 0;
    }
  }

  @Override
  String waitsFor(Warp warp, int lane) {
    int wanted = warp.warpBarrierMask[lane];
    int come = come(warp, 0, wanted);
    return "waits for lanes 0x%08x of its warp".formatted(wanted & warp.live & ~come);
  }
}
