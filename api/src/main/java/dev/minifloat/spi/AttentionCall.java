package dev.minifloat.spi;

/**
 * A checked attention. The key heads divide the heads, K and V have one type, and lengths are from
 * 0 to keys. Any extent but the width may be 0.
 *
 * @param q [batch, heads, queries, width]: F32, F16 or BF16
 * @param k [batch, key heads, keys, width]: Q's type, or F8_E4M3 or F8_E5M2 as the backend supports
 * @param v likewise, of K's type
 * @param scale factor of the scores, finite
 * @param causal whether query i sees only keys up to i + (keys − queries)
 * @param lengths I32 [batch], or null
 * @param out [batch, queries, heads, width], whole: F32, F16 or BF16
 */
public record AttentionCall(
    TensorView q,
    TensorView k,
    TensorView v,
    float scale,
    boolean causal,
    TensorView lengths,
    TensorView out) {
  /**
   * How many leading keys a query sees.
   *
   * @param length keys that count for its batch entry
   */
  public long seen(long query, long length) {
    long keys = k.shape().rows();
    long queries = q.shape().rows();
    return causal ? Math.clamp(query + 1 + keys - queries, 0, length) : length;
  }
}
