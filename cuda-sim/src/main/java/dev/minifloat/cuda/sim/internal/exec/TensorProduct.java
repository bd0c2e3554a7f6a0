package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Bytes;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.SharedMemory;
import dev.minifloat.cuda.sim.internal.memory.TensorMemory;
import dev.minifloat.cuda.sim.internal.mma.DotProduct;
import dev.minifloat.cuda.sim.internal.mma.FixedPointDot;
import dev.minifloat.cuda.sim.internal.mma.InstructionDescriptor;
import dev.minifloat.cuda.sim.internal.mma.MatrixDescriptor;
import dev.minifloat.cuda.sim.internal.mma.ModelDot;
import dev.minifloat.cuda.sim.internal.mma.TensorKind;
import dev.minifloat.cuda.sim.internal.mma.Terms;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;

/** Multiplies matrices of tcgen05.mma; a launch keeps one, with its working memory. */
final class TensorProduct {
  private static final int MOST = 256;
  private static final int DEEPEST = 64;
  private static final int PIECE = TensorMmaOp.PIECE;

  private final ExecutionOptions options;
  private final int[] aCodes = new int[MOST * DEEPEST];
  private final int[] bCodes = new int[MOST * DEEPEST];
  private final Terms aTerms = new Terms(MOST * DEEPEST);
  private final Terms bTerms = new Terms(MOST * DEEPEST);
  private final FixedPointDot fixedDot = new FixedPointDot(MOST * DEEPEST, MOST * DEEPEST);
  private final int[] scales = new int[MOST * 4];
  private final byte[] piece = new byte[PIECE];

  TensorProduct(ExecutionOptions options) {
    this.options = options;
  }

  /** Replaces D. */
  void multiply(TensorMmaOp.Product work) {
    InstructionDescriptor shape = work.shape;
    for (int i = 0; i < work.held.size(); i++) {
      Block block = work.held.get(i);
      int at = i * work.rows();
      if (work.a == null) {
        fromCells(block.tensorMemory(), work, at);
      } else {
        read(block.shared(), work.a, shape.aKMajor(), work, work.rows(), true, at);
      }
      read(
          block.shared(), work.b, shape.bKMajor(), work, work.columns(), false, i * work.columns());
    }
    int depth = work.kind().depth();
    flip(aCodes, shape.rows() * depth, shape.aFormat(), shape.negatesA());
    flip(bCodes, shape.columns() * depth, shape.bFormat(), shape.negatesB());
    add(work, depth);
  }

  /** TF32 operands are F32 numbers whose low 13 bits are ignored; a sign may be changed. */
  private static void flip(int[] codes, int count, FloatFormat format, boolean negates) {
    int drop = format == FloatFormat.TF32 ? 13 : 0;
    int sign = negates ? 1 << (format.bits() - 1) : 0;
    for (int i = 0; i < count; i++) {
      codes[i] = codes[i] >>> drop ^ sign;
    }
  }

  private static int width(FloatFormat format) {
    return format == FloatFormat.TF32 ? 32 : format.bits();
  }

  /** Reads rows of A, or columns of B, to [mn][k] from a row on. */
  private void read(
      SharedMemory shared,
      MatrixDescriptor from,
      boolean kMajor,
      TensorMmaOp.Product work,
      int extent,
      boolean ofA,
      int to) {
    int width = width(ofA ? work.shape.aFormat() : work.shape.bFormat());
    int[] codes = ofA ? aCodes : bCodes;
    int depth = work.kind().depth();
    int each = 8 * PIECE / work.kind().heldBits();
    int major = kMajor ? extent : depth;
    int along = kMajor ? depth : extent;
    for (int m = 0; m < major; m++) {
      for (int p = 0; p < along; p += each) {
        int at = TensorMmaOp.Product.address(from, kMajor, m, p / each);
        shared.copyOut(at, piece, 0, PIECE);
        for (int e = 0; e < each; e++) {
          int mn = to + (kMajor ? m : p + e);
          int k = kMajor ? p + e : m;
          codes[mn * depth + k] = element(e * width, width);
        }
      }
    }
  }

  /** Bits of the piece. */
  private int element(int bit, int width) {
    int first = bit / 8;
    int bytes = (bit % 8 + width + 7) / 8;
    return (int) (Bytes.get(piece, first, bytes) >>> bit % 8 & Bits.mask(width));
  }

  private void fromCells(TensorMemory memory, TensorMmaOp.Product work, int to) {
    int width = width(work.shape.aFormat());
    int depth = work.kind().depth();
    int each = 32 / width;
    for (int row = 0; row < work.rows(); row++) {
      for (int k = 0; k < depth; k++) {
        int cell = memory.get(row, work.aColumn + k / each);
        aCodes[(to + row) * depth + k] =
            (int) ((cell & Bits.M32) >>> (k % each * width) & Bits.mask(width));
      }
    }
  }

  private void add(TensorMmaOp.Product work, int depth) {
    InstructionDescriptor shape = work.shape;
    boolean scaled = work.kind().isScaled();
    boolean fixed =
        !scaled
            && options.arithmetic() == MmaArithmetic.EXACT
            && FixedPointDot.covers(shape.aFormat(), shape.bFormat());
    if (fixed) {
      fixedDot.load(
          aCodes,
          shape.rows() * depth,
          shape.aFormat(),
          bCodes,
          shape.columns() * depth,
          shape.bFormat());
    }
    DotProduct dot = fixed ? null : dot(work, depth);
    for (int row = 0; row < shape.rows(); row++) {
      TensorMemory memory = work.held.get(work.block(row)).tensorMemory();
      for (int column = 0; column < shape.columns(); column++) {
        int lane = work.lane(row, column);
        int cell = work.cell(column);
        long c = work.adds ? memory.get(lane, cell) & Bits.mask(shape.sumFormat().bits()) : 0;
        int a = row * depth;
        int b = column * depth;
        long sum = fixed ? fixedDot.dot(a, b, depth, c, shape.sumFormat()) : -1;
        if (sum < 0) {
          dot = dot == null ? dot(work, depth) : dot;
          sum = dot.dot(aTerms, a, bTerms, b, depth, c, shape.sumFormat());
        }
        memory.set(lane, cell, (int) sum);
      }
    }
  }

  /** How products are added up, its terms made ready. */
  private DotProduct dot(TensorMmaOp.Product work, int depth) {
    InstructionDescriptor shape = work.shape;
    aTerms.decode(aCodes, shape.rows() * depth, shape.aFormat());
    bTerms.decode(bCodes, shape.columns() * depth, shape.bFormat());
    if (work.kind().isScaled()) {
      int each = work.scalesOfRow();
      for (int i = 0; i < work.held.size(); i++) {
        TensorMemory memory = work.held.get(i).tensorMemory();
        take(memory, work.aScaleColumn, work.rows(), shape.aScale(), each, i * work.rows());
      }
      aTerms.scale(scales, shape.rows(), each, depth, shape.scaleFormat());
      // Each block holds the scales of all of B's columns; the first one's are taken.
      TensorMemory memory = work.held.getFirst().tensorMemory();
      take(memory, work.bScaleColumn, shape.columns(), shape.bScale(), each, 0);
      bTerms.scale(scales, shape.columns(), each, depth, shape.scaleFormat());
    }
    boolean groups = work.kind() == TensorKind.MXF4 || work.kind() == TensorKind.MXF4NVF4;
    return groups && options.arithmetic() == MmaArithmetic.HARDWARE_MODEL
        ? ModelDot.ofGroups()
        : MmaOp.dotProduct(options, shape.aFormat());
  }

  /**
   * Scales of rows of A, or of columns of B: those of row r are bytes of the cell in lane r % 32
   * and column r / 32, the same in every quarter of the lanes.
   */
  private void take(TensorMemory memory, int column, int rows, int first, int each, int to) {
    for (int row = 0; row < rows; row++) {
      int cell = memory.get(row % TensorMemory.QUARTER, column + row / TensorMemory.QUARTER);
      for (int lane = row % TensorMemory.QUARTER;
          lane < TensorMemory.LANES;
          lane += TensorMemory.QUARTER) {
        int other = memory.get(lane, column + row / TensorMemory.QUARTER);
        if (other != cell) {
          throw new DeviceFault(
              DeviceFault.Kind.ILLEGAL_INSTRUCTION,
              ("scales in column %d of Tensor Memory: lane %d holds 0x%08x, lane %d 0x%08x; all"
                      + " quarters must hold the same")
                  .formatted(
                      column + row / TensorMemory.QUARTER,
                      row % TensorMemory.QUARTER,
                      cell,
                      lane,
                      other));
        }
      }
      for (int block = 0; block < each; block++) {
        scales[(to + row) * each + block] = cell >>> (8 * (first + block)) & 0xFF;
      }
    }
  }
}
