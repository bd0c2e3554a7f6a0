package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.mma.ScaleFormat;
import dev.minifloat.cuda.sim.internal.mma.ScaleLayout;
import dev.minifloat.cuda.sim.internal.ptx.Instruction;
import dev.minifloat.cuda.sim.internal.ptx.Operand;
import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/** The scales of {@code mma.sync} with {@code .block_scale}; {@link ScaleLayout} says where. */
final class BlockScales {
  private static final int ROWS = 16;
  private static final int COLUMNS = 8;

  private final int blocks;
  private final ScaleFormat format;
  private final Selector ofA;
  private final Selector ofB;

  /**
   * One matrix's scales among a warp's registers.
   *
   * @param data offset of the register that holds them
   * @param first offset of the register that names the first byte
   * @param thread offset of the register that names the thread of each quad
   * @param matrix A or B, for errors
   */
  private record Selector(int data, int first, int thread, char matrix) {}

  private BlockScales(int blocks, ScaleFormat format, Selector ofA, Selector ofB) {
    this.blocks = blocks;
    this.format = format;
    this.ofA = ofA;
    this.ofB = ofB;
  }

  /** The scales of an instruction; null if it has none. */
  static BlockScales of(Operands o, Instruction i) {
    if (!i.has(".block_scale")) {
      return null;
    }
    int blocks = i.has(".kind::mxf8f6f4") ? 1 : i.has(".scale_vec::4X") ? 4 : 2;
    ScaleFormat format =
        i.types().getLast() == PtxType.UE4M3 ? ScaleFormat.UE4M3 : ScaleFormat.UE8M0;
    return new BlockScales(
        blocks,
        format,
        selector(o, 4, blocks, ScaleLayout.THREADS_OF_A, 'A'),
        selector(o, 6, blocks, ScaleLayout.THREADS_OF_B, 'B'));
  }

  private static Selector selector(Operands o, int at, int blocks, int threads, char matrix) {
    Operand first = o.elements(at + 1).get(0);
    if (first instanceof Operand.Immediate byteId
        && !ScaleLayout.mayBegin((int) byteId.bits(), blocks)) {
      throw new PtxException(first.position(), wrongByte(byteId.bits(), blocks, matrix));
    }
    Operand second = o.elements(at + 1).get(1);
    if (second instanceof Operand.Immediate threadId
        && Long.compareUnsigned(threadId.bits(), threads) >= 0) {
      throw new PtxException(second.position(), wrongThread(threadId.bits(), threads, matrix));
    }
    int[] selectors = o.sources(at + 1, PtxType.U16);
    return new Selector(o.sources(at, PtxType.B32)[0], selectors[0], selectors[1], matrix);
  }

  private static String wrongByte(long first, int blocks, char matrix) {
    return "the scales of %s begin with byte %d; %s"
        .formatted(
            matrix,
            first,
            switch (blocks) {
              case 1 -> "0 to 3 can be";
              case 2 -> "0 or 2 can be";
              default -> "0 alone can be";
            });
  }

  private static String wrongThread(long thread, int threads, char matrix) {
    return "the scales of %s are in thread %d of each quad; 0 to %d can be"
        .formatted(matrix, thread, threads - 1);
  }

  /** Multiplies both matrices' numbers. */
  void apply(long[] registers, MmaOp.Scratch s, int depth) {
    int thread = uniform(registers, ofA.thread, "thread", ofA);
    int first = uniform(registers, ofA.first, "byte", ofA);
    check(first, thread, ScaleLayout.THREADS_OF_A, ofA);
    for (int row = 0; row < ROWS; row++) {
      take(registers[ofA.data + ScaleLayout.laneOfA(row, thread)], first, s.scales, row);
    }
    s.aTerms.scale(s.scales, ROWS, blocks, depth, format);
    thread = uniform(registers, ofB.thread, "thread", ofB);
    first = uniform(registers, ofB.first, "byte", ofB);
    check(first, thread, ScaleLayout.THREADS_OF_B, ofB);
    for (int column = 0; column < COLUMNS; column++) {
      take(registers[ofB.data + ScaleLayout.laneOfB(column, thread)], first, s.scales, column);
    }
    s.bTerms.scale(s.scales, COLUMNS, blocks, depth, format);
  }

  private void take(long register, int first, int[] scales, int row) {
    for (int block = 0; block < blocks; block++) {
      scales[row * blocks + block] = (int) (register >>> (8 * (first + block))) & 0xFF;
    }
  }

  /** The value that all lanes have. */
  private static int uniform(long[] registers, int at, String what, Selector selector) {
    int value = (int) registers[at] & 0xFFFF;
    for (int lane = 1; lane < 32; lane++) {
      if (((int) registers[at + lane] & 0xFFFF) != value) {
        throw new DeviceFault(
            DeviceFault.Kind.ILLEGAL_INSTRUCTION,
            "lanes 0 and %d name different %ss for the scales of %s"
                .formatted(lane, what, selector.matrix));
      }
    }
    return value;
  }

  private void check(int first, int thread, int threads, Selector selector) {
    if (!ScaleLayout.mayBegin(first, blocks)) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION, wrongByte(first, blocks, selector.matrix));
    }
    if (thread >= threads) {
      throw new DeviceFault(
          DeviceFault.Kind.ILLEGAL_INSTRUCTION, wrongThread(thread, threads, selector.matrix));
    }
  }
}
