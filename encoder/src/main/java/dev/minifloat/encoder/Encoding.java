package dev.minifloat.encoder;

import java.util.Arrays;

/**
 * A text, or a pair of texts, as a model reads it: token ids with the special tokens around them,
 * and for each the type id (0 for the first text, 1 for the second). Immutable.
 */
public final class Encoding {
  private final int[] ids;
  private final int[] typeIds;
  private final boolean truncated;

  Encoding(int[] ids, int[] typeIds, boolean truncated) {
    this.ids = ids;
    this.typeIds = typeIds;
    this.truncated = truncated;
  }

  /** The number of tokens, special ones included. */
  public int length() {
    return ids.length;
  }

  /** The token ids, in a new array of {@link #length()} elements. */
  public int[] ids() {
    return ids.clone();
  }

  /** The type ids, in a new array of {@link #length()} elements. */
  public int[] typeIds() {
    return typeIds.clone();
  }

  /** The id of the token at {@code index}, which is below {@link #length()}. */
  public int id(int index) {
    return ids[index];
  }

  /** The type id of the token at {@code index}, which is below {@link #length()}. */
  public int typeId(int index) {
    return typeIds[index];
  }

  /** Whether tokens were dropped to keep within the limit. */
  public boolean truncated() {
    return truncated;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Encoding that
        && truncated == that.truncated
        && Arrays.equals(ids, that.ids)
        && Arrays.equals(typeIds, that.typeIds);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(ids) + Arrays.hashCode(typeIds);
  }

  @Override
  public String toString() {
    return "Encoding[ids="
        + Arrays.toString(ids)
        + ", typeIds="
        + Arrays.toString(typeIds)
        + ", truncated="
        + truncated
        + "]";
  }
}
