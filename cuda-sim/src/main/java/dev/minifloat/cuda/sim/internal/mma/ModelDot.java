package dev.minifloat.cuda.sim.internal.mma;

import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;

/**
 * A model of tensor cores, as measured and published by the authors of MMA-Sim; no vendor documents
 * it. Products are taken a few at a time. A product's exponent is the sum of its factors'
 * exponents. All terms, the accumulator one of them, are aligned to the largest exponent and cut
 * off:
 *
 * <pre>
 *   largest     1.xxxxxxxxxxxxx|
 *   a smaller   0.00001xxxxxxxx|xxxxx      cut off after F bits, toward zero
 *               ---------------|
 *   sum                        |           then rounded toward zero to the accumulator
 * </pre>
 *
 * <table>
 *   <caption>Terms at once, and F</caption>
 *   <tr><td>Ampere</td><td>16 bytes of a row</td><td>24</td></tr>
 *   <tr><td>Ada</td><td>16 bytes; FP8 too</td><td>24; FP8 13, and so many bits of the sum</td></tr>
 *   <tr><td>Hopper, Blackwell</td><td>32 bytes; each of 4 or 6 bits is one</td><td>25</td></tr>
 *   <tr><td>Hopper's wgmma of FP8</td><td>32 bytes</td><td>13, and so many bits of the sum</td></tr>
 * </table>
 */
public final class ModelDot implements DotProduct {
  /** The exponent that a zero has when terms are aligned. */
  static final int ZERO_EXPONENT = -126;

  private final int termsAtOnce;
  private final int keptBits;
  private final int sumBits;

  private ModelDot(int termsAtOnce, int keptBits, int sumBits) {
    this.termsAtOnce = termsAtOnce;
    this.keptBits = keptBits;
    this.sumBits = sumBits;
  }

  /** The model for scaled E2M1, 64 products at once. */
  public static DotProduct ofGroups() {
    return new GroupedModelDot();
  }

  /** The model of an architecture for elements of a format. */
  public static ModelDot of(int architecture, FloatFormat format) {
    // Elements of 6 and 4 bits stand in bytes.
    int bytes = format == FloatFormat.TF32 ? 4 : Math.max(1, format.bits() / 8);
    if (architecture == 89 && bytes == 1) {
      return new ModelDot(16, 13, 13);
    }
    if (architecture >= 90) {
      return new ModelDot(32 / bytes, 25, 23);
    }
    return new ModelDot(16 / bytes, 24, 23);
  }

  /** The model of Hopper's {@code wgmma}, whose 8-bit sums are as short as Ada's. */
  public static ModelDot ofWarpgroup(FloatFormat format) {
    int bytes = format == FloatFormat.TF32 ? 4 : format.bits() / 8;
    return bytes == 1 ? new ModelDot(32, 13, 13) : new ModelDot(32 / bytes, 25, 23);
  }

  @Override
  public long dot(
      Terms a, int aStart, Terms b, int bStart, int length, long c, FloatFormat accumulator) {
    if (DotProduct.isSpecial(a, aStart, b, bStart, length, c, accumulator)) {
      return DotProduct.special(a, aStart, b, bStart, length, c, accumulator);
    }
    long sum = c;
    for (int i = 0; i < length; i += termsAtOnce) {
      int terms = Math.min(termsAtOnce, length - i);
      sum = add(a, aStart + i, b, bStart + i, terms, sum, accumulator);
      if (accumulator.isInfinite((int) sum)) {
        return sum;
      }
    }
    return sum;
  }

  private long add(
      Terms a, int aStart, Terms b, int bStart, int terms, long c, FloatFormat accumulator) {
    int code = (int) c;
    int cSignificand = accumulator.significand(code);
    int cExponent = cSignificand == 0 ? ZERO_EXPONENT : accumulator.exponent(code);
    int largest = cExponent;
    for (int i = 0; i < terms; i++) {
      largest = Math.max(largest, exponent(a, aStart + i, b, bStart + i));
    }
    int fraction = a.fractionBits + b.fractionBits;
    long sum = cut(cSignificand, cExponent - largest + keptBits - accumulator.fractionBits());
    sum = accumulator.decode(code) < 0 ? -sum : sum;
    for (int i = 0; i < terms; i++) {
      long product = (long) a.significands[aStart + i] * b.significands[bStart + i];
      int shift = exponent(a, aStart + i, b, bStart + i) - largest + keptBits - fraction;
      sum += product < 0 ? -cut(-product, shift) : cut(product, shift);
    }
    return round(Math.scalb((double) sum, largest - keptBits), accumulator);
  }

  private static int exponent(Terms a, int i, Terms b, int j) {
    boolean zero = a.significands[i] == 0 || b.significands[j] == 0;
    return zero ? ZERO_EXPONENT : a.exponents[i] + b.exponents[j];
  }

  /** A magnitude moved by some bits, cut off toward zero. */
  static long cut(long magnitude, int shift) {
    return shift >= 0 ? magnitude << shift : shift < -63 ? 0 : magnitude >>> -shift;
  }

  private long round(double sum, FloatFormat accumulator) {
    if (accumulator == FloatFormat.F16) {
      return FloatFormat.F16.encode(sum, Rounding.NEAREST_EVEN, false);
    }
    if (Math.abs(sum) >= 0x1p128) {
      return sum < 0 ? 0xFF80_0000L : 0x7F80_0000L;
    }
    int bits = FloatFormat.F32.encode(sum, Rounding.ZERO, false);
    return bits & -1L << (23 - sumBits) & 0xFFFF_FFFFL;
  }
}
