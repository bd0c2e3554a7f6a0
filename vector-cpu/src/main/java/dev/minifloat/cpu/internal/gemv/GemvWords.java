package dev.minifloat.cpu.internal.gemv;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The one text of {@link GemvRow} for F32, BF16 and I8, whose elements are had from a word by a
 * shift or two; exact, infinities and NaNs too.
 *
 * <p>A step takes four vectors of elements, in four, two or one loads, to four sums for one vector
 * of activations, to two for each of several. As in {@link DotTemplate} the small methods must stay
 * in this class.
 */
final class GemvWords implements GemvRow {
  private static final int PARTS;
  private static final int VECTORS;

  static {
    GemvFormat format = ClassCopies.data(MethodHandles.lookup(), GemvFormat.class);
    PARTS = GemvFormat.parts(format.dtype());
    VECTORS = format.vectors();
  }

  private static final long V = (long) LANES * Integer.BYTES;
  private static final long STEP_BYTES = 4L / PARTS * V;
  private static final int STEP = 4 * LANES;

  GemvWords() {}

  @Override
  public void multiply(
      MemorySegment w,
      long at,
      int steps,
      float[] x,
      int from,
      int pitch,
      float[] scales,
      int scale,
      float[] sums,
      int to,
      int stride) {
    MemorySegment words = Segments.exact(w);
    FloatVector zero = FloatVector.zero(FLOAT);
    FloatVector s0 = FloatVector.fromArray(FLOAT, sums, to);
    FloatVector s1 = zero;
    FloatVector s2 = VECTORS > 1 ? FloatVector.fromArray(FLOAT, sums, to + stride) : zero;
    FloatVector s3 = zero;
    FloatVector s4 = VECTORS > 2 ? FloatVector.fromArray(FLOAT, sums, to + 2 * stride) : zero;
    FloatVector s5 = zero;
    FloatVector s6 = VECTORS > 2 ? FloatVector.fromArray(FLOAT, sums, to + 3 * stride) : zero;
    FloatVector s7 = zero;
    for (int i = 0; i < steps; i++) {
      long p = at + i * STEP_BYTES;
      int q = from + i * STEP;
      IntVector w0 = IntVector.fromMemorySegment(INT, words, p, LE);
      IntVector w1 = PARTS == 1 ? IntVector.fromMemorySegment(INT, words, p + V, LE) : w0;
      IntVector w2 =
          PARTS == 4 ? w0 : IntVector.fromMemorySegment(INT, words, p + 2 / PARTS * V, LE);
      IntVector w3 = PARTS == 1 ? IntVector.fromMemorySegment(INT, words, p + 3 * V, LE) : w2;
      FloatVector e0 = part(w0, 0);
      FloatVector e1 = part(w1, PARTS == 4 ? 2 : 1 % PARTS);
      FloatVector e2 = part(w2, PARTS == 4 ? 1 : 0);
      FloatVector e3 = part(w3, PARTS == 4 ? 3 : 1 % PARTS);
      s0 = e0.fma(FloatVector.fromArray(FLOAT, x, q), s0);
      s1 = e1.fma(FloatVector.fromArray(FLOAT, x, q + LANES), s1);
      if (VECTORS == 1) {
        s2 = e2.fma(FloatVector.fromArray(FLOAT, x, q + 2 * LANES), s2);
        s3 = e3.fma(FloatVector.fromArray(FLOAT, x, q + 3 * LANES), s3);
        continue;
      }
      s0 = e2.fma(FloatVector.fromArray(FLOAT, x, q + 2 * LANES), s0);
      s1 = e3.fma(FloatVector.fromArray(FLOAT, x, q + 3 * LANES), s1);
      q += pitch;
      s2 = e0.fma(FloatVector.fromArray(FLOAT, x, q), s2);
      s3 = e1.fma(FloatVector.fromArray(FLOAT, x, q + LANES), s3);
      s2 = e2.fma(FloatVector.fromArray(FLOAT, x, q + 2 * LANES), s2);
      s3 = e3.fma(FloatVector.fromArray(FLOAT, x, q + 3 * LANES), s3);
      if (VECTORS == 4) {
        q += pitch;
        s4 = e0.fma(FloatVector.fromArray(FLOAT, x, q), s4);
        s5 = e1.fma(FloatVector.fromArray(FLOAT, x, q + LANES), s5);
        s4 = e2.fma(FloatVector.fromArray(FLOAT, x, q + 2 * LANES), s4);
        s5 = e3.fma(FloatVector.fromArray(FLOAT, x, q + 3 * LANES), s5);
        q += pitch;
        s6 = e0.fma(FloatVector.fromArray(FLOAT, x, q), s6);
        s7 = e1.fma(FloatVector.fromArray(FLOAT, x, q + LANES), s7);
        s6 = e2.fma(FloatVector.fromArray(FLOAT, x, q + 2 * LANES), s6);
        s7 = e3.fma(FloatVector.fromArray(FLOAT, x, q + 3 * LANES), s7);
      }
    }
    if (VECTORS == 1) {
      s0.add(s1).add(s2.add(s3)).intoArray(sums, to);
    } else {
      s0.add(s1).intoArray(sums, to);
      s2.add(s3).intoArray(sums, to + stride);
    }
    if (VECTORS == 4) {
      s4.add(s5).intoArray(sums, to + 2 * stride);
      s6.add(s7).intoArray(sums, to + 3 * stride);
    }
  }

  /** Element {@code j} of each word. */
  private static FloatVector part(IntVector words, int j) {
    return switch (PARTS) {
      case 1 -> words.reinterpretAsFloats();
      case 2 ->
          (j == 0 ? words.lanewise(VectorOperators.LSHL, 16) : words.and(0xFFFF0000))
              .reinterpretAsFloats();
      default ->
          (FloatVector)
              (j == 3 ? words : words.lanewise(VectorOperators.LSHL, 24 - 8 * j))
                  .lanewise(VectorOperators.ASHR, 24)
                  .convert(VectorOperators.I2F, 0);
    };
  }
}
