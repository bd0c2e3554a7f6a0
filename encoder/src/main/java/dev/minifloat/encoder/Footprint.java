package dev.minifloat.encoder;

/**
 * Bytes that an encoder's weights take on its backend, scales included.
 *
 * @param linear the matrices of the linear layers: query, key, value, attention output and the two
 *     of the feed-forward part
 * @param packed what the backend keeps beside the matrices to multiply them faster
 * @param tables the word, position and token-type tables
 * @param vectors biases, and the gains and shifts of the normalizations
 */
public record Footprint(long linear, long packed, long tables, long vectors) {
  /** All of them. */
  public long total() {
    return linear + packed + tables + vectors;
  }
}
