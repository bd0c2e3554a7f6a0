package dev.minifloat.contract;

import dev.minifloat.Backend;
import dev.minifloat.Shape;
import dev.minifloat.spi.BackendBase;
import dev.minifloat.spi.Kernels;

/**
 * Attention in double, with the bound of its evaluation in one pass over the keys. u is 2^-24, η
 * 2^-149, n the number of keys that a query sees.
 *
 * <p><b>Scores.</b> s = q·k is off by γ·Σ|q·k| + d·η, as any product; t = scale·s by |scale| times
 * that and another u·|t| + η: altogether e. Differences of scores from a maximum m are taken in F32
 * and come on top, u·A each, A ≥ |t| + |m| + |t − m|. A backend that multiplies by scale·log₂e
 * rounds once more, and its product too: 2·u·|t|.
 *
 * <p><b>Weights.</b> The pass keeps sums relative to the largest score so far, m₀ ≤ m₁ ≤ …, and
 * multiplies them by e^(mᵢ − mᵢ₊₁) when a larger one comes: at most n times. The arguments of these
 * and of the weight's own exponential sum up to t − m; their roundings to 2·u·A, since the mᵢ are
 * monotonic. Each factor adds 4·u for the exponential and u for the product. So a weight comes to
 * e^(t − m) · (1 + δ), |δ| ≤ e^(E + u·(5·n + 5)) − 1 with E = max e + 3·u·A; the error of the
 * maximum itself cancels, as it is the same number for all. If the weights are rounded, r·max(w,
 * 2^-14) is added to each, relative to the largest so far, which later factors only shrink.
 *
 * <p><b>Sums.</b> Σ w·v has γ of a product over n keys and u for each factor, which the 5·n cover;
 * Σ w has γₙ. The quotient has the relative errors of both and 2·u: |y − ŷ| ≤ Δ · Σ p·|v|, Δ =
 * e^(2·E + u·(12·n + 16)) · (1 + γ) − 1 + 2·r, p the exact softmax. Weights below the normal
 * numbers may be flushed, and rounded ones are off by r·2^-14: each adds at most that times |v|,
 * over a sum of weights that is 1 or more.
 */
final class AttentionOracle {
  private static final double U = ErrorBounds.U;

  private AttentionOracle() {}

  /** What a backend promises beyond F32. */
  private record Promise(double gammaOfScores, double gammaOfSums, double roundoff) {
    static Promise of(Backend backend, Operand q, Operand k) {
      long width = q.shape().columns();
      long keys = k.shape().rows();
      if (!(backend instanceof BackendBase)) {
        return new Promise(ErrorBounds.gamma(width + 4), ErrorBounds.gamma(keys + 4), 0);
      }
      Kernels kernels = Kernels.of(backend);
      return new Promise(
          kernels.gemmGamma(q.dtype(), k.dtype(), width),
          kernels.gemmGamma(q.dtype(), k.dtype(), keys),
          kernels.attentionRoundoff(q.dtype(), k.dtype()));
    }
  }

  /**
   * The result of [batch, heads, queries, width], row-major.
   *
   * @param lengths keys that count for each batch entry, or null
   */
  static Bounded attention(
      Backend backend,
      Operand q,
      Operand k,
      Operand v,
      float scale,
      boolean causal,
      int[] lengths) {
    Promise promise = Promise.of(backend, q, k);
    Shape shape = q.shape();
    int heads = (int) shape.dim(-3);
    int keyHeads = (int) k.shape().dim(-3);
    int queries = (int) shape.rows();
    int keys = (int) k.shape().rows();
    int width = (int) shape.columns();
    double[] exact = new double[q.values().length];
    double[] error = new double[exact.length];
    for (int row = 0; row * width < exact.length; row++) {
      int batch = row / queries / heads;
      int head = batch * keyHeads + row / queries % heads / (heads / keyHeads);
      int seen = lengths == null ? keys : lengths[batch];
      if (causal) {
        seen = Math.clamp(row % queries + 1L + keys - queries, 0, seen);
      }
      if (seen > 0) {
        row(promise, q, row * width, k, v, head * keys * width, seen, scale, exact, error);
      }
    }
    return new Bounded(exact, error);
  }

  private static void row(
      Promise promise,
      Operand q,
      int at,
      Operand k,
      Operand v,
      int from,
      int seen,
      float scale,
      double[] exact,
      double[] error) {
    int width = (int) q.shape().columns();
    double[] t = new double[seen];
    double max = Double.NEGATIVE_INFINITY;
    double e = 0;
    double largest = 0;
    for (int j = 0; j < seen; j++) {
      double sum = 0;
      double magnitude = 0;
      for (int d = 0; d < width; d++) {
        double product = q.values()[at + d] * k.values()[from + j * width + d];
        sum += product;
        magnitude += Math.abs(product);
      }
      t[j] = scale * sum;
      max = Math.max(max, t[j]);
      largest = Math.max(largest, Math.abs(t[j]));
      double score = ErrorBounds.accumulation(promise.gammaOfScores, width, magnitude);
      e = Math.max(e, Math.abs(scale) * score + 3 * U * Math.abs(t[j]) + ErrorBounds.ETA);
    }
    // |t|, |m| and |t − m| are at most 1, 1 and 2 times the largest magnitude.
    double growth = 2 * (e + 3 * U * 4 * largest) + U * (12.0 * seen + 16);
    double relative =
        Math.expm1(growth) * (1 + promise.gammaOfSums) + promise.gammaOfSums + 2 * promise.roundoff;
    double lost = Float.MIN_NORMAL + promise.roundoff * 0x1p-14;
    double sum = 0;
    for (int j = 0; j < seen; j++) {
      t[j] = Math.exp(t[j] - max);
      sum += t[j];
    }
    for (int d = 0; d < width; d++) {
      double value = 0;
      double magnitude = 0;
      double flushed = 0;
      for (int j = 0; j < seen; j++) {
        double element = v.values()[from + j * width + d];
        value += t[j] / sum * element;
        magnitude += t[j] / sum * Math.abs(element);
        flushed += lost * Math.abs(element);
      }
      exact[at + d] = value;
      error[at + d] = relative * magnitude + flushed + (seen + 2) * ErrorBounds.ETA;
    }
  }
}
