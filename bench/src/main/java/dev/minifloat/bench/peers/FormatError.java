package dev.minifloat.bench.peers;

import dev.minifloat.bench.Format;

/** What may be expected of a product whose operands were rounded to other formats than ours. */
final class FormatError {
  private FormatError() {}

  /**
   * A bound on the root mean square of the relative rounding errors of about normal values, blocks
   * of which share a scale if the format has one.
   */
  static double of(Format format) {
    return switch (format) {
      case F32 -> 1e-6; // what the sums add, for they are in F32 too
      case F16 -> 3e-4;
      case BF16 -> 2e-3;
      case I8 -> 1e-2;
      case E4M3 -> 4e-2;
      case E5M2 -> 8e-2;
      case NVFP4 -> 0.13;
      case MXFP4 -> 0.18;
    };
  }

  /**
   * Tolerance of a matrix product, ‖result − exact‖ / ‖exact‖: errors of independent values add as
   * their terms do, so the relative error of the whole is that of the values. Doubled to be safe.
   */
  static double ofProduct(Format a, Format b) {
    return 2 * Math.hypot(of(a), of(b));
  }

  /**
   * Tolerance of a · b. One sum may be far smaller than its terms, so its error is put beside their
   * root mean square; six deviations.
   */
  static double ofDot(Format a, float[] x, Format b, float[] y) {
    double squares = 0;
    double sum = 0;
    for (int i = 0; i < x.length; i++) {
      double product = (double) x[i] * y[i];
      squares += product * product;
      sum += product;
    }
    return 6 * Math.hypot(of(a), of(b)) * Math.sqrt(squares) / Math.abs(sum);
  }
}
