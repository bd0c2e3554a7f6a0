package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.Instruction;

/** The wgmma instructions (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"). */
final class WgmmaOps {
  private WgmmaOps() {}

  static Op decode(Operands o, Instruction i) {
    if (i.has(".mma_async")) {
      return new WgmmaOp(o, i);
    }
    if (i.has(".wait_group")) {
      return wait((int) o.constant(0));
    }
    boolean fence = i.has(".fence");
    return new SyncOp(SyncOp.WHOLE_WARP) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {
        Warpgroup group = warp.block.warpgroup(warp);
        if (fence) {
          warp.watch.fence();
        } else {
          group.commit(warp);
        }
      }
    };
  }

  private static Op wait(int pending) {
    return new Op() {
      @Override
      void step(Warp warp) {
        int mask = guarded(warp);
        if (mask == 0) {
          warp.pc++;
          return;
        }
        warp.keep(mask);
        warp.joinWaiting();
        if (warp.group != warp.live) {
          warp.waitHere(warp.group);
        } else if (warp.block.warpgroup(warp).await(warp, pending)) {
          warp.pc++;
        } else {
          warp.sleep(warp.group);
        }
      }

      @Override
      String waitsFor(Warp warp, int lane) {
        return warp.block.warpgroup(warp).describe(warp);
      }
    };
  }
}
