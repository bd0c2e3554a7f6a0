package dev.minifloat.cpu.internal.gemv;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.DType;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The one text of {@link GemvRows} for F32 and BF16. Each row has two sums, of the even and of the
 * odd vectors, as in {@link GemvWords}, which takes the rows that are left.
 */
final class GemvQuads implements GemvRows {
  private static final boolean BF16;

  static {
    GemvFormat format = ClassCopies.data(MethodHandles.lookup(), GemvFormat.class);
    BF16 = format.dtype() == DType.BF16;
  }

  private static final long V = (long) LANES * Float.BYTES;

  /** A turn takes two vectors of activations. */
  private static final long X_TURN = 2 * V;

  private static final long TURN = BF16 ? V : 2 * V;
  private static final int HIGH = 0xFFFF0000;

  GemvQuads() {}

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
    MemorySegment vector = Segments.exact(x);
    FloatVector zero = FloatVector.zero(FLOAT);
    FloatVector a0 = FloatVector.fromArray(FLOAT, sums, to);
    FloatVector b0 = FloatVector.fromArray(FLOAT, sums, to + LANES);
    FloatVector c0 = FloatVector.fromArray(FLOAT, sums, to + 2 * LANES);
    FloatVector d0 = FloatVector.fromArray(FLOAT, sums, to + 3 * LANES);
    FloatVector a1 = zero;
    FloatVector b1 = zero;
    FloatVector c1 = zero;
    FloatVector d1 = zero;
    int begin = 2 * first;
    int end = 2 * (first + steps);
    long start = at - begin * TURN;
    for (int i = begin; i < end; i++) {
      long p = start + i * TURN;
      FloatVector x0 = FloatVector.fromMemorySegment(FLOAT, vector, i * X_TURN, LE);
      FloatVector x1 = FloatVector.fromMemorySegment(FLOAT, vector, i * X_TURN + V, LE);
      if (BF16) {
        IntVector a = IntVector.fromMemorySegment(INT, words, p, LE);
        a0 = a.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats().fma(x0, a0);
        a1 = a.and(HIGH).reinterpretAsFloats().fma(x1, a1);
        IntVector b = IntVector.fromMemorySegment(INT, words, p + rowBytes, LE);
        b0 = b.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats().fma(x0, b0);
        b1 = b.and(HIGH).reinterpretAsFloats().fma(x1, b1);
        IntVector c = IntVector.fromMemorySegment(INT, words, p + 2 * rowBytes, LE);
        c0 = c.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats().fma(x0, c0);
        c1 = c.and(HIGH).reinterpretAsFloats().fma(x1, c1);
        IntVector d = IntVector.fromMemorySegment(INT, words, p + 3 * rowBytes, LE);
        d0 = d.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats().fma(x0, d0);
        d1 = d.and(HIGH).reinterpretAsFloats().fma(x1, d1);
        continue;
      }
      a0 = FloatVector.fromMemorySegment(FLOAT, words, p, LE).fma(x0, a0);
      a1 = FloatVector.fromMemorySegment(FLOAT, words, p + V, LE).fma(x1, a1);
      p += rowBytes;
      b0 = FloatVector.fromMemorySegment(FLOAT, words, p, LE).fma(x0, b0);
      b1 = FloatVector.fromMemorySegment(FLOAT, words, p + V, LE).fma(x1, b1);
      p += rowBytes;
      c0 = FloatVector.fromMemorySegment(FLOAT, words, p, LE).fma(x0, c0);
      c1 = FloatVector.fromMemorySegment(FLOAT, words, p + V, LE).fma(x1, c1);
      p += rowBytes;
      d0 = FloatVector.fromMemorySegment(FLOAT, words, p, LE).fma(x0, d0);
      d1 = FloatVector.fromMemorySegment(FLOAT, words, p + V, LE).fma(x1, d1);
    }
    FLOATS.cast(a0).add(a1).intoArray(sums, to);
    FLOATS.cast(b0).add(b1).intoArray(sums, to + LANES);
    FLOATS.cast(c0).add(c1).intoArray(sums, to + 2 * LANES);
    FLOATS.cast(d0).add(d1).intoArray(sums, to + 3 * LANES);
  }
}
