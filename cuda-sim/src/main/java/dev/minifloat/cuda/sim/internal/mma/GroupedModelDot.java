package dev.minifloat.cuda.sim.internal.mma;

import dev.minifloat.cuda.sim.internal.numeric.Exact;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;

/**
 * A model of Blackwell's tensor cores for scaled E2M1, as measured and published by the authors of
 * MMA-Sim; no vendor documents it. Products of 16 neighbours, which share their scales, are added
 * exactly. These sums and the accumulator are then aligned to the largest exponent, that of a sum
 * being its two scales' alone, and cut off after 35 bits:
 *
 * <pre>
 *   scales of the largest exponent   1.xxxxxxxx…x|
 *   a smaller sum                    0.0001xxx…xx|xxxx      cut off, toward zero
 *                                    ------------|
 *   sum                              rounded toward zero to F32
 * </pre>
 */
final class GroupedModelDot implements DotProduct {
  private static final int GROUP = 16;
  private static final int KEPT_BITS = 35;

  @Override
  public long dot(
      Terms a, int aStart, Terms b, int bStart, int length, long c, FloatFormat accumulator) {
    if (DotProduct.isSpecial(a, aStart, b, bStart, length, c, accumulator)) {
      return DotProduct.special(a, aStart, b, bStart, length, c, accumulator);
    }
    int groups = length / GROUP;
    int code = (int) c;
    int cSignificand = accumulator.significand(code);
    int cExponent = cSignificand == 0 ? ModelDot.ZERO_EXPONENT : accumulator.exponent(code);
    long[] sums = new long[groups];
    int largest = cExponent;
    for (int g = 0; g < groups; g++) {
      sums[g] = sum(a, aStart + g * GROUP, b, bStart + g * GROUP);
      largest = Math.max(largest, exponent(sums[g], a, aStart + g * GROUP, b, bStart + g * GROUP));
    }
    long total =
        ModelDot.cut(cSignificand, cExponent - largest + KEPT_BITS - accumulator.fractionBits());
    total = accumulator.decode(code) < 0 ? -total : total;
    int fraction = a.fractionBits + b.fractionBits;
    for (int g = 0; g < groups; g++) {
      int at = exponent(sums[g], a, aStart + g * GROUP, b, bStart + g * GROUP);
      int shift = at - largest + KEPT_BITS - fraction;
      total += sums[g] < 0 ? -ModelDot.cut(-sums[g], shift) : ModelDot.cut(sums[g], shift);
    }
    double exact = Math.scalb(Exact.ofLong(total, true), largest - KEPT_BITS);
    if (Math.abs(exact) >= 0x1p128) {
      return exact < 0 ? 0xFF80_0000L : 0x7F80_0000L;
    }
    return accumulator.encode(exact, Rounding.ZERO, false) & 0xFFFF_FFFFL;
  }

  /** A group's products, in units of its scales' exponent. */
  private static long sum(Terms a, int aStart, Terms b, int bStart) {
    long sum = 0;
    for (int i = 0; i < GROUP; i++) {
      // E2M1's own exponents are 0, 1 and 2.
      int own =
          a.exponents[aStart + i]
              - a.scaleExponents[aStart + i]
              + b.exponents[bStart + i]
              - b.scaleExponents[bStart + i];
      sum += ((long) a.significands[aStart + i] * b.significands[bStart + i]) << own;
    }
    return sum;
  }

  private static int exponent(long sum, Terms a, int aStart, Terms b, int bStart) {
    return sum == 0 ? ModelDot.ZERO_EXPONENT : a.scaleExponents[aStart] + b.scaleExponents[bStart];
  }
}
