package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.FLOAT;
import static dev.minifloat.cpu.internal.Species.INT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;

/**
 * Runs of F32 rounded to integers of [−max − 1, max], for max of at most 2^22; NaN gives 0. The
 * bounds are integers, so values are held to them before they are rounded. Each method takes as
 * many elements as fill vectors, writes a byte each of the bits in {@code mask}, and returns their
 * number. What {@link FloatRounding} says of helpers holds here too.
 */
final class IntegerRounding {
  private static final int SIGN = 0x80000000;

  /** 1.5 · 2^23, whose ulp is 1: adding it rounds to nearest even. */
  private static final float ALIGNER = 0x1.8p23f;

  private IntegerRounding() {}

  private static FloatVector clamped(MemorySegment src, long at, float max) {
    FloatVector x = FloatVector.fromMemorySegment(FLOAT, src, at, LE);
    return x.blend(max, x.compare(VectorOperators.GT, max))
        .blend(-max - 1, x.compare(VectorOperators.LT, -max - 1))
        .blend(0, x.test(VectorOperators.IS_NAN));
  }

  private static IntVector truncated(FloatVector x) {
    return (IntVector) x.convert(VectorOperators.F2I, 0);
  }

  private static FloatVector floats(IntVector x) {
    return (FloatVector) x.convert(VectorOperators.I2F, 0);
  }

  static int nearest(
      MemorySegment src, long from, int n, float max, int mask, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      FloatVector x = clamped(src, from + 4L * i, max);
      IntVector code = truncated(x.add(ALIGNER).sub(ALIGNER));
      Narrow.store(code.and(mask), dst, to + i, false);
    }
    return i;
  }

  /** Toward zero. */
  static int cut(
      MemorySegment src, long from, int n, float max, int mask, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      IntVector code = truncated(clamped(src, from + 4L * i, max));
      Narrow.store(code.and(mask), dst, to + i, false);
    }
    return i;
  }

  static int towardPositive(
      MemorySegment src, long from, int n, float max, int mask, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      FloatVector x = clamped(src, from + 4L * i, max);
      IntVector cut = truncated(x);
      VectorMask<Integer> below = floats(cut).compare(VectorOperators.LT, x).cast(INT);
      IntVector code = cut.blend(cut.add(1), below);
      Narrow.store(code.and(mask), dst, to + i, false);
    }
    return i;
  }

  /** Stochastic, after {@link #draw}: signs, and what one step away from max took too far. */
  static int finish(
      MemorySegment src,
      long from,
      int n,
      float max,
      int mask,
      MemorySegment magnitudes,
      MemorySegment dst,
      long to) {
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      IntVector bits = IntVector.fromMemorySegment(INT, src, from + 4L * i, LE);
      IntVector drawn = IntVector.fromMemorySegment(INT, magnitudes, 4L * i, LE);
      IntVector signed = drawn.blend(drawn.neg(), bits.compare(VectorOperators.LT, 0));
      IntVector code = signed.min((int) max).max((int) -max - 1);
      Narrow.store(code.and(mask), dst, to + i, false);
    }
    return i;
  }

  /** Stochastic: replaces random bits by magnitudes drawn with them; see {@link FloatRounding}. */
  static void draw(MemorySegment src, long from, int n, float max, MemorySegment random) {
    for (int i = 0; i <= n - LANES; i += LANES) {
      FloatVector magnitude = clamped(src, from + 4L * i, max).abs();
      IntVector cut = truncated(magnitude);
      IntVector threshold = threshold(magnitude.sub(floats(cut)));
      IntVector word = IntVector.fromMemorySegment(INT, random, 4L * i, LE);
      VectorMask<Integer> up =
          word.lanewise(VectorOperators.XOR, SIGN).compare(VectorOperators.LT, threshold);
      cut.blend(cut.add(1), up).intoMemorySegment(random, 4L * i, LE);
    }
  }

  /**
   * ⌊2^32 · fraction⌋ with the sign bit turned over: an int has 31 bits for the number, so the last
   * bit comes from what the conversion of half as much leaves.
   */
  private static IntVector threshold(FloatVector fraction) {
    FloatVector half = fraction.mul(0x1p31f);
    IntVector upper = truncated(half);
    FloatVector rest = half.sub(floats(upper));
    return upper
        .lanewise(VectorOperators.LSHL, 1)
        .add(truncated(rest.add(rest)))
        .lanewise(VectorOperators.XOR, SIGN);
  }
}
