package dev.minifloat.encoder;

/**
 * The extents of a BERT-family encoder. All but the number of heads follow from the shapes of its
 * weights.
 *
 * @param layers layers of attention and feed-forward
 * @param heads attention heads of each layer; divides {@code hidden}
 * @param hidden width of a token's vector
 * @param intermediate width between the two products of the feed-forward part
 * @param vocabulary rows of the word table
 * @param positions rows of the position table: the most tokens that a text can have
 * @param types rows of the token-type table
 * @param epsilon what layer normalization adds to the variance
 */
public record BertConfig(
    int layers,
    int heads,
    int hidden,
    int intermediate,
    int vocabulary,
    int positions,
    int types,
    float epsilon) {
  /** What BERT's layer normalization adds to the variance. */
  public static final float EPSILON = 1e-12f;

  /**
   * Checks that the extents make an encoder.
   *
   * @throws IllegalArgumentException if an extent or epsilon is not positive, or heads doesn't
   *     divide hidden
   */
  public BertConfig {
    requirePositive("layers", layers);
    requirePositive("heads", heads);
    requirePositive("hidden", hidden);
    requirePositive("intermediate", intermediate);
    requirePositive("vocabulary", vocabulary);
    requirePositive("positions", positions);
    requirePositive("types", types);
    if (hidden % heads != 0) {
      throw new IllegalArgumentException(
          "heads: " + hidden + " dimensions can't be cut into " + heads + " equal heads");
    }
    if (!(epsilon > 0)) {
      throw new IllegalArgumentException("epsilon: " + epsilon + " is not positive");
    }
  }

  private static void requirePositive(String name, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(name + ": " + value + " is not positive");
    }
  }

  /** Width of one head. */
  public int headWidth() {
    return hidden / heads;
  }
}
