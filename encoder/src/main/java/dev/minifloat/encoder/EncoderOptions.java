package dev.minifloat.encoder;

import dev.minifloat.DType;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import java.util.Objects;

/**
 * How an encoder computes.
 *
 * @param weights format of the weights
 * @param activations type of the activations: F32, F16 or BF16. Each operation computes in FP32 and
 *     rounds once to this type
 * @param linearInputs to what the input of each linear layer is quantized before its product; null
 *     for not at all. With a scaling that spans rows ({@code tensor}, {@code columns}, taller
 *     blocks, or {@code nvfp4}, which has a scale of the whole tensor) a text's embedding depends
 *     slightly on the others of its batch
 * @param packed whether the backend may also keep the linear layers' matrices arranged for its
 *     products, {@link dev.minifloat.Operations#pack}: faster, most of all for few tokens, and more
 *     memory. The vectors have the same bits
 * @param pooling how the vectors of a text's tokens become one
 * @param prefix put before each text, such as {@code "query: "}; empty for none
 * @param maxTokens the most tokens of a text, special ones included; what is more is cut off
 * @param batchTokens about how many tokens, padding included, are computed at once; a text with
 *     more is computed alone
 */
public record EncoderOptions(
    WeightFormat weights,
    DType activations,
    QuantSpec linearInputs,
    boolean packed,
    Pooling pooling,
    String prefix,
    int maxTokens,
    int batchTokens) {
  /** Tokens computed at once by default: few enough for the caches, enough for full products. */
  public static final int DEFAULT_BATCH_TOKENS = 512;

  /**
   * Checks the options.
   *
   * @throws IllegalArgumentException if activations is not F32, F16 or BF16, or a number is not
   *     positive
   */
  public EncoderOptions {
    Objects.requireNonNull(weights, "weights");
    Objects.requireNonNull(activations, "activations");
    Objects.requireNonNull(pooling, "pooling");
    Objects.requireNonNull(prefix, "prefix");
    if (activations != DType.F32 && activations != DType.F16 && activations != DType.BF16) {
      throw new IllegalArgumentException(
          "activations: " + activations + " is not one of F32, F16, BF16");
    }
    if (maxTokens < 1) {
      throw new IllegalArgumentException("maxTokens: " + maxTokens + " is not positive");
    }
    if (batchTokens < 1) {
      throw new IllegalArgumentException("batchTokens: " + batchTokens + " is not positive");
    }
  }

  /** F32 throughout, without prefix, up to 512 tokens. */
  public static EncoderOptions of(Pooling pooling) {
    return new EncoderOptions(
        WeightFormat.F32, DType.F32, null, true, pooling, "", 512, DEFAULT_BATCH_TOKENS);
  }

  /** F32 throughout, with the pooling and the prefix of a known model. */
  public static EncoderOptions of(KnownModel model) {
    return of(model.pooling()).prefix(model.queryPrefix());
  }

  /** The same with another format of the weights. */
  public EncoderOptions weights(WeightFormat weights) {
    return new EncoderOptions(
        weights, activations, linearInputs, packed, pooling, prefix, maxTokens, batchTokens);
  }

  /** The same with another type of the activations. */
  public EncoderOptions activations(DType activations) {
    return new EncoderOptions(
        weights, activations, linearInputs, packed, pooling, prefix, maxTokens, batchTokens);
  }

  /** The same with the inputs of linear layers quantized, or not (null). */
  public EncoderOptions linearInputs(QuantSpec linearInputs) {
    return new EncoderOptions(
        weights, activations, linearInputs, packed, pooling, prefix, maxTokens, batchTokens);
  }

  /** The same with packed matrices, or not. */
  public EncoderOptions packed(boolean packed) {
    return new EncoderOptions(
        weights, activations, linearInputs, packed, pooling, prefix, maxTokens, batchTokens);
  }

  /** The same with another prefix. */
  public EncoderOptions prefix(String prefix) {
    return new EncoderOptions(
        weights, activations, linearInputs, packed, pooling, prefix, maxTokens, batchTokens);
  }

  /** The same with another limit of a text's tokens. */
  public EncoderOptions maxTokens(int maxTokens) {
    return new EncoderOptions(
        weights, activations, linearInputs, packed, pooling, prefix, maxTokens, batchTokens);
  }

  /** The same with another size of batches. */
  public EncoderOptions batchTokens(int batchTokens) {
    return new EncoderOptions(
        weights, activations, linearInputs, packed, pooling, prefix, maxTokens, batchTokens);
  }
}
