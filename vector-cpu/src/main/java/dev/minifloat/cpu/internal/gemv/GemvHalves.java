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
 * The one text of {@link GemvRows} for F16, of one row and of four. Of a word's two elements the
 * upper one is at its top, and the lower one after a shift by 16:
 *
 * <pre>
 *   word    s eeeee mmmmmmmmmm ................
 *   &gt;&gt; 3    s sss eeeee mmmmmmmmmm .............
 *   &amp;, |    s 111 eeeee mmmmmmmmmm 0000000000000
 *             8 bits  | 23 bits                    of an F32
 * </pre>
 *
 * <p>The added bits make the exponent 2^112 too large, which the factor of the row's sum undoes
 * ({@link GemvFormat#exponent}), and keep every float a normal one: at subnormals some machines
 * stumble. With u the float so made, its sign put aside,
 *
 * <pre>
 *   e ≥ 1:  the value is u, and 2u − 2^98 ≥ u
 *   e = 0:  the value, 2^98 · 0.m, is 2u − 2^98 &lt; u, since u = 2^97 · 1.m
 * </pre>
 *
 * <p>so that the lesser of both is right for subnormals and zeros too; −0 may become +0, which no
 * sum shows. Floats of one sign compare by their bits. Infinities and NaNs become those of F32.
 *
 * <p>The compiler has the machine's conversion, but only for plain loops from and to arrays; what
 * they widen would have to pass through memory.
 */
final class GemvHalves implements GemvRows {
  private static final boolean ALONE =
      ClassCopies.data(MethodHandles.lookup(), GemvFormat.class).rows() == 1;

  private static final long V = (long) LANES * Float.BYTES;

  /** A turn takes a vector of words and two of activations. */
  private static final long X_TURN = 2 * V;

  /**
   * Constants are receivers wherever they can be: so long a body is inlined late in part, when what
   * operations have made is of no known class yet; see {@link
   * dev.minifloat.cpu.internal.runtime.Exact}.
   */
  private static final IntVector SIGN = IntVector.broadcast(INT, 0x80000000);

  private static final IntVector KEPT = IntVector.broadcast(INT, 0x8FFFE000);
  private static final IntVector ADDED = IntVector.broadcast(INT, 0x70000000);

  /** The bits of −2^98. */
  private static final IntVector HIDDEN =
      IntVector.broadcast(INT, Float.floatToRawIntBits(-0x1p98f));

  private static final FloatVector TWO = FloatVector.broadcast(FLOAT, 2);

  GemvHalves() {}

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
    FloatVector a = FloatVector.fromArray(FLOAT, sums, to);
    FloatVector b = ALONE ? zero : FloatVector.fromArray(FLOAT, sums, to + LANES);
    FloatVector c = ALONE ? zero : FloatVector.fromArray(FLOAT, sums, to + 2 * LANES);
    FloatVector d = ALONE ? zero : FloatVector.fromArray(FLOAT, sums, to + 3 * LANES);
    int begin = 2 * first;
    int end = 2 * (first + steps);
    long start = at - begin * V;
    // Written out: methods would be compiled before this loop, and too big to be inlined.
    for (int i = begin; i < end; i++) {
      long p = start + i * V;
      FloatVector x0 = FloatVector.fromMemorySegment(FLOAT, vector, i * X_TURN, LE);
      FloatVector x1 = FloatVector.fromMemorySegment(FLOAT, vector, i * X_TURN + V, LE);
      IntVector e1 = IntVector.fromMemorySegment(INT, words, p, LE);
      IntVector e0 = e1.lanewise(VectorOperators.LSHL, 16);
      e0 = ADDED.or(KEPT.and(e0.lanewise(VectorOperators.ASHR, 3)));
      a =
          e0.lanewise(
                  VectorOperators.UMIN,
                  TWO.fma(
                          e0.reinterpretAsFloats(),
                          HIDDEN.lanewise(VectorOperators.XOR, SIGN.and(e0)).reinterpretAsFloats())
                      .reinterpretAsInts())
              .reinterpretAsFloats()
              .fma(x0, a);
      e1 = ADDED.or(KEPT.and(e1.lanewise(VectorOperators.ASHR, 3)));
      a =
          e1.lanewise(
                  VectorOperators.UMIN,
                  TWO.fma(
                          e1.reinterpretAsFloats(),
                          HIDDEN.lanewise(VectorOperators.XOR, SIGN.and(e1)).reinterpretAsFloats())
                      .reinterpretAsInts())
              .reinterpretAsFloats()
              .fma(x1, a);
      if (ALONE) {
        continue;
      }

      e1 = IntVector.fromMemorySegment(INT, words, p + rowBytes, LE);
      e0 = e1.lanewise(VectorOperators.LSHL, 16);
      e0 = ADDED.or(KEPT.and(e0.lanewise(VectorOperators.ASHR, 3)));
      b =
          e0.lanewise(
                  VectorOperators.UMIN,
                  TWO.fma(
                          e0.reinterpretAsFloats(),
                          HIDDEN.lanewise(VectorOperators.XOR, SIGN.and(e0)).reinterpretAsFloats())
                      .reinterpretAsInts())
              .reinterpretAsFloats()
              .fma(x0, b);
      e1 = ADDED.or(KEPT.and(e1.lanewise(VectorOperators.ASHR, 3)));
      b =
          e1.lanewise(
                  VectorOperators.UMIN,
                  TWO.fma(
                          e1.reinterpretAsFloats(),
                          HIDDEN.lanewise(VectorOperators.XOR, SIGN.and(e1)).reinterpretAsFloats())
                      .reinterpretAsInts())
              .reinterpretAsFloats()
              .fma(x1, b);

      e1 = IntVector.fromMemorySegment(INT, words, p + 2 * rowBytes, LE);
      e0 = e1.lanewise(VectorOperators.LSHL, 16);
      e0 = ADDED.or(KEPT.and(e0.lanewise(VectorOperators.ASHR, 3)));
      c =
          e0.lanewise(
                  VectorOperators.UMIN,
                  TWO.fma(
                          e0.reinterpretAsFloats(),
                          HIDDEN.lanewise(VectorOperators.XOR, SIGN.and(e0)).reinterpretAsFloats())
                      .reinterpretAsInts())
              .reinterpretAsFloats()
              .fma(x0, c);
      e1 = ADDED.or(KEPT.and(e1.lanewise(VectorOperators.ASHR, 3)));
      c =
          e1.lanewise(
                  VectorOperators.UMIN,
                  TWO.fma(
                          e1.reinterpretAsFloats(),
                          HIDDEN.lanewise(VectorOperators.XOR, SIGN.and(e1)).reinterpretAsFloats())
                      .reinterpretAsInts())
              .reinterpretAsFloats()
              .fma(x1, c);

      e1 = IntVector.fromMemorySegment(INT, words, p + 3 * rowBytes, LE);
      e0 = e1.lanewise(VectorOperators.LSHL, 16);
      e0 = ADDED.or(KEPT.and(e0.lanewise(VectorOperators.ASHR, 3)));
      d =
          e0.lanewise(
                  VectorOperators.UMIN,
                  TWO.fma(
                          e0.reinterpretAsFloats(),
                          HIDDEN.lanewise(VectorOperators.XOR, SIGN.and(e0)).reinterpretAsFloats())
                      .reinterpretAsInts())
              .reinterpretAsFloats()
              .fma(x0, d);
      e1 = ADDED.or(KEPT.and(e1.lanewise(VectorOperators.ASHR, 3)));
      d =
          e1.lanewise(
                  VectorOperators.UMIN,
                  TWO.fma(
                          e1.reinterpretAsFloats(),
                          HIDDEN.lanewise(VectorOperators.XOR, SIGN.and(e1)).reinterpretAsFloats())
                      .reinterpretAsInts())
              .reinterpretAsFloats()
              .fma(x1, d);
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
