package dev.minifloat.cpu.internal.gemv;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
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
 * The one text of {@link GemvRows} for F32, BF16 and I8, whose elements are had from a word by a
 * shift or two; exact, infinities and NaNs too.
 *
 * <p>A step takes four vectors of elements, in four, two or one loads, to two sums for each vector
 * of activations; of I8, which {@link GemvQuads} doesn't take, to four for a single one.
 */
final class GemvWords implements GemvRows {
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

  private static final int HIGH = 0xFFFF0000;

  GemvWords() {}

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
    MemorySegment words = Segments.exact(w);
    MemorySegment vectors = Segments.exact(x);
    FloatVector zero = FloatVector.zero(FLOAT);
    FloatVector s0 = FloatVector.fromArray(FLOAT, sums, to);
    FloatVector s1 = zero;
    FloatVector s2 = VECTORS > 1 ? FloatVector.fromArray(FLOAT, sums, to + stride) : zero;
    FloatVector s3 = zero;
    int end = first + steps;
    long start = at - first * STEP_BYTES;
    // Written out: methods would be compiled before this loop, and too big to be inlined.
    for (int i = first; i < end; i++) {
      long p = start + i * STEP_BYTES;
      long q = i * X_STEP;
      IntVector w0 = IntVector.fromMemorySegment(INT, words, p, LE);
      IntVector w1 = PARTS == 1 ? IntVector.fromMemorySegment(INT, words, p + V, LE) : w0;
      IntVector w2 =
          PARTS == 4 ? w0 : IntVector.fromMemorySegment(INT, words, p + 2 / PARTS * V, LE);
      IntVector w3 = PARTS == 1 ? IntVector.fromMemorySegment(INT, words, p + 3 * V, LE) : w2;
      FloatVector e0 =
          PARTS == 4
              ? FLOATS.cast(
                  w0.lanewise(VectorOperators.LSHL, 24)
                      .lanewise(VectorOperators.ASHR, 24)
                      .convert(VectorOperators.I2F, 0))
              : (PARTS == 2 ? w0.lanewise(VectorOperators.LSHL, 16) : w0).reinterpretAsFloats();
      FloatVector e1 =
          PARTS == 4
              ? FLOATS.cast(
                  w1.lanewise(VectorOperators.LSHL, 8)
                      .lanewise(VectorOperators.ASHR, 24)
                      .convert(VectorOperators.I2F, 0))
              : (PARTS == 2 ? w1.and(HIGH) : w1).reinterpretAsFloats();
      FloatVector e2 =
          PARTS == 4
              ? FLOATS.cast(
                  w2.lanewise(VectorOperators.LSHL, 16)
                      .lanewise(VectorOperators.ASHR, 24)
                      .convert(VectorOperators.I2F, 0))
              : (PARTS == 2 ? w2.lanewise(VectorOperators.LSHL, 16) : w2).reinterpretAsFloats();
      FloatVector e3 =
          PARTS == 4
              ? FLOATS.cast(w3.lanewise(VectorOperators.ASHR, 24).convert(VectorOperators.I2F, 0))
              : (PARTS == 2 ? w3.and(HIGH) : w3).reinterpretAsFloats();
      s0 = e0.fma(FloatVector.fromMemorySegment(FLOAT, vectors, q, LE), s0);
      s1 = e1.fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + V, LE), s1);
      if (VECTORS == 1 && PARTS == 4) {
        s2 = e2.fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 2 * V, LE), s2);
        s3 = e3.fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 3 * V, LE), s3);
        continue;
      }
      s0 = e2.fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 2 * V, LE), s0);
      s1 = e3.fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 3 * V, LE), s1);
      if (VECTORS == 1) {
        continue;
      }
      q += pitch;
      s2 = e0.fma(FloatVector.fromMemorySegment(FLOAT, vectors, q, LE), s2);
      s3 = e1.fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + V, LE), s3);
      s2 = e2.fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 2 * V, LE), s2);
      s3 = e3.fma(FloatVector.fromMemorySegment(FLOAT, vectors, q + 3 * V, LE), s3);
    }
    if (VECTORS == 1) {
      FLOATS.cast(s0).add(s1).add(FLOATS.cast(s2).add(s3)).intoArray(sums, to);
    } else {
      FLOATS.cast(s0).add(s1).intoArray(sums, to);
      FLOATS.cast(s2).add(s3).intoArray(sums, to + stride);
    }
  }
}
