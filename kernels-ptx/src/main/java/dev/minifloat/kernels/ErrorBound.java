package dev.minifloat.kernels;

/**
 * How far a sum of K products may lie from the exact one: |sum − exact| ≤ γ·Σ|a·b| + K·2^−149, γ =
 * n·u / (1 − n·u), n = perTerm·K + constant, u = 2^−24.
 *
 * @param perTerm roundings for each product
 * @param constant further ones
 */
public record ErrorBound(double perTerm, double constant) {
  /** γ for a sum of {@code k} products; infinite where nothing is promised. */
  public double gamma(long k) {
    double nu = (perTerm * k + constant) * 0x1p-24;
    return nu < 1 ? nu / (1 - nu) : Double.POSITIVE_INFINITY;
  }
}
