package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.SpecialRegister;
import java.util.Arrays;
import java.util.List;

/** A function as one launch calls it: the addresses of shared variables are known. */
final class CodeInstance {
  private final Code code;
  private final Launch launch;

  CodeInstance(Code code, Launch launch) {
    this.code = code;
    this.launch = launch;
  }

  Code code() {
    return code;
  }

  /** A frame for some lanes, its constants filled in. */
  Frame frame(Block block, int warpIndex) {
    Frame frame = new Frame(this);
    List<Constant> constants = code.constants();
    int at = (code.slots() - constants.size()) * 32;
    for (Constant constant : constants) {
      switch (constant) {
        case Constant.Value value -> fill(frame, at, value.bits());
        case Constant.Shared shared ->
            fill(
                frame,
                at,
                Addresses.inBlock(
                    block.rank(), launch.sharedOffset(shared.variable()) + shared.offset()));
        case Constant.Special special -> special(frame, at, special.register(), block, warpIndex);
        // Filled in when the lanes' stacks are known.
        case Constant.Local _ -> fill(frame, at, 0);
      }
      at += 32;
    }
    return frame;
  }

  /** Fills in the addresses of a lane's variables on its stack. */
  void placeLocals(Frame frame, int lane) {
    List<Constant> constants = code.constants();
    int at = (code.slots() - constants.size()) * 32;
    for (Constant constant : constants) {
      if (constant instanceof Constant.Local local) {
        frame.registers[at + lane] = (long) frame.localBase[lane] + local.offset();
      }
      at += 32;
    }
  }

  private static void fill(Frame frame, int at, long value) {
    Arrays.fill(frame.registers, at, at + 32, value);
  }

  private void special(Frame frame, int at, SpecialRegister register, Block block, int warpIndex) {
    for (int lane = 0; lane < 32; lane++) {
      frame.registers[at + lane] = launch.special(register, block, warpIndex, lane);
    }
  }
}
