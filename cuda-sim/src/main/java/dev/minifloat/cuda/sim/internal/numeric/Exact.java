package dev.minifloat.cuda.sim.internal.numeric;

import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * Results before their last rounding.
 *
 * <p>A double "rounded to odd" is the exact result cut off at 53 bits, its last bit set if anything
 * was cut off. Rounding it again, to any format of at most 51 bits and in any direction, gives what
 * rounding the exact result would have given.
 *
 * <pre>
 *   exact      1.b51 b50 … b1 b0 | x x x …       any x set → b0 = 1
 * </pre>
 */
public final class Exact {
  private Exact() {}

  /** A rounded sum and what it lacks, rounded to odd. */
  private static double odd(double rounded, double error) {
    if (error == 0 || Double.isNaN(error) || Double.isInfinite(rounded)) {
      return rounded;
    }
    long bits = Double.doubleToRawLongBits(rounded);
    if ((bits & 1) != 0) {
      return rounded;
    }
    // Not odd, so cut off instead of rounded to the nearest: the neighbour on the error's side.
    boolean away = rounded > 0 == error > 0;
    return Double.longBitsToDouble(away ? bits + 1 : bits - 1);
  }

  /** a + b, rounded to odd. */
  public static double add(double a, double b) {
    double sum = a + b;
    double bPart = sum - a;
    double error = (a - (sum - bPart)) + (b - bPart);
    return odd(sum, error);
  }

  /** a · b + c for a product that a double holds exactly, rounded to odd. */
  public static double multiplyAdd(double a, double b, double c) {
    return add(a * b, c);
  }

  /** a / b for numbers of at most 24 bits, rounded to odd. */
  public static double divide(double a, double b) {
    double quotient = a / b;
    if (quotient == 0 || Double.isNaN(quotient) || Double.isInfinite(quotient)) {
      return quotient;
    }
    double remainder = Math.fma(-quotient, b, a);
    return odd(quotient, b < 0 ? -remainder : remainder);
  }

  /** √a for a number of at most 24 bits, rounded to odd. */
  public static double sqrt(double a) {
    double root = Math.sqrt(a);
    if (!(a > 0) || Double.isInfinite(a)) {
      return root;
    }
    return odd(root, Math.fma(-root, root, a));
  }

  /** A 64-bit integer, rounded to odd. */
  public static double ofLong(long value, boolean signed) {
    boolean negative = signed && value < 0;
    long magnitude = negative ? -value : value;
    int extra = 64 - Long.numberOfLeadingZeros(magnitude) - 53;
    if (extra <= 0) {
      return negative ? -(double) magnitude : (double) magnitude;
    }
    long cut = magnitude >>> extra;
    cut |= (magnitude & (1L << extra) - 1) != 0 ? 1 : 0;
    double result = Math.scalb((double) cut, extra);
    return negative ? -result : result;
  }

  /** An exact number as a double, rounded. */
  public static double round(BigDecimal value, Rounding rounding) {
    if (value.signum() == 0) {
      return 0;
    }
    boolean negative = value.signum() < 0;
    BigDecimal magnitude = value.abs();
    // Twice the double's precision at least, with a sticky last bit.
    int exponent = exponent(magnitude);
    int least = Math.max(exponent - 52, -1074);
    BigDecimal scaled = scale(magnitude, -least);
    BigInteger kept = scaled.toBigInteger();
    BigDecimal dropped = scaled.subtract(new BigDecimal(kept));
    int compare = dropped.compareTo(new BigDecimal("0.5"));
    boolean half = compare >= 0;
    boolean rest = half ? compare > 0 : dropped.signum() > 0;
    if (rounding.up(negative, kept.testBit(0), half, rest)) {
      kept = kept.add(BigInteger.ONE);
    }
    double result = overflow(kept, least, negative, rounding);
    return negative ? -result : result;
  }

  private static double overflow(BigInteger kept, int least, boolean negative, Rounding rounding) {
    double result = Math.scalb(kept.doubleValue(), least);
    if (!Double.isInfinite(result)) {
      return result;
    }
    boolean infinite =
        switch (rounding) {
          case NEAREST_EVEN, NEAREST_AWAY -> true;
          case ZERO -> false;
          case DOWN -> negative;
          case UP -> !negative;
        };
    return infinite ? result : Double.MAX_VALUE;
  }

  /** ⌊log2 x⌋ of a positive number. */
  private static int exponent(BigDecimal value) {
    int guess =
        (int) Math.floor((value.precision() - value.scale() - 1) * (Math.log(10) / Math.log(2)));
    while (value.compareTo(scale(BigDecimal.ONE, guess + 1)) >= 0) {
      guess++;
    }
    while (value.compareTo(scale(BigDecimal.ONE, guess)) < 0) {
      guess--;
    }
    return guess;
  }

  private static BigDecimal scale(BigDecimal value, int exponent) {
    BigDecimal power = new BigDecimal(BigInteger.ONE.shiftLeft(Math.abs(exponent)));
    // Division by a power of two always ends.
    return exponent >= 0 ? value.multiply(power) : value.divide(power);
  }
}
