package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.INT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;

/**
 * Runs of F32 rounded to codes of a {@link FloatFormat}, in integer arithmetic on their bits. Every
 * method takes as many elements as fill vectors.
 *
 * <p>As in {@link dev.minifloat.codec.Codec}, a code is computed as if the format's exponent range
 * had no end; then what lies above the largest code is replaced, and last NaN. {@code over} is the
 * code of an overflow.
 *
 * <p>A loop holds its own body and calls helpers of a few operations only: one that was compiled
 * before the loop is not inlined if it is large, and what is not inlined is boxed. A body must not
 * be long either, nor call another loop. So nearest even, the usual rounding, takes one pass, and
 * the others take several over scratch memory: {@link #raise} or {@link #draw}, {@link #cut},
 * {@link #finish}, and {@link Narrow#run}.
 */
final class FloatRounding {
  private static final int SIGN = 0x80000000;
  private static final int MAGNITUDE = 0x7FFFFFFF;
  private static final int INFINITY = 0x7F800000;
  private static final int HIDDEN = 0x00800000;
  private static final int HALF_OF_LEAST_NORMAL = 0x00400000;

  private FloatRounding() {}

  private static IntVector load(MemorySegment src, long at) {
    return IntVector.fromMemorySegment(INT, src, at, LE);
  }

  /**
   * What the other methods take in place of F32s for E8M0, which has no sign and whose code 00 is
   * 2^-127, half of F32's least normal: magnitudes in which the distance from 2^-127 is the
   * fraction below that normal.
   */
  static void powerOfTwoMagnitudes(
      MemorySegment src, long from, int n, MemorySegment dst, long to) {
    for (int i = 0; i <= n - LANES; i += LANES) {
      IntVector magnitude = load(src, from + 4L * i).and(MAGNITUDE);
      IntVector above =
          magnitude.sub(HALF_OF_LEAST_NORMAL).max(0).lanewise(VectorOperators.LSHL, 1);
      magnitude
          .blend(above, magnitude.compare(VectorOperators.LT, HIDDEN))
          .intoMemorySegment(dst, to + 4L * i, LE);
    }
  }

  /** A magnitude's code with the sign, or the NaN. */
  private static IntVector signedOrNaN(IntVector bits, IntVector code, FloatFormat f) {
    IntVector sign = bits.and(SIGN).lanewise(VectorOperators.LSHR, 32 - f.bits());
    IntVector nan = sign.and(f.nanSigns()).or(f.nanCode());
    return code.or(sign).blend(nan, bits.and(MAGNITUDE).compare(VectorOperators.GT, INFINITY));
  }

  /**
   * To nearest even, for formats with a smaller exponent range than F32.
   *
   * <pre>
   *   normal     (magnitude + 0…01…1 + lowest kept bit) >>> shift, exponent rebased
   *   subnormal  |x| + 2^k, whose ulp is the format's least value: the addition rounds to it, and
   *              the sum's significand is the code
   * </pre>
   *
   * A carry runs into the exponent in either case, as it should. Returns the number of elements
   * done.
   */
  static int nearest(
      MemorySegment src, long from, int n, FloatFormat f, int over, MemorySegment dst, long to) {
    boolean wide = f.bits() > 8;
    int width = wide ? 2 : 1;
    int aligner = f.aligner();
    int half = (1 << (f.shift() - 1)) - 1 - f.rebias();
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      IntVector bits = load(src, from + 4L * i);
      IntVector magnitude = bits.and(MAGNITUDE);
      IntVector odd = magnitude.lanewise(VectorOperators.LSHR, f.shift()).and(1);
      IntVector normal = magnitude.add(odd).add(half).lanewise(VectorOperators.LSHR, f.shift());
      IntVector subnormal =
          magnitude
              .reinterpretAsFloats()
              .add(Float.intBitsToFloat(aligner))
              .reinterpretAsInts()
              .sub(aligner);
      IntVector code =
          normal.blend(subnormal, magnitude.compare(VectorOperators.LT, f.lowest() << 23));
      code = code.blend(over, code.compare(VectorOperators.GT, f.maxCode()));
      Narrow.store(signedOrNaN(bits, code, f), dst, to + (long) width * i, wide);
    }
    return i;
  }

  /**
   * To nearest even, for formats that are an F32 cut off after some bits: BF16, E8M0. Returns the
   * number of elements done.
   */
  static int nearestTruncated(
      MemorySegment src, long from, int n, FloatFormat f, int over, MemorySegment dst, long to) {
    boolean wide = f.bits() > 8;
    int width = wide ? 2 : 1;
    int half = (1 << (f.shift() - 1)) - 1;
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      IntVector bits = load(src, from + 4L * i);
      IntVector magnitude = bits.and(MAGNITUDE);
      IntVector odd = magnitude.lanewise(VectorOperators.LSHR, f.shift()).and(1);
      IntVector code = magnitude.add(odd).add(half).lanewise(VectorOperators.LSHR, f.shift());
      code = code.blend(over, code.compare(VectorOperators.GT, f.maxCode()));
      Narrow.store(signedOrNaN(bits, code, f), dst, to + (long) width * i, wide);
    }
    return i;
  }

  /** The F32 exponent field, with subnormals counted as 1. */
  private static IntVector field(IntVector magnitude) {
    return magnitude.lanewise(VectorOperators.LSHR, 23).max(1);
  }

  /** The significand with its hidden bit, which subnormals have not: their field counts as 1. */
  private static IntVector significand(IntVector magnitude, IntVector field) {
    return magnitude.sub(field.sub(1).lanewise(VectorOperators.LSHL, 23));
  }

  /** How many bits of the significand are discarded. */
  private static IntVector discarded(IntVector field, FloatFormat f) {
    return field.max(f.lowest()).sub(field).add(f.shift());
  }

  /** Toward positive: 1 in {@code steps} for each lane that is positive and inexact, else 0. */
  static void raise(MemorySegment src, long from, int n, FloatFormat f, MemorySegment steps) {
    for (int i = 0; i <= n - LANES; i += LANES) {
      IntVector bits = load(src, from + 4L * i);
      IntVector magnitude = bits.and(MAGNITUDE);
      IntVector field = field(magnitude);
      IntVector significand = significand(magnitude, field);
      IntVector shift = discarded(field, f).min(31);
      IntVector kept =
          significand.lanewise(VectorOperators.LSHR, shift).lanewise(VectorOperators.LSHL, shift);
      // A rest is not negative, so that its negation has the sign bit, unless it is 0.
      IntVector inexact = significand.sub(kept).neg().lanewise(VectorOperators.LSHR, 31);
      IntVector positive = bits.lanewise(VectorOperators.XOR, SIGN);
      inexact.and(positive.lanewise(VectorOperators.LSHR, 31)).intoMemorySegment(steps, 4L * i, LE);
    }
  }

  /**
   * Stochastic: replaces random bits by 1 where they are, unsigned, less than ⌊2^32 · discarded
   * fraction⌋, else 0. With d bits discarded, that is the discarded rest moved left by 32 − d, or
   * right by d − 32.
   */
  static void draw(MemorySegment src, long from, int n, FloatFormat f, MemorySegment random) {
    for (int i = 0; i <= n - LANES; i += LANES) {
      IntVector magnitude = load(src, from + 4L * i).and(MAGNITUDE);
      IntVector field = field(magnitude);
      IntVector significand = significand(magnitude, field);
      IntVector d = discarded(field, f);
      IntVector shift = d.min(31);
      IntVector kept =
          significand.lanewise(VectorOperators.LSHR, shift).lanewise(VectorOperators.LSHL, shift);
      IntVector threshold = threshold(significand.sub(kept), d);
      IntVector word = load(random, 4L * i);
      VectorMask<Integer> up =
          word.lanewise(VectorOperators.XOR, SIGN).compare(VectorOperators.LT, threshold);
      IntVector.zero(INT).blend(1, up).intoMemorySegment(random, 4L * i, LE);
    }
  }

  /**
   * ⌊2^32 · rest / 2^d⌋ with the sign bit turned over. Shift counts are taken modulo 32, so each is
   * held to 0 … 31; a rest has at most 24 bits.
   */
  private static IntVector threshold(IntVector rest, IntVector d) {
    IntVector left = rest.lanewise(VectorOperators.LSHL, d.neg().add(32).max(0));
    IntVector right = rest.lanewise(VectorOperators.LSHR, d.sub(32).max(0).min(31));
    return left.blend(right, d.compare(VectorOperators.GT, 32)).lanewise(VectorOperators.XOR, SIGN);
  }

  /**
   * Adds to {@code steps} the codes of magnitudes that are cut off, as if there were no largest
   * one. The exponent part is the number of binades above the subnormals; the hidden bit adds one.
   */
  static void cut(MemorySegment src, long from, int n, FloatFormat f, MemorySegment steps) {
    for (int i = 0; i <= n - LANES; i += LANES) {
      IntVector magnitude = load(src, from + 4L * i).and(MAGNITUDE);
      IntVector field = field(magnitude);
      IntVector held = field.max(f.lowest());
      IntVector shift = held.sub(field).add(f.shift()).min(31);
      IntVector kept = significand(magnitude, field).lanewise(VectorOperators.LSHR, shift);
      IntVector binades = held.sub(f.lowest()).lanewise(VectorOperators.LSHL, f.mantissaBits());
      load(steps, 4L * i).add(kept).add(binades).intoMemorySegment(steps, 4L * i, LE);
    }
  }

  /**
   * Gives codes of magnitudes their signs, limits and NaN, in place. An infinity becomes {@code
   * over}, another overflow {@code positive} or {@code negative} by its sign.
   */
  static void finish(
      MemorySegment src,
      long from,
      int n,
      FloatFormat f,
      int over,
      int positive,
      int negative,
      MemorySegment codes) {
    for (int i = 0; i <= n - LANES; i += LANES) {
      IntVector bits = load(src, from + 4L * i);
      IntVector limit =
          bits.lanewise(VectorOperators.ASHR, 31)
              .and(positive ^ negative)
              .lanewise(VectorOperators.XOR, positive);
      IntVector code = load(codes, 4L * i);
      code = code.blend(limit, code.compare(VectorOperators.GT, f.maxCode()));
      code = code.blend(over, bits.and(MAGNITUDE).compare(VectorOperators.EQ, INFINITY));
      signedOrNaN(bits, code, f).intoMemorySegment(codes, 4L * i, LE);
    }
  }
}
