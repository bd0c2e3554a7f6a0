package dev.minifloat;

import java.util.Objects;

/**
 * A rotary position embedding (Su et al., "RoFormer"): of each vector, the first {@code dims}
 * elements are rotated in pairs by the angle position · base^(−2i/dims), i the pair's index; the
 * rest is copied.
 *
 * @param x [batch…, sequence, width], F32, F16 or BF16
 * @param dims how many leading elements rotate: even, at most width
 * @param base the base of the angles, usually 10000
 * @param interleaved whether pair i is elements (2i, 2i + 1), else (i, i + dims/2)
 * @param positions I32 of shape [sequence]; null for 0, 1, 2, …
 */
public record Rope(Tensor x, int dims, float base, boolean interleaved, Tensor positions) {
  /** Checks the parameters that don't depend on the tensors. */
  public Rope {
    Objects.requireNonNull(x, "x");
    if (dims < 0 || dims % 2 != 0 || dims > x.shape().columns()) {
      throw new IllegalArgumentException(
          "dims: %d is not an even number from 0 to the width %d"
              .formatted(dims, x.shape().columns()));
    }
    if (!(base > 0) || Float.isInfinite(base)) {
      throw new IllegalArgumentException("base: " + base + " is not a positive number");
    }
  }

  /** All (an even number of) elements, base 10000, pairs (i, i + width/2), positions 0, 1, 2, …. */
  public static Rope of(Tensor x) {
    return new Rope(x, (int) x.shape().columns() & ~1, 10000, false, null);
  }

  /** The same over fewer elements. */
  public Rope dims(int dims) {
    return new Rope(x, dims, base, interleaved, positions);
  }

  /** The same with another base. */
  public Rope base(float base) {
    return new Rope(x, dims, base, interleaved, positions);
  }

  /** The same with pairs of neighbours, or not. */
  public Rope interleaved(boolean interleaved) {
    return new Rope(x, dims, base, interleaved, positions);
  }

  /** The same at given positions. */
  public Rope positions(Tensor positions) {
    return new Rope(x, dims, base, interleaved, positions);
  }
}
