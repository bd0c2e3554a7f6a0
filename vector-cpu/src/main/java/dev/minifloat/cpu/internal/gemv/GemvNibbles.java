package dev.minifloat.cpu.internal.gemv;

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
 * The one text of {@link GemvRow} for E2M1 and I4: a nibble's value is looked up among all sixteen.
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
final class GemvNibbles implements GemvRow {
  private static final int GROUP;
  private static final int[] VALUES = new int[16];

  static {
    GemvFormat format = ClassCopies.data(MethodHandles.lookup(), GemvFormat.class);
    GROUP = format.group();
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
      int steps,
      MemorySegment x,
      int first,
      long pitch,
      float[] scales,
      int scale,
      float[] sums,
      int to,
      int stride) {
    MemorySegment codes = Segments.exact(w);
    MemorySegment vectors = Segments.exact(x);
    IntVector table = IntVector.fromArray(INT, VALUES, 0);
    // At 256 bits a vector is half of the table.
    IntVector upper = IntVector.fromArray(INT, VALUES, LANES & 15);
    FloatVector zero = FloatVector.zero(FLOAT);
    FloatVector sum = FloatVector.fromArray(FLOAT, sums, to);
    int end = first + steps;
    int scaleStart = scale - first * STEP_SCALES;
    long start = at - first * STEP_BYTES;
    for (int i = first; i < end; i++) {
      // A method for the look-up would be compiled before this loop, and too big to be inlined.
      IntVector code = IntVector.fromMemorySegment(INT, codes, start + i * STEP_BYTES, LE);
      long q = i * X_STEP;
      FloatVector step;
      if (LANES == 16) {
        step =
            code.selectFrom(table)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q, LE), zero);
        step =
            code.lanewise(VectorOperators.LSHR, 16)
                .selectFrom(table)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + V, LE), step);
        step =
            code.lanewise(VectorOperators.LSHR, 8)
                .selectFrom(table)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 2 * V, LE), step);
        step =
            code.lanewise(VectorOperators.LSHR, 24)
                .selectFrom(table)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 3 * V, LE), step);
        step =
            code.lanewise(VectorOperators.LSHR, 4)
                .selectFrom(table)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 4 * V, LE), step);
        step =
            code.lanewise(VectorOperators.LSHR, 20)
                .selectFrom(table)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 5 * V, LE), step);
        step =
            code.lanewise(VectorOperators.LSHR, 12)
                .selectFrom(table)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 6 * V, LE), step);
        step =
            code.lanewise(VectorOperators.LSHR, 28)
                .selectFrom(table)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 7 * V, LE), step);
      } else {
        step =
            code.selectFrom(table, upper)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q, LE), zero);
        step =
            code.lanewise(VectorOperators.LSHR, 16)
                .selectFrom(table, upper)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + V, LE), step);
        step =
            code.lanewise(VectorOperators.LSHR, 8)
                .selectFrom(table, upper)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 2 * V, LE), step);
        step =
            code.lanewise(VectorOperators.LSHR, 24)
                .selectFrom(table, upper)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 3 * V, LE), step);
        step =
            code.lanewise(VectorOperators.LSHR, 4)
                .selectFrom(table, upper)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 4 * V, LE), step);
        step =
            code.lanewise(VectorOperators.LSHR, 20)
                .selectFrom(table, upper)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 5 * V, LE), step);
        step =
            code.lanewise(VectorOperators.LSHR, 12)
                .selectFrom(table, upper)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 6 * V, LE), step);
        step =
            code.lanewise(VectorOperators.LSHR, 28)
                .selectFrom(table, upper)
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 7 * V, LE), step);
      }
      if (GROUP == 0) {
        sum = sum.add(step);
      } else {
        FloatVector factors = FloatVector.fromArray(FLOAT, scales, scaleStart + i * STEP_SCALES);
        sum = step.fma(factors.rearrange(SPREAD), sum);
      }
    }
    sum.intoArray(sums, to);
  }
}
