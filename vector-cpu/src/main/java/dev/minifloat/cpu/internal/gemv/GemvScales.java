package dev.minifloat.cpu.internal.gemv;

import static dev.minifloat.cpu.internal.runtime.Exact.INTS;
import static dev.minifloat.cpu.internal.runtime.Species.BYTE;
import static dev.minifloat.cpu.internal.runtime.Species.BYTE_REACH;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.Scaling;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.codec.ScaleGrid;
import dev.minifloat.cpu.internal.convert.FloatFormat;
import dev.minifloat.cpu.internal.convert.ScaledRuns;
import dev.minifloat.cpu.internal.convert.Tables;
import dev.minifloat.cpu.internal.gemm.GemmOperand;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.spi.HostStorage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * How the scales of a matrix enter its product with a vector: with the activations, where each
 * column has one; for each {@link #group} elements, in the kernel; and as a factor of a row's sum.
 * An object is used for one matrix after the other.
 */
final class GemvScales {
  /** Blocks of MX, and what a kernel's group can be at most. */
  private static final int WIDE = 32;

  private static final int NARROW = 16;

  /**
   * Activations from here on are safe: their products with elements, and so sums of such, are
   * multiples of 2^-149, and none loses a digit.
   */
  private static final float LEAST = 0x1p-100f;

  private static final int MAGNITUDE = 0x7FFFFFFF;
  private static final int NAN = 0x7FC00000;
  private static final int E8M0_NAN = 0xFF;

  /** Codes of E4M3 from here on are NaN or have a sign, which no scale that we make has. */
  private static final int E4M3_END = 0x7F;

  private HostStorage storage;
  private boolean columns;
  private int group;

  /**
   * Shows the scales of a stack of matrices whose rows are dense.
   *
   * @return false if they lie so that a kernel can't apply them
   */
  boolean show(GemmOperand w, long matrices) {
    storage = w.storage();
    columns = storage.scaling() instanceof Scaling.Columns;
    group = 0;
    ScaleGrid grid = storage.grid();
    if (storage.scaling() instanceof Scaling.None
        || storage.scaling() instanceof Scaling.PerTensor) {
      return true;
    }
    // Every row of the view must lie in a row of the storage, from the same column on.
    long first = w.offset() % grid.columns();
    if (first + w.columns() > grid.columns() || !w.stepsRowsByMultiplesOf(grid.columns())) {
      return false;
    }
    return switch (storage.scaling()) {
      case Scaling.None _, Scaling.PerTensor _, Scaling.Rows _ -> true;
      case Scaling.Columns _ -> matrices == 1;
      case Scaling.Block _, Scaling.Mx _, Scaling.NvFp4 _ -> {
        long block = grid.blockColumns();
        group = block % WIDE == 0 ? WIDE : NARROW;
        yield first % block == 0 && block % NARROW == 0;
      }
    };
  }

  /** Shows none, so that no storage is kept alive. */
  void clear() {
    storage = null;
  }

  /** Whether activations are multiplied by the scales of columns. */
  boolean columns() {
    return columns;
  }

  /** Elements of a row that share a factor in the kernel; 0 for none. */
  int group() {
    return group;
  }

  /** Whether there are scales at all. */
  boolean isScaled() {
    return !(storage.scaling() instanceof Scaling.None);
  }

  /** The index of the scale of a row's first element; rows of one block have the same. */
  long scaleRow(long element) {
    return storage.grid().indexOf(element);
  }

  /** Factors from a row to the next, if {@link #fill} can write those of several rows; else 0. */
  int rowFactors(GemmOperand w) {
    long columns = storage.grid().columns();
    boolean bytes =
        storage.scaling() instanceof Scaling.Mx || storage.scaling() instanceof Scaling.NvFp4;
    return bytes && w.rowStride() == columns ? (int) storage.grid().gridColumns() : 0;
  }

  /**
   * Multiplies the sums of rows by the scales that are theirs.
   *
   * @param element the first row's first
   * @param stride elements from a row to the next
   * @param unit what each sum is multiplied by before
   * @param sums of {@code count} rows from {@code from} on
   */
  void multiplySums(long element, long stride, float unit, float[] sums, int from, int count) {
    switch (storage.scaling()) {
      case Scaling.None _, Scaling.Columns _, Scaling.Block _ ->
          multiply(sums, from, count, unit, 1);
      case Scaling.PerTensor _ -> multiply(sums, from, count, unit, ScaledRuns.scale(storage, 0));
      // Group factors are twice the scales.
      case Scaling.Mx _ -> multiply(sums, from, count, unit, 0.5f);
      case Scaling.NvFp4 _ -> multiply(sums, from, count, unit, storage.globalScale());
      case Scaling.Rows _ -> {
        MemorySegment scales = Segments.exact(storage.scales());
        long first = storage.grid().indexOf(element);
        long step = stride / storage.grid().columns();
        for (int r = 0; r < count; r++) {
          sums[from + r] =
              sums[from + r] * unit * scales.get(PackedElements.FLOAT, 4 * (first + r * step));
        }
      }
    }
  }

  private static void multiply(float[] sums, int from, int count, float unit, float factor) {
    for (int r = 0; r < count; r++) {
      sums[from + r] = sums[from + r] * unit * factor;
    }
  }

  /**
   * Writes factors. One that can't be given is not finite, so that the row's sum is not either, and
   * the row is decoded.
   *
   * @param first the {@link #scaleRow} of the first row
   * @param count how many
   */
  void fill(long first, int count, float[] factors) {
    switch (storage.scaling()) {
      case Scaling.None _, Scaling.PerTensor _, Scaling.Rows _, Scaling.Columns _ -> {}
      case Scaling.Block _ -> {
        MemorySegment scales = Segments.exact(storage.scales());
        int repeats = (int) Math.min(storage.grid().blockColumns() / group, count);
        for (int i = 0, block = 0; i < count; block++) {
          float scale = scales.get(PackedElements.FLOAT, 4 * (first + block));
          for (int end = Math.min(count, i + repeats); i < end; i++) {
            factors[i] = scale;
          }
        }
      }
      case Scaling.Mx _ -> e8m0(storage.scales(), first, count, factors);
      case Scaling.NvFp4 _ -> e4m3(storage.scales(), first, count, factors);
    }
  }

  /**
   * Twice the values of E8M0 codes: with the exponent field one higher, no scale is a subnormal
   * F32, at which some machines stumble. That of 2^127 is infinite.
   */
  private static void e8m0(MemorySegment scales, long first, int count, float[] factors) {
    MemorySegment codes = Segments.exact(scales);
    IntVector nan = IntVector.broadcast(INT, NAN);
    int i = 0;
    for (; i <= count - BYTE_REACH; i += LANES) {
      IntVector code =
          INTS.cast(
              ByteVector.fromMemorySegment(BYTE, codes, first + i, LE)
                  .convertShape(VectorOperators.ZERO_EXTEND_B2I, INT, 0));
      code.add(1)
          .lanewise(VectorOperators.LSHL, 23)
          .blend(nan, code.compare(VectorOperators.EQ, E8M0_NAN))
          .reinterpretAsFloats()
          .intoArray(factors, i);
    }
    for (; i < count; i++) {
      int code = codes.get(ValueLayout.JAVA_BYTE, first + i) & 0xFF;
      factors[i] = Float.intBitsToFloat(code == E8M0_NAN ? NAN : (code + 1) << 23);
    }
  }

  /**
   * The values of E4M3 codes without signs. With e the exponent field and f the fraction:
   *
   * <pre>
   *   u = 2^(e − 7) · 1.f     the code's bits at their place in an F32, and a higher bias
   *   e ≥ 1:  the value is u, and 2u − 2^-6 ≥ u
   *   e = 0:  the value, 2^-6 · 0.f, is 2u − 2^-6 &lt; u
   * </pre>
   *
   * <p>so that it is the lesser of the two, and no subnormal takes part. As floats that are not
   * negative they compare by their bits.
   */
  private static void e4m3(MemorySegment scales, long first, int count, float[] factors) {
    MemorySegment codes = Segments.exact(scales);
    IntVector nan = IntVector.broadcast(INT, NAN);
    int rebias = FloatFormat.F8_E4M3.rebias();
    int shift = FloatFormat.F8_E4M3.shift();
    int i = 0;
    for (; i <= count - BYTE_REACH; i += LANES) {
      IntVector code =
          INTS.cast(
              ByteVector.fromMemorySegment(BYTE, codes, first + i, LE)
                  .convertShape(VectorOperators.ZERO_EXTEND_B2I, INT, 0));
      IntVector u = code.lanewise(VectorOperators.LSHL, shift).add(rebias);
      u.min(u.add(1 << 23).reinterpretAsFloats().sub(0x1p-6f).reinterpretAsInts())
          .blend(nan, code.compare(VectorOperators.GE, E4M3_END))
          .reinterpretAsFloats()
          .intoArray(factors, i);
    }
    for (; i < count; i++) {
      int code = codes.get(ValueLayout.JAVA_BYTE, first + i) & 0xFF;
      factors[i] = code >= E4M3_END ? Float.NaN : Tables.e4m3(code);
    }
  }

  /**
   * Multiplies activations by the scales of columns.
   *
   * @param first the scale of the first column
   * @return false if a product may have lost digits
   */
  boolean multiply(float[] x, int from, int count, long first, float[] target) {
    boolean exact = true;
    for (int i = 0; i < count; i++) {
      float scale = storage.scales().get(PackedElements.FLOAT, 4 * (first + i));
      float product = x[from + i] * scale;
      exact &= x[from + i] == 0 || Math.abs(product) >= LEAST;
      target[from + i] = product;
    }
    return exact;
  }

  /** Whether no value but zeros is so small that its products with elements may lose digits. */
  static boolean areSafe(float[] x, int count) {
    IntVector magnitude = IntVector.broadcast(INT, MAGNITUDE);
    IntVector smallest = magnitude;
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      IntVector bits = FloatVector.fromArray(FLOAT, x, i).reinterpretAsInts();
      // Zero becomes the largest.
      smallest = INTS.cast(smallest).min(bits.and(magnitude).sub(1).and(magnitude));
    }
    int least = INTS.cast(smallest).reduceLanes(VectorOperators.MIN);
    for (; i < count; i++) {
      least = Math.min(least, ((Float.floatToRawIntBits(x[i]) & MAGNITUDE) - 1) & MAGNITUDE);
    }
    return least >= Float.floatToRawIntBits(LEAST) - 1;
  }
}
