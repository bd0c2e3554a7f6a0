package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/**
 * barrier.cluster, mapa, getctarank, setmaxnreg, fences between proxies (PTX ISA,
 * "barrier.cluster", "mapa", "getctarank", "setmaxnreg", "membar / fence").
 */
final class ClusterOps {
  private static final int LEAST_REGISTERS = 24;
  private static final int MOST_REGISTERS = 256;

  private ClusterOps() {}

  static Op barrier(Instruction i) {
    if (i.has(".arrive")) {
      boolean releases = !i.has(".relaxed");
      return new Op() {
        @Override
        void execute(Warp warp, Frame frame, int mask) {
          warp.block.cluster().barrier().arrive(warp, mask, releases);
        }
      };
    }
    return new Op() {
      @Override
      void step(Warp warp) {
        int mask = guarded(warp);
        if (mask == 0) {
          warp.pc++;
          return;
        }
        warp.keep(mask);
        warp.sleep(mask & ~warp.block.cluster().barrier().pass(warp, mask));
        if (warp.group != 0) {
          warp.pc++;
        }
      }

      @Override
      String waitsFor(Warp warp, int lane) {
        return warp.block.cluster().barrier().describe();
      }
    };
  }

  /** mapa: the address that the same variable has in another block of the cluster. */
  static Op mapAddress(Operands o, Instruction i) {
    boolean generic = !i.has(".shared::cluster");
    int destination = o.destination(0);
    int address = o.source(1, i.type());
    int rank = o.source(2, PtxType.U32);
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        long[] r = frame.registers;
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          warp.lane = lane;
          long to = r[rank + lane];
          if (to >= warp.block.cluster().size()) {
            throw new DeviceFault(
                DeviceFault.Kind.ILLEGAL_INSTRUCTION,
                "block %d of a cluster of %d".formatted(to, warp.block.cluster().size()));
          }
          long from = shared(r[address + lane], generic);
          r[destination + lane] =
              Addresses.inBlock((int) to, from) + (generic ? Addresses.SHARED_WINDOW : 0);
        }
      }
    };
  }

  static Op rank(Operands o, Instruction i) {
    boolean generic = !i.has(".shared::cluster");
    int source = o.source(1, i.type());
    return LaneOps.unary(o.destination(0), source, a -> Addresses.rank(shared(a, generic)));
  }

  private static long shared(long address, boolean generic) {
    return generic ? address - Addresses.SHARED_WINDOW : address;
  }

  /** setmaxnreg: registers are not shared out here, so that only its operand is checked. */
  static Op registers(Operands o, Instruction i) {
    long count = o.constant(0);
    if (count < LEAST_REGISTERS || count > MOST_REGISTERS || count % 8 != 0) {
      throw new PtxException(
          o.get(0).position(),
          "%d registers; a multiple of 8 from %d to %d was expected"
              .formatted(count, LEAST_REGISTERS, MOST_REGISTERS));
    }
    return new SyncOp(SyncOp.WHOLE_WARP) {
      @Override
      void together(Warp warp, Frame frame, int lanes) {}
    };
  }

  /**
   * What fences do here: memory is the same for everybody at once, but the async proxy sees what a
   * thread wrote, or set up a barrier for, only behind a fence for it.
   */
  static Op fence(Instruction i) {
    boolean shared = !i.has(".global");
    boolean async = (i.has(".async") && shared) || i.has(".mbarrier_init");
    if (!async) {
      return MemoryOps.nothing();
    }
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        warp.block.cluster().clocks().fenceProxy(warp.clusterIndex, mask);
      }
    };
  }
}
