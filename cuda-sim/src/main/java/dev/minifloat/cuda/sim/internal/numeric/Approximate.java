package dev.minifloat.cuda.sim.internal.numeric;

/**
 * The approximations of PTX's {@code .approx} instructions: always nearer to the true value than
 * the ISA's bound asks, but not the bits of any device, whose tables are not published.
 */
public final class Approximate {
  private Approximate() {}

  public static float reciprocal(float a) {
    return (float) (1.0 / a);
  }

  /** a / b as the ISA describes it: 0 for divisors above 2^126, NaN if the dividend is infinite. */
  public static float divide(float a, float b) {
    if (Math.abs(b) > 0x1p126f && !Float.isInfinite(b)) {
      return Float.isInfinite(a)
          ? Float.NaN
          : Float.isNaN(a) ? a : Math.copySign(0f, a * Math.signum(b));
    }
    return a / b;
  }

  public static float reciprocalRoot(float a) {
    return (float) (1.0 / Math.sqrt(a));
  }

  public static float sine(float a) {
    return (float) Math.sin(a);
  }

  public static float cosine(float a) {
    return (float) Math.cos(a);
  }

  public static float power2(float a) {
    return (float) Math.pow(2, a);
  }

  /** log2 a; powers of two are exact. */
  public static float log2(float a) {
    if (!(a > 0) || Float.isInfinite(a)) {
      return (float) Math.log(a);
    }
    int exponent = Math.getExponent((double) a);
    double fraction = Math.scalb((double) a, -exponent);
    // Near one the exponent would cancel most of the logarithm's digits.
    if (fraction > 1.5) {
      fraction /= 2;
      exponent++;
    }
    return (float) (exponent + Math.log1p(fraction - 1) / Math.log(2));
  }

  public static float tanh(float a) {
    return (float) Math.tanh(a);
  }

  /** 1 / a in the upper 32 bits of an F64, the lower ones zero, subnormal numbers flushed. */
  public static double reciprocalUpperHalf(double a) {
    return upperHalf(1.0 / flush(upperHalf(a)));
  }

  /** 1 / √a in the upper 32 bits of an F64, the lower ones zero, subnormal numbers flushed. */
  public static double reciprocalRootUpperHalf(double a) {
    return upperHalf(1.0 / Math.sqrt(flush(upperHalf(a))));
  }

  private static double upperHalf(double a) {
    return flush(Double.longBitsToDouble(Double.doubleToRawLongBits(a) & ~0xFFFF_FFFFL));
  }

  private static double flush(double a) {
    return Math.abs(a) < Double.MIN_NORMAL ? Math.copySign(0.0, a) : a;
  }
}
