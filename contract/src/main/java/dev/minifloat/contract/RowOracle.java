package dev.minifloat.contract;

import dev.minifloat.HostTensor;

/**
 * Row-wise operations in double, each with the bound of its evaluation in F32. u is 2^-24, n the
 * number of columns.
 */
public final class RowOracle {
  private static final double U = ErrorBounds.U;

  private RowOracle() {}

  /**
   * Softmax of one row's first {@code seen} columns.
   *
   * <p>t = scale·x is off by u·|t|, so t − m by u·(|t| + |m| + |t − m|) ≤ u·A, A the largest over
   * the row; e^ turns that into a relative error of u·A, and adds 4·u of its own. The sum of at
   * most n such terms adds γₙ; the quotient has the errors of both. Altogether u·(2·A + n + 16).
   * Results below the normal floats may be flushed: 2^-126.
   */
  public static void softmax(
      double[] x, int from, int seen, int columns, float scale, double[] exact, double[] error) {
    double max = Double.NEGATIVE_INFINITY;
    for (int i = from; i < from + seen; i++) {
      max = Math.max(max, scale * x[i]);
    }
    double sum = 0;
    double spread = 0;
    for (int i = from; i < from + seen; i++) {
      double t = scale * x[i];
      sum += Math.exp(t - max);
      if (t != Double.NEGATIVE_INFINITY) {
        spread = Math.max(spread, Math.abs(t) + Math.abs(max) + Math.abs(t - max));
      }
    }
    for (int i = from; i < from + columns; i++) {
      exact[i] = i < from + seen ? Math.exp(scale * x[i] - max) / sum : 0;
      error[i] = i < from + seen ? exact[i] * U * (2 * spread + seen + 16) + Float.MIN_NORMAL : 0;
    }
  }

  /**
   * Layer norm of one row.
   *
   * <p>The mean is off by δ ≤ γₙ₊₁ · mean|x|, a centred value c by e = δ + u·(|c| + δ), the
   * variance by the mean of 2·|c|·e + e² plus γₙ₊₂ of itself, hence the deviation by half of that
   * relatively, plus 8·u for root and quotient (a reciprocal root of 2 ulp is allowed). y = c /
   * deviation · gamma + beta then has the relative errors of its factors and one u for each
   * operation.
   */
  public static void layerNorm(
      double[] x,
      int from,
      double[] gamma,
      double[] beta,
      float epsilon,
      double[] exact,
      double[] error) {
    int n = gamma.length;
    double mean = 0;
    double magnitude = 0;
    for (int i = from; i < from + n; i++) {
      mean += x[i];
      magnitude += Math.abs(x[i]);
    }
    mean /= n;
    double delta = ErrorBounds.gamma(n + 1) * magnitude / n;
    double variance = 0;
    double off = 0;
    for (int i = from; i < from + n; i++) {
      double c = x[i] - mean;
      double e = delta + U * (Math.abs(c) + delta);
      variance += c * c;
      off += 2 * Math.abs(c) * e + e * e;
    }
    variance /= n;
    off = off / n + ErrorBounds.gamma(n + 2) * (variance + off / n) + ErrorBounds.ETA;
    double deviation = Math.sqrt(variance + epsilon);
    double relative = off / (2 * Math.max(variance + epsilon - off, epsilon)) + 8 * U;
    for (int i = 0; i < n; i++) {
      double c = x[from + i] - mean;
      double scaled = c / deviation * gamma[i];
      double e = (delta + U * (Math.abs(c) + delta)) / deviation * Math.abs(gamma[i]);
      exact[from + i] = scaled + beta[i];
      double inner = e * (1 + relative) + Math.abs(scaled) * (relative + 4 * U);
      error[from + i] = inner + 2 * U * (Math.abs(exact[from + i]) + inner) + 2 * ErrorBounds.ETA;
    }
  }

  /**
   * RMS norm of one row: Σx² is off by γₙ₊₁ relatively (and by n·2^-149 where squares underflow),
   * its root by half of that, and root, quotients and products by 8·u.
   */
  public static void rmsNorm(
      double[] x, int from, double[] gamma, float epsilon, double[] exact, double[] error) {
    int n = gamma.length;
    double squares = squares(x, from, n);
    double root = Math.sqrt(squares / n + epsilon);
    double relative = normError(n, squares / n + epsilon) + 8 * U;
    for (int i = 0; i < n; i++) {
      exact[from + i] = x[from + i] / root * gamma[i];
      error[from + i] = Math.abs(exact[from + i]) * relative + 2 * ErrorBounds.ETA;
    }
  }

  /** x / max(‖x‖, 1e-12) of one row, with the error of {@link #rmsNorm}. */
  static void l2Normalize(double[] x, int from, int n, double[] exact, double[] error) {
    double squares = squares(x, from, n);
    double norm = Math.max(Math.sqrt(squares), 1e-12);
    double relative = normError(n, norm * norm) + 8 * U;
    for (int i = from; i < from + n; i++) {
      exact[i] = x[i] / norm;
      error[i] = Math.abs(exact[i]) * relative + 2 * ErrorBounds.ETA;
    }
  }

  private static double normError(int n, double square) {
    return ErrorBounds.gamma(n + 3) / 2 + n * ErrorBounds.ETA / square;
  }

  private static double squares(double[] x, int from, int n) {
    double sum = 0;
    for (int i = from; i < from + n; i++) {
      sum += x[i] * x[i];
    }
    return sum;
  }

  /**
   * Rotates one pair by an angle = position · base^(−2i/dims).
   *
   * <p>In F32 the exponent's rounding moves the power by ln(base)·u ≤ 12·u relatively for bases up
   * to e^12, the power, the product and a reduction of the angle by a few u more: 24·u·|angle|
   * altogether, which sine and cosine pass on, adding 4·u. Each result is a sum of two products.
   */
  static void rotate(
      double u, double v, double angle, int first, int second, double[] exact, double[] error) {
    exact[first] = u * Math.cos(angle) - v * Math.sin(angle);
    exact[second] = u * Math.sin(angle) + v * Math.cos(angle);
    double bound = (Math.abs(u) + Math.abs(v)) * U * (24 * Math.abs(angle) + 8) + ErrorBounds.ETA;
    error[first] = bound;
    error[second] = bound;
  }

  /** The values of an unscaled tensor. */
  static double[] values(HostTensor host) {
    double[] values = new double[Math.toIntExact(host.shape().elements())];
    for (int i = 0; i < values.length; i++) {
      values[i] = host.get(i);
    }
    return values;
  }
}
