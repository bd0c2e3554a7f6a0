package dev.minifloat.cpu.internal.gemv;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;
import static dev.minifloat.cpu.internal.runtime.Species.WIDE_BYTE;

import dev.minifloat.DType;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;

/**
 * The one text of {@link GemvRows} for E4M3 and E5M2. Words are loaded from one, two and three
 * bytes before the codes as well, so that each code is the highest byte of a word once:
 *
 * <pre>
 *   E4M3    s eeee mmm ........ ........ ........      E5M2    s eeeee mm ........ …
 *   &gt;&gt; 4    s ssss eeee mmm .…                         &gt;&gt; 3    s sss eeeee mm .…
 *   &amp;, |    s 1000 eeee mmm 00…                         &amp;, |    s 100 eeeee mm 00…
 *           1 |  8bits| 23 bits   of an F32                    1 | 8 bits | 23 bits
 * </pre>
 *
 * <p>The added bit makes the exponent 2^8 (E5M2: 2^16) times too large, which the factor of the
 * row's sum undoes ({@link GemvFormat#exponent}), and keeps every float a normal one: at subnormals
 * some machines stumble. It is wrong for zeros, subnormals, infinities and NaNs. A step of which
 * one code's exponent field is 0, or that has an infinity or a NaN, is found by one comparison and
 * goes to {@link #careful}, with a few steps after it. With u the float so made and its sign put
 * aside,
 *
 * <pre>
 *   e ≥ 1:  the value is u, and 2u − 4 ≥ u
 *   e = 0:  the value, 4 · 0.m, is 2u − 4 &lt; u, since u = 2 · 1.m
 * </pre>
 *
 * <p>and what is infinite or NaN gets the highest exponent.
 */
final class GemvBytes implements GemvRows {
  private static final int GROUP;
  private static final boolean E4M3;

  static {
    GemvFormat format = ClassCopies.data(MethodHandles.lookup(), GemvFormat.class);
    GROUP = format.group();
    E4M3 = format.dtype() == DType.F8_E4M3;
  }

  private static final int SHIFT = E4M3 ? 4 : 3;
  private static final int MAGNITUDE = E4M3 ? 0x07F00000 : 0x0FE00000;
  private static final int SIGN = 0x80000000;
  private static final int ADDED = 0x40000000;

  /** The least magnitude, with the added bit, that is infinite or NaN. */
  private static final int SPECIAL = E4M3 ? 0x47F00000 : 0x4F800000;

  private static final int INFINITE = 0x7F800000;

  /**
   * With these the codes that are not simple are found. Twice a code, which drops its sign, plus 2
   * (E5M2: 8), as an unsigned byte, is below 18 (16) just for exponents of 0 and, past the end, for
   * special codes. As a signed byte, which compares faster, it is 128 less.
   */
  private static final byte OFFSET = (byte) ((E4M3 ? 2 : 8) - 128);

  private static final byte END = (byte) ((E4M3 ? 18 : 16) - 128);

  /**
   * Steps that are taken with care where one must be: where there is one such, there may be more.
   */
  private static final int CAREFUL_STEPS = 8;

  private static final int STEP = 4 * LANES;
  private static final long V = (long) LANES * Float.BYTES;
  private static final long X_STEP = 4 * V;
  private static final int STEP_SCALES = GROUP == 0 ? 0 : STEP / GROUP;
  private static final VectorShuffle<Float> SPREAD =
      VectorShuffle.fromOp(FLOAT, lane -> GROUP == 0 ? lane : lane * 4 / GROUP);

  GemvBytes() {}

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
    // The words of the first codes of all would begin before the memory does.
    long start = at - (long) first * STEP;
    int scaleStart = scale - first * STEP_SCALES;
    int i = first;
    int last = first + steps;
    int end = at < 3 ? i + 1 : i;
    while (true) {
      if (i < end) {
        i = careful(w, start, i, end, x, scales, scaleStart, sums, to);
      }
      i = simple(w, start, i, last, x, scales, scaleStart, sums, to);
      if (i == last) {
        return;
      }
      end = Math.min(last, i + CAREFUL_STEPS);
    }
  }

  /**
   * Adds the products of steps {@code first … end − 1} to the sums, up to the first with a code
   * that is not simple.
   *
   * @param start byte of the row that step 0 would begin at
   * @return the step that was not taken, or {@code end}
   */
  private static int simple(
      MemorySegment w,
      long start,
      int first,
      int end,
      MemorySegment x,
      float[] scales,
      int scale,
      float[] sums,
      int to) {
    MemorySegment codes = Segments.exact(w);
    MemorySegment vector = Segments.exact(x);
    FloatVector zero = FloatVector.zero(FLOAT);
    FloatVector s0 = FloatVector.fromArray(FLOAT, sums, to);
    FloatVector s1 = zero;
    FloatVector s2 = zero;
    FloatVector s3 = zero;
    int i = first;
    // Steps are written out: methods would be compiled before this loop, and too big to be inlined.
    for (; i < end; i++) {
      long p = start + (long) i * STEP;
      long q = i * X_STEP;
      ByteVector code = ByteVector.fromMemorySegment(WIDE_BYTE, codes, p, LE);
      if (code.add(code).add(OFFSET).compare(VectorOperators.LT, END).anyTrue()) {
        break;
      }
      FloatVector e3 =
          code.reinterpretAsInts()
              .lanewise(VectorOperators.ASHR, SHIFT)
              .and(SIGN | MAGNITUDE)
              .or(ADDED)
              .reinterpretAsFloats();
      FloatVector e0 =
          IntVector.fromMemorySegment(INT, codes, p - 3, LE)
              .lanewise(VectorOperators.ASHR, SHIFT)
              .and(SIGN | MAGNITUDE)
              .or(ADDED)
              .reinterpretAsFloats();
      FloatVector e2 =
          IntVector.fromMemorySegment(INT, codes, p - 1, LE)
              .lanewise(VectorOperators.ASHR, SHIFT)
              .and(SIGN | MAGNITUDE)
              .or(ADDED)
              .reinterpretAsFloats();
      FloatVector e1 =
          IntVector.fromMemorySegment(INT, codes, p - 2, LE)
              .lanewise(VectorOperators.ASHR, SHIFT)
              .and(SIGN | MAGNITUDE)
              .or(ADDED)
              .reinterpretAsFloats();
      if (GROUP != 0) {
        FloatVector even = e0.mul(FloatVector.fromMemorySegment(FLOAT, vector, q, LE));
        FloatVector odd = e1.mul(FloatVector.fromMemorySegment(FLOAT, vector, q + 2 * V, LE));
        even = e2.fma(FloatVector.fromMemorySegment(FLOAT, vector, q + V, LE), even);
        odd = e3.fma(FloatVector.fromMemorySegment(FLOAT, vector, q + 3 * V, LE), odd);
        FloatVector factor =
            FloatVector.fromArray(FLOAT, scales, scale + i * STEP_SCALES).rearrange(SPREAD);
        s0 = even.fma(factor, s0);
        s1 = odd.fma(factor, s1);
        continue;
      }
      s0 = e0.fma(FloatVector.fromMemorySegment(FLOAT, vector, q, LE), s0);
      s1 = e2.fma(FloatVector.fromMemorySegment(FLOAT, vector, q + V, LE), s1);
      s2 = e1.fma(FloatVector.fromMemorySegment(FLOAT, vector, q + 2 * V, LE), s2);
      s3 = e3.fma(FloatVector.fromMemorySegment(FLOAT, vector, q + 3 * V, LE), s3);
    }
    FLOATS.cast(s0).add(s1).add(FLOATS.cast(s2).add(s3)).intoArray(sums, to);
    return i;
  }

  /**
   * Adds the products of steps {@code first … end − 1}, of any codes, to the sums.
   *
   * @return {@code end}
   */
  private static int careful(
      MemorySegment w,
      long start,
      int first,
      int end,
      MemorySegment x,
      float[] scales,
      int scale,
      float[] sums,
      int to) {
    MemorySegment codes = Segments.exact(w);
    MemorySegment vector = Segments.exact(x);
    FloatVector sum = FloatVector.fromArray(FLOAT, sums, to);
    for (int i = first; i < end; i++) {
      IntVector word = IntVector.fromMemorySegment(INT, codes, start + (long) i * STEP, LE);
      FloatVector step = FloatVector.zero(FLOAT);
      // Written out four times it would be too much for the compiler.
      for (int part = 0; part < 4; part++) {
        int place = (part & 1) << 1 | part >> 1;
        IntVector shifted =
            word.lanewise(VectorOperators.LSHL, 24 - 8 * place)
                .lanewise(VectorOperators.ASHR, SHIFT);
        IntVector u = shifted.and(MAGNITUDE).or(ADDED);
        IntVector twice = u.add(1 << 23).reinterpretAsFloats().sub(4).reinterpretAsInts();
        step =
            u.min(twice)
                .blend(u.or(INFINITE), u.compare(VectorOperators.GE, SPECIAL))
                .or(shifted.and(SIGN))
                .reinterpretAsFloats()
                .fma(FloatVector.fromMemorySegment(FLOAT, vector, i * X_STEP + part * V, LE), step);
      }
      if (GROUP == 0) {
        sum = FLOATS.cast(sum).add(FLOATS.cast(step));
      } else {
        FloatVector factors = FloatVector.fromArray(FLOAT, scales, scale + i * STEP_SCALES);
        sum = FLOATS.cast(step).fma(factors.rearrange(SPREAD), sum);
      }
    }
    FLOATS.cast(sum).intoArray(sums, to);
    return end;
  }
}
