package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Bytes;
import dev.minifloat.cuda.sim.internal.memory.SharedMemory;
import dev.minifloat.cuda.sim.internal.mma.DotProduct;
import dev.minifloat.cuda.sim.internal.mma.ExactDot;
import dev.minifloat.cuda.sim.internal.mma.FixedPointDot;
import dev.minifloat.cuda.sim.internal.mma.FragmentLayout;
import dev.minifloat.cuda.sim.internal.mma.MatrixDescriptor;
import dev.minifloat.cuda.sim.internal.mma.ModelDot;
import dev.minifloat.cuda.sim.internal.mma.SequentialDot;
import dev.minifloat.cuda.sim.internal.mma.Terms;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.ptx.PtxType;

/** Multiplies matrices of a warpgroup; a launch keeps one, with its working memory. */
final class WgmmaProduct {
  private static final int MOST_COLUMNS = 256;
  private static final int DEEPEST = 32;

  private final ExecutionOptions options;
  private final int[] aCodes = new int[WgmmaOp.ROWS * DEEPEST];
  private final int[] bCodes = new int[MOST_COLUMNS * DEEPEST];
  private final Terms aTerms = new Terms(WgmmaOp.ROWS * DEEPEST);
  private final Terms bTerms = new Terms(MOST_COLUMNS * DEEPEST);
  private final FixedPointDot fixedDot =
      new FixedPointDot(WgmmaOp.ROWS * DEEPEST, MOST_COLUMNS * DEEPEST);
  private final byte[] piece = new byte[WgmmaOp.PIECE];

  WgmmaProduct(ExecutionOptions options) {
    this.options = options;
  }

  /** Adds A·B to sums, row by row. */
  void multiply(WgmmaOp op, Warpgroup.Work work, SharedMemory shared, long[] sums) {
    MatrixDescriptor a = work.inputs().a();
    if (a == null) {
      fromRegisters(op, work);
    } else {
      read(a, WgmmaOp.ROWS, op.depth(), op.aType(), op.aKMajor(), shared, aCodes);
    }
    MatrixDescriptor b = work.inputs().b();
    read(b, op.columns(), op.depth(), op.bType(), op.bKMajor(), shared, bCodes);
    if (op.sumType() == PtxType.S32) {
      multiplyIntegers(op, sums);
    } else {
      multiplyFloats(op, sums);
    }
  }

  /** Reads a matrix, [mn][k]. */
  private void read(
      MatrixDescriptor from,
      int extent,
      int depth,
      PtxType type,
      boolean kMajor,
      SharedMemory shared,
      int[] codes) {
    int bytes = type.bytes();
    int each = WgmmaOp.PIECE / bytes;
    int major = kMajor ? extent : depth;
    int along = kMajor ? depth : extent;
    for (int m = 0; m < major; m++) {
      for (int p = 0; p < along; p += each) {
        int at = kMajor ? from.address(m, p, bytes, true) : from.address(p, m, bytes, false);
        shared.copyOut(at, piece, 0, WgmmaOp.PIECE);
        for (int e = 0; e < each; e++) {
          int to = kMajor ? m * depth + p + e : (p + e) * depth + m;
          codes[to] = (int) Bytes.get(piece, e * bytes, bytes);
        }
      }
    }
  }

  private void fromRegisters(WgmmaOp op, Warpgroup.Work work) {
    int bits = op.aType().bits();
    int each = 32 / bits;
    for (int part = 0; part < Warpgroup.WARPS; part++) {
      long[] registers = work.a(part);
      for (int r = 0; r < 4; r++) {
        for (int lane = 0; lane < 32; lane++) {
          int row = 16 * part + FragmentLayout.rowOfA(lane, r);
          for (int e = 0; e < each; e++) {
            aCodes[row * op.depth() + FragmentLayout.kOfA(lane, r, e, each)] =
                (int) (registers[32 * r + lane] >>> (e * bits) & Bits.mask(bits));
          }
        }
      }
    }
  }

  private void multiplyIntegers(WgmmaOp op, long[] sums) {
    int depth = op.depth();
    for (int row = 0; row < WgmmaOp.ROWS; row++) {
      for (int column = 0; column < op.columns(); column++) {
        long sum = (int) sums[row * op.columns() + column];
        for (int k = 0; k < depth; k++) {
          sum +=
              Bits.read(aCodes[row * depth + k], 8, op.aType().isSigned())
                  * Bits.read(bCodes[column * depth + k], 8, op.bType().isSigned());
        }
        sum = op.saturates() ? Math.clamp(sum, Integer.MIN_VALUE, Integer.MAX_VALUE) : sum;
        sums[row * op.columns() + column] = sum & Bits.M32;
      }
    }
  }

  private void multiplyFloats(WgmmaOp op, long[] sums) {
    FloatFormat aFormat = MmaOp.format(op.aType());
    FloatFormat bFormat = MmaOp.format(op.bType());
    FloatFormat sum = MmaOp.format(op.sumType());
    int depth = op.depth();
    prepare(aCodes, WgmmaOp.ROWS * depth, aFormat, op.negatesA());
    prepare(bCodes, op.columns() * depth, bFormat, op.negatesB());
    boolean fixed =
        options.arithmetic() == MmaArithmetic.EXACT && FixedPointDot.covers(aFormat, bFormat);
    if (fixed) {
      fixedDot.load(aCodes, WgmmaOp.ROWS * depth, aFormat, bCodes, op.columns() * depth, bFormat);
    }
    DotProduct dot = null;
    for (int row = 0; row < WgmmaOp.ROWS; row++) {
      for (int column = 0; column < op.columns(); column++) {
        int at = row * op.columns() + column;
        long found = fixed ? fixedDot.dot(row * depth, column * depth, depth, sums[at], sum) : -1;
        if (found < 0) {
          dot = dot == null ? dot(op, aFormat, bFormat) : dot;
          found = dot.dot(aTerms, row * depth, bTerms, column * depth, depth, sums[at], sum);
        }
        sums[at] = found;
      }
    }
  }

  /** How products are added up, its terms made ready. */
  private DotProduct dot(WgmmaOp op, FloatFormat aFormat, FloatFormat bFormat) {
    aTerms.decode(aCodes, WgmmaOp.ROWS * op.depth(), aFormat);
    bTerms.decode(bCodes, op.columns() * op.depth(), bFormat);
    return switch (options.arithmetic()) {
      case EXACT -> new ExactDot();
      case SEQUENTIAL_F32 -> new SequentialDot();
      case HARDWARE_MODEL -> ModelDot.ofWarpgroup(aFormat);
    };
  }

  /** TF32 operands are F32 numbers whose low 13 bits are ignored; a sign may be changed. */
  private static void prepare(int[] codes, int count, FloatFormat format, boolean negates) {
    int drop = format == FloatFormat.TF32 ? 13 : 0;
    int sign = negates ? 1 << (format.bits() - 1) : 0;
    for (int i = 0; i < count; i++) {
      codes[i] = codes[i] >>> drop ^ sign;
    }
  }
}
