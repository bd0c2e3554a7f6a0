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
 * The one text of {@link GemvSquare} for F32 and BF16. A turn takes a vector of 32-bit words of
 * each row: of BF16 first the even elements, the words' low halves, then the odd ones; exact,
 * infinities and NaNs too.
 */
final class GemvSquares implements GemvSquare {
  private static final boolean BF16 =
      ClassCopies.data(MethodHandles.lookup(), DType.class) == DType.BF16;

  private static final long V = (long) LANES * Float.BYTES;
  private static final long X_TURN = (BF16 ? 2L : 1L) * SIDE * V;
  private static final int HIGH = 0xFFFF0000;

  GemvSquares() {}

  @Override
  public void multiply(
      MemorySegment w,
      long at,
      long rowBytes,
      MemorySegment x,
      int first,
      int turns,
      float[] lanes,
      int to,
      int stride) {
    // Slices of one length: with offsets of its own for each row the loop checks three of them.
    long bytes = turns * V;
    MemorySegment as = Segments.slice(w, at, bytes);
    MemorySegment bs = Segments.slice(w, at + rowBytes, bytes);
    MemorySegment cs = Segments.slice(w, at + 2 * rowBytes, bytes);
    MemorySegment ds = Segments.slice(w, at + 3 * rowBytes, bytes);
    MemorySegment vectors = Segments.slice(x, first * X_TURN, turns * X_TURN);
    FloatVector a0 = FloatVector.fromArray(FLOAT, lanes, to);
    FloatVector b0 = FloatVector.fromArray(FLOAT, lanes, to + LANES);
    FloatVector c0 = FloatVector.fromArray(FLOAT, lanes, to + 2 * LANES);
    FloatVector d0 = FloatVector.fromArray(FLOAT, lanes, to + 3 * LANES);
    FloatVector a1 = FloatVector.fromArray(FLOAT, lanes, to + stride);
    FloatVector b1 = FloatVector.fromArray(FLOAT, lanes, to + stride + LANES);
    FloatVector c1 = FloatVector.fromArray(FLOAT, lanes, to + stride + 2 * LANES);
    FloatVector d1 = FloatVector.fromArray(FLOAT, lanes, to + stride + 3 * LANES);
    FloatVector a2 = FloatVector.fromArray(FLOAT, lanes, to + 2 * stride);
    FloatVector b2 = FloatVector.fromArray(FLOAT, lanes, to + 2 * stride + LANES);
    FloatVector c2 = FloatVector.fromArray(FLOAT, lanes, to + 2 * stride + 2 * LANES);
    FloatVector d2 = FloatVector.fromArray(FLOAT, lanes, to + 2 * stride + 3 * LANES);
    FloatVector a3 = FloatVector.fromArray(FLOAT, lanes, to + 3 * stride);
    FloatVector b3 = FloatVector.fromArray(FLOAT, lanes, to + 3 * stride + LANES);
    FloatVector c3 = FloatVector.fromArray(FLOAT, lanes, to + 3 * stride + 2 * LANES);
    FloatVector d3 = FloatVector.fromArray(FLOAT, lanes, to + 3 * stride + 3 * LANES);
    for (int i = 0; i < turns; i++) {
      long p = i * V;
      long q = i * X_TURN;
      IntVector a = IntVector.fromMemorySegment(INT, as, p, LE);
      IntVector b = IntVector.fromMemorySegment(INT, bs, p, LE);
      IntVector c = IntVector.fromMemorySegment(INT, cs, p, LE);
      IntVector d = IntVector.fromMemorySegment(INT, ds, p, LE);
      FloatVector aw = (BF16 ? a.lanewise(VectorOperators.LSHL, 16) : a).reinterpretAsFloats();
      FloatVector bw = (BF16 ? b.lanewise(VectorOperators.LSHL, 16) : b).reinterpretAsFloats();
      FloatVector cw = (BF16 ? c.lanewise(VectorOperators.LSHL, 16) : c).reinterpretAsFloats();
      FloatVector dw = (BF16 ? d.lanewise(VectorOperators.LSHL, 16) : d).reinterpretAsFloats();
      FloatVector y = FloatVector.fromMemorySegment(FLOAT, vectors, q, LE);
      a0 = aw.fma(y, a0);
      b0 = bw.fma(y, b0);
      c0 = cw.fma(y, c0);
      d0 = dw.fma(y, d0);
      y = FloatVector.fromMemorySegment(FLOAT, vectors, q + V, LE);
      a1 = aw.fma(y, a1);
      b1 = bw.fma(y, b1);
      c1 = cw.fma(y, c1);
      d1 = dw.fma(y, d1);
      y = FloatVector.fromMemorySegment(FLOAT, vectors, q + 2 * V, LE);
      a2 = aw.fma(y, a2);
      b2 = bw.fma(y, b2);
      c2 = cw.fma(y, c2);
      d2 = dw.fma(y, d2);
      y = FloatVector.fromMemorySegment(FLOAT, vectors, q + 3 * V, LE);
      a3 = aw.fma(y, a3);
      b3 = bw.fma(y, b3);
      c3 = cw.fma(y, c3);
      d3 = dw.fma(y, d3);
      if (!BF16) {
        continue;
      }
      aw = a.and(HIGH).reinterpretAsFloats();
      bw = b.and(HIGH).reinterpretAsFloats();
      cw = c.and(HIGH).reinterpretAsFloats();
      dw = d.and(HIGH).reinterpretAsFloats();
      y = FloatVector.fromMemorySegment(FLOAT, vectors, q + 4 * V, LE);
      a0 = aw.fma(y, a0);
      b0 = bw.fma(y, b0);
      c0 = cw.fma(y, c0);
      d0 = dw.fma(y, d0);
      y = FloatVector.fromMemorySegment(FLOAT, vectors, q + 5 * V, LE);
      a1 = aw.fma(y, a1);
      b1 = bw.fma(y, b1);
      c1 = cw.fma(y, c1);
      d1 = dw.fma(y, d1);
      y = FloatVector.fromMemorySegment(FLOAT, vectors, q + 6 * V, LE);
      a2 = aw.fma(y, a2);
      b2 = bw.fma(y, b2);
      c2 = cw.fma(y, c2);
      d2 = dw.fma(y, d2);
      y = FloatVector.fromMemorySegment(FLOAT, vectors, q + 7 * V, LE);
      a3 = aw.fma(y, a3);
      b3 = bw.fma(y, b3);
      c3 = cw.fma(y, c3);
      d3 = dw.fma(y, d3);
    }
    FLOATS.cast(a0).intoArray(lanes, to);
    FLOATS.cast(b0).intoArray(lanes, to + LANES);
    FLOATS.cast(c0).intoArray(lanes, to + 2 * LANES);
    FLOATS.cast(d0).intoArray(lanes, to + 3 * LANES);
    FLOATS.cast(a1).intoArray(lanes, to + stride);
    FLOATS.cast(b1).intoArray(lanes, to + stride + LANES);
    FLOATS.cast(c1).intoArray(lanes, to + stride + 2 * LANES);
    FLOATS.cast(d1).intoArray(lanes, to + stride + 3 * LANES);
    FLOATS.cast(a2).intoArray(lanes, to + 2 * stride);
    FLOATS.cast(b2).intoArray(lanes, to + 2 * stride + LANES);
    FLOATS.cast(c2).intoArray(lanes, to + 2 * stride + 2 * LANES);
    FLOATS.cast(d2).intoArray(lanes, to + 2 * stride + 3 * LANES);
    FLOATS.cast(a3).intoArray(lanes, to + 3 * stride);
    FLOATS.cast(b3).intoArray(lanes, to + 3 * stride + LANES);
    FLOATS.cast(c3).intoArray(lanes, to + 3 * stride + 2 * LANES);
    FLOATS.cast(d3).intoArray(lanes, to + 3 * stride + 3 * LANES);
  }
}
