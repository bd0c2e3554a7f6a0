package dev.minifloat.reference;

/**
 * The complementary error function in double, to about 1e-15 relative: a Taylor series near zero, a
 * continued fraction (Abramowitz and Stegun 7.1.14) beyond.
 */
final class Erf {
  private static final double TWO_OVER_ROOT_PI = 2 / Math.sqrt(Math.PI);
  private static final double ONE_OVER_ROOT_PI = 1 / Math.sqrt(Math.PI);

  /** From here on the continued fraction converges within {@link #LEVELS}. */
  private static final double SERIES_LIMIT = 2.5;

  private static final int LEVELS = 120;

  private Erf() {}

  /** 1 − erf(x), with a small relative error wherever the result is a normal number. */
  static double erfc(double x) {
    if (Double.isNaN(x)) {
      return x;
    }
    if (x < 0) {
      return 2 - erfc(-x);
    }
    if (x < SERIES_LIMIT) {
      return x < 0.5 ? 1 - erfSeries(x) : gaussian(x) * scaledFraction(x);
    }
    return x > 40 ? 0 : gaussian(x) * scaledFraction(x);
  }

  /**
   * e^(−x²) without the rounding error of x², which e^ would multiply by x²: x² = h² + (x − h)(x +
   * h), h being x cut to 24 bits, so that h² is exact.
   */
  private static double gaussian(double x) {
    double head = (float) x;
    return Math.exp(-head * head) * Math.exp(-(x - head) * (x + head));
  }

  private static double erfSeries(double x) {
    double term = x;
    double sum = x;
    for (int n = 1; Math.abs(term) > 1e-18 * Math.abs(sum) && n < 60; n++) {
      term *= -x * x / n;
      sum += term / (2 * n + 1);
    }
    return TWO_OVER_ROOT_PI * sum;
  }

  /** e^(x²) · erfc(x) by x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …))), from the innermost outwards. */
  private static double scaledFraction(double x) {
    int levels = x < SERIES_LIMIT ? 12 * LEVELS : LEVELS;
    double tail = x;
    for (int k = levels; k >= 1; k--) {
      tail = x + k / 2.0 / tail;
    }
    return ONE_OVER_ROOT_PI / tail;
  }
}
