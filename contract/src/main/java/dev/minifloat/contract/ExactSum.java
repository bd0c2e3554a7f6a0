package dev.minifloat.contract;

/**
 * A sum of products of doubles in twice the precision of double: each product and sum is split into
 * its rounded value and its rounding error, which a fused multiply-add and a two-sum (Knuth) give
 * exactly. What is lost is below n²·2^-104 of Σ|a·b|, far under any bound it is compared with.
 */
final class ExactSum {
  private double high;
  private double low;
  private double magnitude;

  void reset() {
    high = 0;
    low = 0;
    magnitude = 0;
  }

  void add(double a, double b) {
    double product = a * b;
    double rest = Math.fma(a, b, -product);
    double sum = high + product;
    double part = sum - high;
    double error = (high - (sum - part)) + (product - part);
    high = sum;
    low += error + rest;
    magnitude += Math.abs(product);
  }

  /** The sum. */
  double value() {
    return high + low;
  }

  /** Σ|a·b|. */
  double magnitude() {
    return magnitude;
  }
}
