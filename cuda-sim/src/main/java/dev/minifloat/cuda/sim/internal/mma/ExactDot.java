package dev.minifloat.cuda.sim.internal.mma;

import dev.minifloat.cuda.sim.internal.numeric.Exact;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;
import java.math.BigInteger;

/** The exact sum of all products and the accumulator, rounded once to the nearest. */
public final class ExactDot implements DotProduct {
  @Override
  public long dot(
      Terms a, int aStart, Terms b, int bStart, int length, long c, FloatFormat accumulator) {
    if (DotProduct.isSpecial(a, aStart, b, bStart, length, c, accumulator)) {
      return DotProduct.special(a, aStart, b, bStart, length, c, accumulator);
    }
    int code = (int) c;
    int cSignificand = accumulator.significand(code);
    boolean cNegative = accumulator.decode(code) < 0;
    int fraction = a.fractionBits + b.fractionBits;
    int least = cSignificand == 0 ? Integer.MAX_VALUE : unit(accumulator, code);
    int most = cSignificand == 0 ? Integer.MIN_VALUE : least;
    for (int i = 0; i < length; i++) {
      if (a.significands[aStart + i] != 0 && b.significands[bStart + i] != 0) {
        int unit = a.exponents[aStart + i] + b.exponents[bStart + i] - fraction;
        least = Math.min(least, unit);
        most = Math.max(most, unit);
      }
    }
    if (least == Integer.MAX_VALUE) {
      return zero(a, aStart, b, bStart, length, c, accumulator);
    }
    // A term has 24 bits at most, and at most 65 of them are added.
    if (most - least > 32) {
      return wide(a, aStart, b, bStart, length, c, accumulator, least);
    }
    long sum = 0;
    if (cSignificand != 0) {
      long term = (long) cSignificand << (unit(accumulator, code) - least);
      sum = cNegative ? -term : term;
    }
    for (int i = 0; i < length; i++) {
      long product = (long) a.significands[aStart + i] * b.significands[bStart + i];
      if (product != 0) {
        sum += product << (a.exponents[aStart + i] + b.exponents[bStart + i] - fraction - least);
      }
    }
    double exact = Math.scalb(Exact.ofLong(sum, true), least);
    return accumulator.encode(exact, Rounding.NEAREST_EVEN, false) & 0xFFFF_FFFFL;
  }

  /** The exponent of a code's last place. */
  private static int unit(FloatFormat format, int code) {
    return format.exponent(code) - format.fractionBits();
  }

  /** A sum of zeros: −0 only if every one of them is. */
  private static long zero(
      Terms a, int aStart, Terms b, int bStart, int length, long c, FloatFormat accumulator) {
    double sum = accumulator.decode((int) c);
    for (int i = 0; i < length; i++) {
      sum += a.values[aStart + i] * b.values[bStart + i];
    }
    return accumulator.encode(sum, Rounding.NEAREST_EVEN, false) & 0xFFFF_FFFFL;
  }

  /** The same where the terms' exponents lie too far apart for 64 bits. */
  private static long wide(
      Terms a,
      int aStart,
      Terms b,
      int bStart,
      int length,
      long c,
      FloatFormat accumulator,
      int least) {
    int fraction = a.fractionBits + b.fractionBits;
    int code = (int) c;
    BigInteger sum = BigInteger.ZERO;
    if (accumulator.significand(code) != 0) {
      sum =
          BigInteger.valueOf(accumulator.significand(code))
              .shiftLeft(unit(accumulator, code) - least);
      sum = accumulator.decode(code) < 0 ? sum.negate() : sum;
    }
    for (int i = 0; i < length; i++) {
      long product = (long) a.significands[aStart + i] * b.significands[bStart + i];
      if (product != 0) {
        int shift = a.exponents[aStart + i] + b.exponents[bStart + i] - fraction - least;
        sum = sum.add(BigInteger.valueOf(product).shiftLeft(shift));
      }
    }
    double exact = toOdd(sum, least);
    return accumulator.encode(exact, Rounding.NEAREST_EVEN, false) & 0xFFFF_FFFFL;
  }

  /** sum · 2^exponent, rounded to odd. */
  private static double toOdd(BigInteger sum, int exponent) {
    BigInteger magnitude = sum.abs();
    int extra = magnitude.bitLength() - 53;
    double result;
    if (extra <= 0) {
      result = Math.scalb((double) magnitude.longValue(), exponent);
    } else {
      BigInteger cut = magnitude.shiftRight(extra);
      boolean lost = magnitude.getLowestSetBit() < extra;
      result = Math.scalb((double) (cut.longValue() | (lost ? 1 : 0)), exponent + extra);
    }
    return sum.signum() < 0 ? -result : result;
  }
}
