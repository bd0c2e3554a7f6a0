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
 * The one text of {@link GemvRows} for E4M3 and E5M2, of one row, or of four without scales of
 * their elements' groups. Words are loaded from one, two and three bytes before the codes as well,
 * so that each code is the highest byte of a word once:
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
 * some machines stumble. It is wrong for zeros, subnormals, infinities and NaNs. A step of a row of
 * which one code's exponent field is 0, or that has an infinity or a NaN, is found by one
 * comparison and left out; such steps are few, and {@link #careful} adds them afterwards. With u
 * the float so made and its sign put aside,
 *
 * <pre>
 *   e ≥ 1:  the value is u, and 2u − 4 ≥ u
 *   e = 0:  the value, 4 · 0.m, is 2u − 4 &lt; u, since u = 2 · 1.m
 * </pre>
 *
 * <p>and what is infinite or NaN gets the highest exponent. Which steps are left out is a row's own
 * affair, so that its sum does not depend on the rows beside it.
 */
final class GemvBytes implements GemvRows {
  private static final int GROUP;
  private static final boolean ALONE;
  private static final boolean E4M3;

  static {
    GemvFormat format = ClassCopies.data(MethodHandles.lookup(), GemvFormat.class);
    GROUP = format.group();
    ALONE = format.rows() == 1;
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

  // Constants are receivers where they can be; see GemvHalves.
  private static final ByteVector OFFSETS = ByteVector.broadcast(WIDE_BYTE, OFFSET);
  private static final ByteVector ENDS = ByteVector.broadcast(WIDE_BYTE, END);
  private static final IntVector KEPT = IntVector.broadcast(INT, SIGN | MAGNITUDE);
  private static final IntVector ADDED_BITS = IntVector.broadcast(INT, ADDED);

  /** Steps after which those left out are added: a bit for each. */
  private static final int BLOCK = Long.SIZE;

  private static final int STEP = 4 * LANES;
  private static final long V = (long) LANES * Float.BYTES;
  private static final long X_STEP = 4 * V;
  private static final int STEP_SCALES = GROUP == 0 ? 0 : STEP / GROUP;
  private static final VectorShuffle<Float> SPREAD =
      VectorShuffle.fromOp(FLOAT, lane -> GROUP == 0 ? lane : lane * 4 / GROUP);

  /**
   * Bytes before a row's first code that are read. Alone, a row's words are shifted up instead,
   * since it may be the first of the memory.
   */
  private static final int LEAD = ALONE ? 0 : 3;

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
    // Where a step 0 would be.
    long start = at - (long) first * STEP;
    int scaleStart = scale - first * STEP_SCALES;
    int end = first + steps;
    for (int i = first; i < end; i += BLOCK) {
      block(w, start, rowBytes, i, Math.min(end, i + BLOCK), x, scales, scaleStart, sums, to);
    }
  }

  /**
   * Adds the products of steps {@code first … end − 1}, at most {@link #BLOCK}, to the sums.
   *
   * @param start byte of the first row that step 0 would begin at
   * @param scale where the first row's factors of step 0 would be
   */
  private static void block(
      MemorySegment w,
      long start,
      long rowBytes,
      int first,
      int end,
      MemorySegment x,
      float[] scales,
      int scale,
      float[] sums,
      int to) {
    int count = end - first;
    // One bound for all rows: with offsets into the whole, each load is checked in each step.
    long from = start + (long) first * STEP - LEAD;
    long bytes = (long) count * STEP + LEAD;
    MemorySegment codesA = Segments.slice(w, from, bytes);
    MemorySegment codesB = ALONE ? codesA : Segments.slice(w, from + rowBytes, bytes);
    MemorySegment codesC = ALONE ? codesA : Segments.slice(w, from + 2 * rowBytes, bytes);
    MemorySegment codesD = ALONE ? codesA : Segments.slice(w, from + 3 * rowBytes, bytes);
    MemorySegment vector = Segments.slice(x, first * X_STEP, count * X_STEP);
    int scaleFrom = scale + first * STEP_SCALES;
    FloatVector zero = FloatVector.zero(FLOAT);
    FloatVector a = FloatVector.fromArray(FLOAT, sums, to);
    FloatVector b = ALONE ? zero : FloatVector.fromArray(FLOAT, sums, to + LANES);
    FloatVector c = ALONE ? zero : FloatVector.fromArray(FLOAT, sums, to + 2 * LANES);
    FloatVector d = ALONE ? zero : FloatVector.fromArray(FLOAT, sums, to + 3 * LANES);
    long aLeft = 0;
    long bLeft = 0;
    long cLeft = 0;
    long dLeft = 0;
    // Written out: methods would be compiled before this loop, and too big to be inlined.
    for (int i = 0; i < count; i++) {
      long p = (long) i * STEP + LEAD;
      long q = i * X_STEP;
      FloatVector x0 = FloatVector.fromMemorySegment(FLOAT, vector, q, LE);
      FloatVector x1 = FloatVector.fromMemorySegment(FLOAT, vector, q + V, LE);
      FloatVector x2 = FloatVector.fromMemorySegment(FLOAT, vector, q + 2 * V, LE);
      FloatVector x3 = FloatVector.fromMemorySegment(FLOAT, vector, q + 3 * V, LE);
      ByteVector code = ByteVector.fromMemorySegment(WIDE_BYTE, codesA, p, LE);
      if (ENDS.compare(VectorOperators.GT, OFFSETS.add(code.add(code))).anyTrue()) {
        aLeft |= 1L << i;
      } else {
        IntVector e3 = code.reinterpretAsInts();
        FloatVector step =
            ADDED_BITS
                .or(
                    KEPT.and(
                        (ALONE
                                ? e3.lanewise(VectorOperators.LSHL, 24)
                                : IntVector.fromMemorySegment(INT, codesA, p - 3, LE))
                            .lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x0, GROUP == 0 ? a : zero);
        step =
            ADDED_BITS
                .or(
                    KEPT.and(
                        (ALONE
                                ? e3.lanewise(VectorOperators.LSHL, 8)
                                : IntVector.fromMemorySegment(INT, codesA, p - 1, LE))
                            .lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x1, step);
        step =
            ADDED_BITS
                .or(
                    KEPT.and(
                        (ALONE
                                ? e3.lanewise(VectorOperators.LSHL, 16)
                                : IntVector.fromMemorySegment(INT, codesA, p - 2, LE))
                            .lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x2, step);
        step =
            ADDED_BITS
                .or(KEPT.and(e3.lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x3, step);
        a =
            GROUP == 0
                ? step
                : step.fma(
                    FloatVector.fromArray(FLOAT, scales, scaleFrom + i * STEP_SCALES)
                        .rearrange(SPREAD),
                    a);
      }
      if (ALONE) {
        continue;
      }
      code = ByteVector.fromMemorySegment(WIDE_BYTE, codesB, p, LE);
      if (ENDS.compare(VectorOperators.GT, OFFSETS.add(code.add(code))).anyTrue()) {
        bLeft |= 1L << i;
      } else {
        IntVector e3 = code.reinterpretAsInts();
        FloatVector step =
            ADDED_BITS
                .or(
                    KEPT.and(
                        IntVector.fromMemorySegment(INT, codesB, p - 3, LE)
                            .lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x0, b);
        step =
            ADDED_BITS
                .or(
                    KEPT.and(
                        IntVector.fromMemorySegment(INT, codesB, p - 1, LE)
                            .lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x1, step);
        step =
            ADDED_BITS
                .or(
                    KEPT.and(
                        IntVector.fromMemorySegment(INT, codesB, p - 2, LE)
                            .lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x2, step);
        step =
            ADDED_BITS
                .or(KEPT.and(e3.lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x3, step);
        b = step;
      }
      code = ByteVector.fromMemorySegment(WIDE_BYTE, codesC, p, LE);
      if (ENDS.compare(VectorOperators.GT, OFFSETS.add(code.add(code))).anyTrue()) {
        cLeft |= 1L << i;
      } else {
        IntVector e3 = code.reinterpretAsInts();
        FloatVector step =
            ADDED_BITS
                .or(
                    KEPT.and(
                        IntVector.fromMemorySegment(INT, codesC, p - 3, LE)
                            .lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x0, c);
        step =
            ADDED_BITS
                .or(
                    KEPT.and(
                        IntVector.fromMemorySegment(INT, codesC, p - 1, LE)
                            .lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x1, step);
        step =
            ADDED_BITS
                .or(
                    KEPT.and(
                        IntVector.fromMemorySegment(INT, codesC, p - 2, LE)
                            .lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x2, step);
        step =
            ADDED_BITS
                .or(KEPT.and(e3.lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x3, step);
        c = step;
      }
      code = ByteVector.fromMemorySegment(WIDE_BYTE, codesD, p, LE);
      if (ENDS.compare(VectorOperators.GT, OFFSETS.add(code.add(code))).anyTrue()) {
        dLeft |= 1L << i;
      } else {
        IntVector e3 = code.reinterpretAsInts();
        FloatVector step =
            ADDED_BITS
                .or(
                    KEPT.and(
                        IntVector.fromMemorySegment(INT, codesD, p - 3, LE)
                            .lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x0, d);
        step =
            ADDED_BITS
                .or(
                    KEPT.and(
                        IntVector.fromMemorySegment(INT, codesD, p - 1, LE)
                            .lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x1, step);
        step =
            ADDED_BITS
                .or(
                    KEPT.and(
                        IntVector.fromMemorySegment(INT, codesD, p - 2, LE)
                            .lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x2, step);
        step =
            ADDED_BITS
                .or(KEPT.and(e3.lanewise(VectorOperators.ASHR, SHIFT)))
                .reinterpretAsFloats()
                .fma(x3, step);
        d = step;
      }
    }
    FLOATS.cast(a).intoArray(sums, to);
    if (aLeft != 0) {
      careful(w, start, first, aLeft, x, scales, scale, sums, to);
    }
    if (ALONE) {
      return;
    }
    FLOATS.cast(b).intoArray(sums, to + LANES);
    FLOATS.cast(c).intoArray(sums, to + 2 * LANES);
    FLOATS.cast(d).intoArray(sums, to + 3 * LANES);
    if (bLeft != 0) {
      careful(w, start + rowBytes, first, bLeft, x, scales, scale, sums, to + LANES);
    }
    if (cLeft != 0) {
      careful(w, start + 2 * rowBytes, first, cLeft, x, scales, scale, sums, to + 2 * LANES);
    }
    if (dLeft != 0) {
      careful(w, start + 3 * rowBytes, first, dLeft, x, scales, scale, sums, to + 3 * LANES);
    }
  }

  /**
   * Adds the products of a row's steps of any codes to its sums.
   *
   * @param start byte of the row that step 0 would begin at
   * @param first the step of the lowest bit of {@code left}
   * @param left a bit for each step that is to be added
   */
  private static void careful(
      MemorySegment w,
      long start,
      int first,
      long left,
      MemorySegment x,
      float[] scales,
      int scale,
      float[] sums,
      int to) {
    MemorySegment codes = Segments.exact(w);
    MemorySegment vector = Segments.exact(x);
    FloatVector sum = FloatVector.fromArray(FLOAT, sums, to);
    for (long rest = left; rest != 0; rest &= rest - 1) {
      int i = first + Long.numberOfTrailingZeros(rest);
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
  }
}
