package dev.minifloat.cuda.sim.internal.numeric;

/**
 * Arithmetic on the bits of F32 numbers. A NaN that comes out is 7FFFFFFF, as on devices; subnormal
 * numbers are kept (PTX ISA, "Floating Point Instructions").
 */
public final class F32 {
  /** The NaN that instructions produce. */
  public static final int NAN = 0x7FFF_FFFF;

  private static final int MAGNITUDE = 0x7FFF_FFFF;
  private static final int SMALLEST_NORMAL = 0x0080_0000;

  private F32() {}

  public static float of(long bits) {
    return Float.intBitsToFloat((int) bits);
  }

  /** A number's bits, NaN made the one NaN. */
  public static long bits(float value) {
    return !Float.isNaN(value) ? Float.floatToRawIntBits(value) & 0xFFFF_FFFFL : NAN;
  }

  /** A subnormal number made a zero of its sign. */
  public static long flush(long bits) {
    int magnitude = (int) bits & MAGNITUDE;
    return magnitude < SMALLEST_NORMAL ? bits & 0x8000_0000L : bits;
  }

  /** Clamped to 0 … 1; NaN becomes +0. */
  public static long saturate(long bits) {
    float value = of(bits);
    return value > 0 ? value >= 1 ? 0x3F80_0000L : bits : 0;
  }

  /** An exact result, or one rounded to odd, in F32. */
  public static long round(double value, Rounding rounding) {
    if (rounding == Rounding.NEAREST_EVEN) {
      return bits((float) value);
    }
    return FloatFormat.F32.encode(value, rounding, false) & 0xFFFF_FFFFL;
  }

  public static long add(long a, long b, Rounding rounding) {
    if (rounding == Rounding.NEAREST_EVEN) {
      return bits(of(a) + of(b));
    }
    return directed(Exact.add(of(a), of(b)), of(a), of(b), rounding);
  }

  public static long multiply(long a, long b, Rounding rounding) {
    if (rounding == Rounding.NEAREST_EVEN) {
      return bits(of(a) * of(b));
    }
    return round((double) of(a) * of(b), rounding);
  }

  public static long multiplyAdd(long a, long b, long c, Rounding rounding) {
    if (rounding == Rounding.NEAREST_EVEN) {
      return bits(Math.fma(of(a), of(b), of(c)));
    }
    double product = (double) of(a) * of(b);
    return directed(Exact.add(product, of(c)), product, of(c), rounding);
  }

  /**
   * A sum that is exactly zero is −0 when rounding down, unless both parts are +0 (IEEE 754 §6.3).
   */
  private static long directed(double sum, double a, double b, Rounding rounding) {
    if (sum == 0 && rounding == Rounding.DOWN) {
      boolean bothPositive =
          Double.doubleToRawLongBits(a) == 0 && Double.doubleToRawLongBits(b) == 0;
      return bothPositive ? 0 : 0x8000_0000L;
    }
    return round(sum, rounding);
  }

  public static long divide(long a, long b, Rounding rounding) {
    if (rounding == Rounding.NEAREST_EVEN) {
      return bits(of(a) / of(b));
    }
    return round(Exact.divide(of(a), of(b)), rounding);
  }

  public static long sqrt(long a, Rounding rounding) {
    return round(Exact.sqrt(of(a)), rounding);
  }
}
