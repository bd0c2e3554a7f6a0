package dev.minifloat.cuda.sim.internal.numeric;

/** The scale format E8M0: code c is 2^(c − 127), FF is NaN (OCP MX 1.0 §5.4.1). */
public final class PowerOfTwo {
  private static final int NAN = 0xFF;
  private static final int LARGEST = 0xFE;
  private static final int BIAS = 127;

  private PowerOfTwo() {}

  public static double decode(int code) {
    return code == NAN ? Double.NaN : Math.scalb(1.0, code - BIAS);
  }

  /**
   * The code of a number's magnitude.
   *
   * @param up whether a magnitude between two powers takes the upper one, instead of the lower
   * @param saturate whether what overflows takes the largest power, instead of NaN
   */
  public static int encode(double value, boolean up, boolean saturate) {
    double magnitude = Math.abs(value);
    if (Double.isNaN(magnitude)) {
      return NAN;
    }
    if (magnitude == 0) {
      return 0;
    }
    int exponent = Double.isInfinite(magnitude) ? 1024 : Math.getExponent(magnitude);
    if (up && Math.scalb(1.0, exponent) < magnitude) {
      exponent++;
    }
    int code = Math.max(exponent + BIAS, 0);
    return code <= LARGEST ? code : saturate ? LARGEST : NAN;
  }
}
