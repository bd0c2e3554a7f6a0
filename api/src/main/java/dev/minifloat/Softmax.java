package dev.minifloat;

import java.util.Objects;

/**
 * A softmax over the last dimension: e^(scale·x − m) / Σ e^(scale·x − m), m the largest scale·x of
 * the row; masked columns count as −∞ and give +0.
 *
 * <p>A row with nothing but masked columns gives zeros; a NaN, or a +Inf, among the unmasked makes
 * the unmasked part of the row NaN; −Inf gives 0 unless every unmasked column is −Inf, which gives
 * NaN.
 *
 * @param x [batch, …, rows, columns], F32, F16 or BF16
 * @param scale a positive or negative factor of x
 * @param lengths I32 of shape [batch]: the number of leading columns that count, for each index of
 *     the first dimension of x (which then has rank 2 or more); from 0 to columns; null for all
 * @param causal whether row i sees only columns up to i + (columns − rows)
 */
public record Softmax(Tensor x, float scale, Tensor lengths, boolean causal) {
  /** Checks that there is an operand. */
  public Softmax {
    Objects.requireNonNull(x, "x");
  }

  /** Unmasked, scale 1. */
  public static Softmax of(Tensor x) {
    return new Softmax(x, 1, null, false);
  }

  /** The same with another factor of x. */
  public Softmax scale(float scale) {
    return new Softmax(x, scale, lengths, causal);
  }

  /** The same with row lengths. */
  public Softmax lengths(Tensor lengths) {
    return new Softmax(x, scale, lengths, causal);
  }

  /** The same with or without the causal mask. */
  public Softmax causal(boolean causal) {
    return new Softmax(x, scale, lengths, causal);
  }
}
