package dev.minifloat.codec;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;

/**
 * Encoding by search: the neighbours of a value are found by bisection over the codes, whose values
 * follow from the definition of the format, and the choice between them from exact distances.
 *
 * <p>All of it is exact in double: a value lies between neighbours at most a factor of 2 apart (or
 * above zero), so their differences are representable, and the gap is a power of two.
 */
final class EncodeOracle {
  private EncodeOracle() {}

  /** The value of a non-negative code, also of codes past the largest, as if nothing were NaN. */
  static double value(DType dtype, long code) {
    if (dtype == DType.F8_E8M0) {
      return Math.scalb(1.0, (int) code - 127);
    }
    int mantissaBits = dtype.mantissaBits();
    long exponent = code >> mantissaBits;
    double fraction = (double) (code - (exponent << mantissaBits)) / (1L << mantissaBits);
    return exponent == 0
        ? Math.scalb(fraction, 1 - dtype.bias())
        : Math.scalb(1 + fraction, (int) exponent - dtype.bias());
  }

  /** The largest finite code, from the largest value alone. */
  static long maxCode(DType dtype) {
    return below(dtype, dtype.max());
  }

  /** The greatest code whose value is at most {@code magnitude}. */
  static long below(DType dtype, double magnitude) {
    long low = 0;
    long high = 1L << (dtype.bits() - (dtype.isSigned() ? 1 : 0));
    while (high - low > 1) {
      long middle = (low + high) >>> 1;
      if (value(dtype, middle) <= magnitude) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** ⌊2^32 · discarded fraction⌋ of a finite magnitude below the first overflowing value. */
  static long threshold(DType dtype, double magnitude) {
    long code = below(dtype, magnitude);
    double low = value(dtype, code);
    double gap = value(dtype, code + 1) - low;
    return magnitude <= low ? 0 : (long) Math.floor((magnitude - low) / gap * 0x1p32);
  }

  static int encode(DType dtype, double x, Rounding rounding, Overflow overflow, int random) {
    boolean negative = dtype.isSigned() && Double.doubleToRawLongBits(x) < 0;
    int sign = negative ? 1 << (dtype.bits() - 1) : 0;
    double magnitude = Math.abs(x);
    long max = maxCode(dtype);
    long code;
    if (Double.isInfinite(magnitude)) {
      return sign | overflow(dtype, overflow, max);
    } else if (magnitude >= value(dtype, max + 1)) {
      boolean cut =
          rounding.equals(Rounding.TOWARD_ZERO)
              || (rounding.equals(Rounding.TOWARD_POSITIVE) && negative);
      return sign | (cut ? (int) max : overflow(dtype, overflow, max));
    } else {
      long low = below(dtype, magnitude);
      double distance = magnitude - value(dtype, low);
      double gap = value(dtype, low + 1) - value(dtype, low);
      boolean up =
          distance > 0
              && switch (rounding) {
                case Rounding.Mode.NEAREST_EVEN ->
                    distance > gap - distance || (distance == gap - distance && low % 2 == 1);
                case Rounding.Mode.TOWARD_ZERO -> false;
                case Rounding.Mode.TOWARD_POSITIVE -> !negative;
                case Rounding.Stochastic _ ->
                    Integer.toUnsignedLong(random) < threshold(dtype, magnitude);
              };
      code = up ? low + 1 : low;
    }
    return sign | (code > max ? overflow(dtype, overflow, max) : (int) code);
  }

  private static int overflow(DType dtype, Overflow overflow, long max) {
    boolean marked = overflow == Overflow.IEEE && (dtype.hasInfinity() || dtype.hasNaN());
    // Right above the largest finite code lies infinity, or the NaN of the formats without one.
    return (int) (marked ? max + 1 : max);
  }
}
