package dev.minifloat;

import java.util.Objects;

/**
 * Scaled dot-product attention (Vaswani et al., "Attention Is All You Need", §3.2.1): for each
 * query q the sum of pⱼ · vⱼ over the keys kⱼ that it sees, p = softmax(scale · q · kⱼ).
 *
 * <p>Q is [batch, heads, queries, width], K and V are [batch, key heads, keys, width]; all three
 * may be without batch. The key heads divide the heads: query head h reads key head h · key heads /
 * heads, so that one key head serves all (multi-query attention), some (grouped-query) or each its
 * own. The width of a head is from 1 to 256.
 *
 * <p>The result has the shape of Q. In memory the heads of one query lie side by side, as the
 * product that follows reads them: {@code attention(…).transposed(-3, -2)}, [batch, queries, heads,
 * width], is contiguous and can be reshaped.
 *
 * <p>Scores and sums are FP32, and the result is rounded once; a backend whose tensor cores take
 * the weights pⱼ in fewer bits says so ({@link dev.minifloat.spi.Kernels#attentionRoundoff}). A
 * query that sees no key gives zeros. A score of −Inf has weight 0 unless every score is −Inf,
 * which gives NaN, as do a NaN and +Inf among the scores. What lies behind a length is never read
 * as a number and may be anything. A V that is infinite or NaN makes its column infinite or NaN for
 * each query that sees it, and may do so for those of which only the causal mask hides it.
 *
 * @param q queries: F32, F16 or BF16
 * @param k keys: of Q's type, or F8_E4M3 or F8_E5M2 with no scaling, one scale, or scales of rows
 * @param v values, of K's type; its scaling may be another
 * @param scale a finite factor of the scores
 * @param causal whether query i sees only keys up to i + (keys − queries): the last sees all
 * @param lengths I32 of shape [batch]: the number of leading keys that count, from 0 to keys; null
 *     for all; only with a batch dimension
 * @param output type of the result: F32, F16 or BF16
 */
public record Attention(
    Tensor q, Tensor k, Tensor v, float scale, boolean causal, Tensor lengths, DType output) {

  /** The widest head. */
  public static final int MOST_WIDTH = 256;

  /** Checks the parameters that don't depend on the tensors. */
  public Attention {
    Objects.requireNonNull(q, "q");
    Objects.requireNonNull(k, "k");
    Objects.requireNonNull(v, "v");
    Objects.requireNonNull(output, "output");
    if (!Float.isFinite(scale)) {
      throw new IllegalArgumentException("scale: " + scale + " is not a finite number");
    }
  }

  /** Without a mask, scale 1 / √width, the result of Q's type. */
  public static Attention of(Tensor q, Tensor k, Tensor v) {
    float scale = (float) (1 / Math.sqrt((double) Math.max(1, q.shape().columns())));
    return new Attention(q, k, v, scale, false, null, q.dtype());
  }

  /** The same with another factor of the scores. */
  public Attention scale(float scale) {
    return new Attention(q, k, v, scale, causal, lengths, output);
  }

  /** The same with or without the causal mask. */
  public Attention causal(boolean causal) {
    return new Attention(q, k, v, scale, causal, lengths, output);
  }

  /** The same with lengths of the keys; null for all keys. */
  public Attention lengths(Tensor lengths) {
    return new Attention(q, k, v, scale, causal, lengths, output);
  }

  /** The same with a result of another type. */
  public Attention output(DType output) {
    return new Attention(q, k, v, scale, causal, lengths, output);
  }
}
