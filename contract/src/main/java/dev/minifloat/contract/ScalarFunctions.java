package dev.minifloat.contract;

import dev.minifloat.Activation;

/** The functions of single numbers, in double: 1e-12 relative or better, exact at the specials. */
public final class ScalarFunctions {
  private ScalarFunctions() {}

  /** An activation of x. */
  public static double activation(Activation activation, double x) {
    return switch (activation) {
      case NONE -> x;
      case RELU -> Math.max(x, 0);
      case GELU_ERF -> x == Double.NEGATIVE_INFINITY ? -0.0 : x * normal(x);
      case GELU_TANH -> {
        double inner = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x);
        yield x == Double.NEGATIVE_INFINITY ? -0.0 : x / (1 + Math.exp(-2 * inner));
      }
      case SILU -> x == Double.NEGATIVE_INFINITY ? -0.0 : x / (1 + Math.exp(-x));
    };
  }

  /**
   * Φ(x), the normal distribution function: ½ + φ(x)·Σ x^(2n+1) / (1·3·5···(2n+1)), a series of
   * positive terms that loses no digit for x ≥ 0; below, 1 − Φ(−x) by Laplace's continued fraction
   * where that would cancel.
   */
  private static double normal(double x) {
    if (Double.isNaN(x)) {
      return x;
    }
    double t = Math.abs(x);
    if (t > 38) {
      return x > 0 ? 1 : 0;
    }
    double density = Math.exp(-t * t / 2) / Math.sqrt(2 * Math.PI);
    if (t < 3) {
      double term = t;
      double sum = t;
      for (int n = 1; term > 1e-18 * sum; n++) {
        term *= t * t / (2 * n + 1);
        sum += term;
      }
      return x > 0 ? 0.5 + density * sum : 0.5 - density * sum;
    }
    double tail = t;
    for (int k = 200; k >= 1; k--) {
      tail = t + k / tail;
    }
    double upper = density / tail;
    return x > 0 ? 1 - upper : upper;
  }
}
