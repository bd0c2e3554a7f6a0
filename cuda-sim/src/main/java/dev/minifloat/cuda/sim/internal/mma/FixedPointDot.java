package dev.minifloat.cuda.sim.internal.mma;

import dev.minifloat.cuda.sim.internal.numeric.Exact;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;

/**
 * What {@link ExactDot} computes, faster: numbers of 8 bits are whole multiples of their smallest
 * one, so that sums of their products fit into 64 bits.
 *
 * <pre>
 *   E4M3   ± 2^-9 … 448      · 2^9    18 bits
 *   E5M2   ± 2^-16 … 57344   · 2^16   32 bits
 * </pre>
 */
public final class FixedPointDot {
  /** Sums beyond are not exact as doubles. */
  private static final long LARGEST = 1L << 53;

  private final long[] aScaled;
  private final long[] bScaled;
  private int shift;
  private boolean special;

  /** With room for so many elements of both matrices. */
  public FixedPointDot(int aSize, int bSize) {
    aScaled = new long[aSize];
    bScaled = new long[bSize];
  }

  private static int shift(FloatFormat format) {
    return format.fractionBits() - format.minExponent();
  }

  /** Whether sums of products of these formats fit. */
  public static boolean covers(FloatFormat a, FloatFormat b) {
    boolean narrow = a == FloatFormat.E4M3 || b == FloatFormat.E4M3;
    return narrow && a.bits() == 8 && b.bits() == 8;
  }

  /** Takes both matrices' codes. */
  public void load(
      int[] aCodes, int aCount, FloatFormat a, int[] bCodes, int bCount, FloatFormat b) {
    shift = shift(a) + shift(b);
    boolean ofA = scale(aCodes, aCount, a, aScaled);
    boolean ofB = scale(bCodes, bCount, b, bScaled);
    special = ofA || ofB;
  }

  /** Whether a number is infinite or NaN. */
  private static boolean scale(int[] codes, int count, FloatFormat format, long[] scaled) {
    long[] table = new long[256];
    boolean[] odd = new boolean[256];
    for (int code = 0; code < 256; code++) {
      odd[code] = format.isNan(code) || format.isInfinite(code);
      table[code] = odd[code] ? 0 : (long) Math.scalb(format.decode(code), shift(format));
    }
    boolean found = false;
    for (int i = 0; i < count; i++) {
      int code = codes[i] & 0xFF;
      scaled[i] = table[code];
      found |= odd[code];
    }
    return found;
  }

  /**
   * The accumulator after the products; −1, which is no result, if it takes {@link ExactDot} to
   * know: infinities, NaN, zeros of either sign, very large sums.
   *
   * @param c the bits of the accumulator in its format
   */
  public long dot(int aStart, int bStart, int length, long c, FloatFormat accumulator) {
    long sum = 0;
    for (int i = 0; i < length; i++) {
      sum += aScaled[aStart + i] * bScaled[bStart + i];
    }
    double before = accumulator.decode((int) c);
    boolean plain = sum > -LARGEST && sum < LARGEST && (sum != 0 || before != 0);
    if (special || !plain || !Double.isFinite(before)) {
      return -1;
    }
    double exact = Exact.add(Math.scalb((double) sum, -shift), before);
    if (exact == 0) {
      return -1;
    }
    return accumulator.encode(exact, Rounding.NEAREST_EVEN, false) & 0xFFFF_FFFFL;
  }
}
