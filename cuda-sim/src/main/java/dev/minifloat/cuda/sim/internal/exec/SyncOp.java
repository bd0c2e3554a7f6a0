package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;

/**
 * An instruction that lanes of a warp run together: it happens when all lanes of the mask, those
 * apart that have exited, have come to it.
 */
abstract class SyncOp extends Op {
  /** No mask operand: every lane of the warp must take part. */
  static final int WHOLE_WARP = -1;

  private final int mask;

  /**
   * The instruction.
   *
   * @param mask the register that holds the mask, or {@link #WHOLE_WARP}
   */
  SyncOp(int mask) {
    this.mask = mask;
  }

  /** Runs it for lanes that have all come. */
  abstract void together(Warp warp, Frame frame, int lanes);

  @Override
  void step(Warp warp) {
    int guarded = guarded(warp);
    if (guarded == 0) {
      warp.pc++;
      return;
    }
    warp.keep(guarded);
    if (warp.waiting != 0) {
      warp.joinWaiting();
    }
    int here = warp.group;
    int done = 0;
    int rest = here;
    while (rest != 0) {
      int lane = Integer.numberOfTrailingZeros(rest);
      warp.lane = lane;
      int wanted = wanted(warp.frame, lane);
      int same = sameMask(warp.frame, rest, wanted);
      rest &= ~same;
      if ((same & ~wanted) != 0) {
        throw new DeviceFault(
            DeviceFault.Kind.ILLEGAL_INSTRUCTION,
            "lanes 0x%08x are not in their own mask 0x%08x".formatted(same & ~wanted, wanted));
      }
      if (mask == WHOLE_WARP && warp.live != -1) {
        throw new DeviceFault(
            DeviceFault.Kind.ILLEGAL_INSTRUCTION,
            "it needs all 32 lanes of the warp; those that have not exited are 0x%08x"
                .formatted(warp.live));
      }
      if ((wanted & warp.live & ~same) == 0) {
        together(warp, warp.frame, same);
        done |= same;
      }
    }
    if (done != here) {
      warp.waitHere(here & ~done);
    }
    if (warp.group != 0) {
      warp.pc++;
    }
  }

  private int wanted(Frame frame, int lane) {
    return mask == WHOLE_WARP ? -1 : (int) frame.registers[mask + lane];
  }

  private int sameMask(Frame frame, int among, int wanted) {
    if (mask == WHOLE_WARP) {
      return among;
    }
    int same = 0;
    for (int m = among; m != 0; m &= m - 1) {
      int lane = Integer.numberOfTrailingZeros(m);
      same |= (int) frame.registers[mask + lane] == wanted ? 1 << lane : 0;
    }
    return same;
  }

  @Override
  String waitsFor(Warp warp, int lane) {
    int wanted = wanted(warp.laneFrame[lane], lane) & warp.live;
    int there = 0;
    for (int m = warp.live; m != 0; m &= m - 1) {
      int l = Integer.numberOfTrailingZeros(m);
      there |= warp.lanePc[l] == warp.lanePc[lane] ? 1 << l : 0;
    }
    return "waits for lanes 0x%08x of its warp".formatted(wanted & ~there);
  }
}
