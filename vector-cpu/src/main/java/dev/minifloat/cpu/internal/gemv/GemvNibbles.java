package dev.minifloat.cpu.internal.gemv;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.codec.Codec;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;

/**
 * The one text of {@link GemvRows} for E2M1 and I4, of one row and of four: a nibble's value is
 * looked up among all sixteen.
 *
 * <pre>
 *   word       h g f e d c b a      eight nibbles
 *   &gt;&gt; 4j      … nibble j lowest    what is above it the look-up ignores
 *   looked up  F32
 * </pre>
 *
 * <p>A lane's eight elements are of one block, so a block's scale multiplies the lane's sum once a
 * step. Looking pairs up as BF16 takes fewer operations, but more than the compiler's budget of
 * nodes allows.
 */
final class GemvNibbles implements GemvRows {
  private static final int GROUP;
  private static final boolean ALONE;
  private static final int[] VALUES = new int[16];

  static {
    GemvFormat format = ClassCopies.data(MethodHandles.lookup(), GemvFormat.class);
    GROUP = format.group();
    ALONE = format.rows() == 1;
    for (int code = 0; code < VALUES.length; code++) {
      VALUES[code] = Float.floatToRawIntBits(Codec.decode(format.dtype(), code));
    }
  }

  private static final long V = (long) LANES * Integer.BYTES;
  private static final int STEP = 8 * LANES;
  private static final long STEP_BYTES = V;
  private static final long X_STEP = (long) STEP * Float.BYTES;
  private static final int STEP_SCALES = GROUP == 0 ? 0 : STEP / GROUP;
  private static final VectorShuffle<Float> SPREAD =
      VectorShuffle.fromOp(FLOAT, lane -> GROUP == 0 ? lane : lane * 8 / GROUP);

  GemvNibbles() {}

  @Override
  public void multiply(
      MemorySegment w,
      long at,
      long rowBytes,
      int steps,
      MemorySegment x,
      int first,
      long pitch,
      float[] scales,
      int scale,
      int rowScales,
      float[] sums,
      int to,
      int stride) {
    MemorySegment codes = Segments.exact(w);
    MemorySegment vector = Segments.exact(x);
    IntVector table = IntVector.fromArray(INT, VALUES, 0);
    // At 256 bits a vector is half of the table.
    IntVector upper = IntVector.fromArray(INT, VALUES, LANES & 15);
    FloatVector zero = FloatVector.zero(FLOAT);
    FloatVector a = FloatVector.fromArray(FLOAT, sums, to);
    FloatVector b = ALONE ? zero : FloatVector.fromArray(FLOAT, sums, to + LANES);
    FloatVector c = ALONE ? zero : FloatVector.fromArray(FLOAT, sums, to + 2 * LANES);
    FloatVector d = ALONE ? zero : FloatVector.fromArray(FLOAT, sums, to + 3 * LANES);
    int end = first + steps;
    int scaleStart = scale - first * STEP_SCALES;
    long start = at - first * STEP_BYTES;
    // A method for the look-up would be compiled before this loop, and too big to be inlined.
    for (int i = first; i < end; i++) {
      long p = start + i * STEP_BYTES;
      long q = i * X_STEP;
      FloatVector x0 = FloatVector.fromMemorySegment(FLOAT, vector, q, LE);
      FloatVector x1 = FloatVector.fromMemorySegment(FLOAT, vector, q + V, LE);
      FloatVector x2 = FloatVector.fromMemorySegment(FLOAT, vector, q + 2 * V, LE);
      FloatVector x3 = FloatVector.fromMemorySegment(FLOAT, vector, q + 3 * V, LE);
      FloatVector x4 = FloatVector.fromMemorySegment(FLOAT, vector, q + 4 * V, LE);
      FloatVector x5 = FloatVector.fromMemorySegment(FLOAT, vector, q + 5 * V, LE);
      FloatVector x6 = FloatVector.fromMemorySegment(FLOAT, vector, q + 6 * V, LE);
      FloatVector x7 = FloatVector.fromMemorySegment(FLOAT, vector, q + 7 * V, LE);
      IntVector code = IntVector.fromMemorySegment(INT, codes, p, LE);
      IntVector value = LANES == 16 ? code.selectFrom(table) : code.selectFrom(table, upper);
      FloatVector step = value.reinterpretAsFloats().fma(x0, GROUP == 0 ? a : zero);
      value = code.lanewise(VectorOperators.LSHR, 16);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x1, step);
      value = code.lanewise(VectorOperators.LSHR, 8);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x2, step);
      value = code.lanewise(VectorOperators.LSHR, 24);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x3, step);
      value = code.lanewise(VectorOperators.LSHR, 4);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x4, step);
      value = code.lanewise(VectorOperators.LSHR, 20);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x5, step);
      value = code.lanewise(VectorOperators.LSHR, 12);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x6, step);
      value = code.lanewise(VectorOperators.LSHR, 28);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x7, step);
      a =
          GROUP == 0
              ? step
              : step.fma(
                  FloatVector.fromArray(FLOAT, scales, scaleStart + i * STEP_SCALES)
                      .rearrange(SPREAD),
                  a);
      if (ALONE) {
        continue;
      }

      code = IntVector.fromMemorySegment(INT, codes, p + rowBytes, LE);
      value = LANES == 16 ? code.selectFrom(table) : code.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x0, GROUP == 0 ? b : zero);
      value = code.lanewise(VectorOperators.LSHR, 16);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x1, step);
      value = code.lanewise(VectorOperators.LSHR, 8);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x2, step);
      value = code.lanewise(VectorOperators.LSHR, 24);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x3, step);
      value = code.lanewise(VectorOperators.LSHR, 4);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x4, step);
      value = code.lanewise(VectorOperators.LSHR, 20);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x5, step);
      value = code.lanewise(VectorOperators.LSHR, 12);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x6, step);
      value = code.lanewise(VectorOperators.LSHR, 28);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x7, step);
      b =
          GROUP == 0
              ? step
              : step.fma(
                  FloatVector.fromArray(FLOAT, scales, scaleStart + rowScales + i * STEP_SCALES)
                      .rearrange(SPREAD),
                  b);

      code = IntVector.fromMemorySegment(INT, codes, p + 2 * rowBytes, LE);
      value = LANES == 16 ? code.selectFrom(table) : code.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x0, GROUP == 0 ? c : zero);
      value = code.lanewise(VectorOperators.LSHR, 16);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x1, step);
      value = code.lanewise(VectorOperators.LSHR, 8);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x2, step);
      value = code.lanewise(VectorOperators.LSHR, 24);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x3, step);
      value = code.lanewise(VectorOperators.LSHR, 4);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x4, step);
      value = code.lanewise(VectorOperators.LSHR, 20);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x5, step);
      value = code.lanewise(VectorOperators.LSHR, 12);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x6, step);
      value = code.lanewise(VectorOperators.LSHR, 28);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x7, step);
      c =
          GROUP == 0
              ? step
              : step.fma(
                  FloatVector.fromArray(FLOAT, scales, scaleStart + 2 * rowScales + i * STEP_SCALES)
                      .rearrange(SPREAD),
                  c);

      code = IntVector.fromMemorySegment(INT, codes, p + 3 * rowBytes, LE);
      value = LANES == 16 ? code.selectFrom(table) : code.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x0, GROUP == 0 ? d : zero);
      value = code.lanewise(VectorOperators.LSHR, 16);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x1, step);
      value = code.lanewise(VectorOperators.LSHR, 8);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x2, step);
      value = code.lanewise(VectorOperators.LSHR, 24);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x3, step);
      value = code.lanewise(VectorOperators.LSHR, 4);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x4, step);
      value = code.lanewise(VectorOperators.LSHR, 20);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x5, step);
      value = code.lanewise(VectorOperators.LSHR, 12);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x6, step);
      value = code.lanewise(VectorOperators.LSHR, 28);
      value = LANES == 16 ? value.selectFrom(table) : value.selectFrom(table, upper);
      step = value.reinterpretAsFloats().fma(x7, step);
      d =
          GROUP == 0
              ? step
              : step.fma(
                  FloatVector.fromArray(FLOAT, scales, scaleStart + 3 * rowScales + i * STEP_SCALES)
                      .rearrange(SPREAD),
                  d);
    }
    FLOATS.cast(a).intoArray(sums, to);
    if (ALONE) {
      return;
    }
    FLOATS.cast(b).intoArray(sums, to + LANES);
    FLOATS.cast(c).intoArray(sums, to + 2 * LANES);
    FLOATS.cast(d).intoArray(sums, to + 3 * LANES);
  }
}
