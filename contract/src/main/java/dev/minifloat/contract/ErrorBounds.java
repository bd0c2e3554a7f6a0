package dev.minifloat.contract;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.codec.Codec;

/**
 * How far a result may lie from the exact one.
 *
 * <p>u = 2^-24 is the unit roundoff of F32 and η = 2^-149 its smallest positive number: each F32
 * operation gives (exact)·(1 + δ) + ε with |δ| ≤ u, |ε| ≤ η/2, and ε = 0 for sums. n roundings in a
 * row grow a value by at most 1 + γₙ, γₙ = n·u / (1 − n·u) (Higham, "Accuracy and Stability of
 * Numerical Algorithms", §3.1).
 *
 * <p><b>Accumulation.</b> A term of a sum of K products passes at most one rounding for each
 * operand's scale, one for the product and K − 1 for the sums, in whatever order they are taken: K
 * + 2 of them. Two more pay for scales that are applied to a block's sum rather than to each
 * element. Hence |acc − exact| ≤ γ₍K+4₎ · Σ|a·b| + K·η, the numerics contract's bound. A backend
 * whose matrix products use an accumulator narrower than F32 states a γ of its own.
 *
 * <p><b>Output.</b> Rounding to a format is monotonic; so a result computed with an error of at
 * most e and then rounded must lie between the rounded (exact − e) and the rounded (exact + e).
 * That replaces half an ulp, and holds at subnormals and at the largest value too.
 */
public final class ErrorBounds {
  /** Unit roundoff of F32. */
  public static final double U = 0x1p-24;

  /** Smallest positive F32. */
  public static final double ETA = 0x1p-149;

  /** Largest slope of GELU and SiLU (1.129 and 1.0998), rounded up; ReLU's is 1. */
  private static final double SLOPE = 1.13;

  private ErrorBounds() {}

  /** γₙ = n·u / (1 − n·u). */
  public static double gamma(long n) {
    double nu = n * U;
    if (nu >= 0.5) {
      throw new IllegalArgumentException("n: " + n + " roundings leave no digit of F32");
    }
    return nu / (1 - nu);
  }

  /**
   * The bound of an FP32 sum of {@code k} products.
   *
   * @param magnitude Σ|a·b|
   */
  public static double accumulation(long k, double magnitude) {
    return accumulation(gamma(k + 4), k, magnitude);
  }

  /**
   * The bound of a sum of {@code k} products, summed as a backend says.
   *
   * @param gamma what it promises: {@link dev.minifloat.spi.Kernels#gemmGamma}
   * @param magnitude Σ|a·b|
   */
  public static double accumulation(double gamma, long k, double magnitude) {
    return gamma * magnitude + k * ETA;
  }

  /**
   * The bound of alpha·acc + beta·c + bias, every operation in F32.
   *
   * <p>The first term passes the rounding of its product and of two sums, the others no more; one
   * further rounding pays for a backend that folds alpha into an operand's scale. Fused
   * multiply-adds only leave roundings out.
   *
   * @param accumulation the bound of the accumulated product, which is scaled by alpha
   * @param product |exact product|, before alpha
   */
  public static double epilogue(
      double accumulation, double product, double alpha, double betaTimesC, double bias) {
    double carried = Math.abs(alpha) * accumulation;
    double magnitude = Math.abs(alpha) * product + carried + Math.abs(betaTimesC) + Math.abs(bias);
    return carried + gamma(4) * magnitude + 3 * ETA;
  }

  /**
   * The bound of an activation at {@code x}, known up to {@code error}.
   *
   * <p>The argument's error grows by the function's slope, at most 1.13. Evaluating GELU or SiLU in
   * F32 takes the product of x with a factor in [0, 1] whose absolute error is a few u: an exp, erf
   * or tanh of 2 ulp, at an argument that a few roundings have moved (the factor's change is at
   * most |t|·φ(t) ≤ 0.45 for each relative u), and a sum. 16·u = 2^-20 covers these; below −16 the
   * factor is 0 in F32, and every error with it. ReLU and NONE are exact.
   */
  public static double activation(Activation activation, double x, double error) {
    return switch (activation) {
      case NONE, RELU -> error;
      case GELU_ERF, GELU_TANH, SILU ->
          SLOPE * error + 0x1p-20 * (x < 0 ? Math.min(-x, 16) : x) + ETA;
    };
  }

  /**
   * Whether {@code actual} is {@code exact}, computed with an error of at most {@code error} and
   * rounded to nearest even in {@code dtype}.
   */
  public static boolean admits(DType dtype, double exact, double error, double actual) {
    if (Double.isNaN(exact) || Double.isInfinite(exact)) {
      // The bits decide between NaNs: arithmetic gives the positive one without a payload.
      return Double.doubleToLongBits(exact) == Double.doubleToRawLongBits(actual);
    }
    Overflow overflow = Overflow.defaultFor(dtype);
    return rounded(dtype, exact - error, overflow) <= actual
        && actual <= rounded(dtype, exact + error, overflow);
  }

  private static double rounded(DType dtype, double value, Overflow overflow) {
    return Codec.decodeDouble(
        dtype, Codec.encode(dtype, value, Rounding.NEAREST_EVEN, overflow, 0));
  }
}
