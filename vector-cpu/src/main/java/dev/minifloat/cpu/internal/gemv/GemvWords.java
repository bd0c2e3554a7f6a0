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
 * of activations, to two for each of two. As in {@link DotTemplate} the small methods must stay in
 * this class.
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
  private static final long X_STEP = (long) STEP * Float.BYTES;

  GemvWords() {}

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
    MemorySegment words = Segments.exact(w);
    MemorySegment vectors = Segments.exact(x);
    FloatVector zero = FloatVector.zero(FLOAT);
    FloatVector s0 = FloatVector.fromArray(FLOAT, sums, to);
    FloatVector s1 = zero;
    FloatVector s2 = VECTORS > 1 ? FloatVector.fromArray(FLOAT, sums, to + stride) : zero;
    FloatVector s3 = zero;
    int end = first + steps;
    long start = at - first * STEP_BYTES;
    for (int i = first; i < end; i++) {
      long p = start + i * STEP_BYTES;
      long q = i * X_STEP;
      IntVector w0 = IntVector.fromMemorySegment(INT, words, p, LE);
      IntVector w1 = PARTS == 1 ? IntVector.fromMemorySegment(INT, words, p + V, LE) : w0;
      IntVector w2 =
          PARTS == 4 ? w0 : IntVector.fromMemorySegment(INT, words, p + 2 / PARTS * V, LE);
      IntVector w3 = PARTS == 1 ? IntVector.fromMemorySegment(INT, words, p + 3 * V, LE) : w2;
      FloatVector e0 = part(w0, 0);
      FloatVector e1 = part(w1, PARTS == 4 ? 2 : 1 % PARTS);
      FloatVector e2 = part(w2, PARTS == 4 ? 1 : 0);
      FloatVector e3 = part(w3, PARTS == 4 ? 3 : 1 % PARTS);
      s0 = e0.fma(load(vectors, q), s0);
      s1 = e1.fma(load(vectors, q + V), s1);
      if (VECTORS == 1) {
        s2 = e2.fma(load(vectors, q + 2 * V), s2);
        s3 = e3.fma(load(vectors, q + 3 * V), s3);
        continue;
      }
      s0 = e2.fma(load(vectors, q + 2 * V), s0);
      s1 = e3.fma(load(vectors, q + 3 * V), s1);
      q += pitch;
      s2 = e0.fma(load(vectors, q), s2);
      s3 = e1.fma(load(vectors, q + V), s3);
      s2 = e2.fma(load(vectors, q + 2 * V), s2);
      s3 = e3.fma(load(vectors, q + 3 * V), s3);
    }
    if (VECTORS == 1) {
      s0.add(s1).add(s2.add(s3)).intoArray(sums, to);
    } else {
      s0.add(s1).intoArray(sums, to);
      s2.add(s3).intoArray(sums, to + stride);
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

  private static FloatVector load(MemorySegment x, long at) {
    return FloatVector.fromMemorySegment(FLOAT, x, at, LE);
  }
}
