package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/** Branches, ends and traps (PTX ISA, "Control Flow Instructions"); {@link CallOp} has calls. */
final class ControlOps {
  private ControlOps() {}

  static Op branch(int target) {
    return new Op() {
      @Override
      void step(Warp warp) {
        warp.branch(guarded(warp), target);
      }
    };
  }

  /** brx.idx: each lane takes the target that its index names. */
  static Op indexedBranch(Operands o, int[] targets) {
    int index = o.source(0, PtxType.U32);
    return new Op() {
      @Override
      void step(Warp warp) {
        int mask = guarded(warp);
        warp.setPlace(warp.group & ~mask, warp.pc + 1);
        for (int m = mask; m != 0; m &= m - 1) {
          int lane = Integer.numberOfTrailingZeros(m);
          warp.lane = lane;
          long chosen = warp.frame.registers[index + lane];
          if (chosen >= targets.length) {
            throw new DeviceFault(
                DeviceFault.Kind.ILLEGAL_INSTRUCTION,
                "index %d of %d branch targets".formatted(chosen, targets.length));
          }
          warp.lanePc[lane] = targets[(int) chosen];
        }
        warp.group = 0;
      }
    };
  }

  static Op exit() {
    return new Op() {
      @Override
      void step(Warp warp) {
        int mask = guarded(warp);
        if (mask == 0) {
          warp.pc++;
        } else {
          warp.exit(mask);
        }
      }
    };
  }

  static Op ret() {
    return new Op() {
      @Override
      void step(Warp warp) {
        int mask = guarded(warp);
        if (mask == 0) {
          warp.pc++;
        } else {
          warp.leave(mask);
        }
      }
    };
  }

  static Op trap(Instruction i) {
    return new Op() {
      @Override
      void execute(Warp warp, Frame frame, int mask) {
        warp.lane = Integer.numberOfTrailingZeros(mask);
        throw new DeviceFault(DeviceFault.Kind.TRAP, "the kernel executed '" + i.opcode() + "'");
      }
    };
  }
}
