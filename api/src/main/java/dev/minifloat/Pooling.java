package dev.minifloat;

/** How a sequence of vectors becomes one. */
public enum Pooling {
  /** The arithmetic mean of the first {@code length} vectors. */
  MEAN,
  /** The vector at position 0. */
  FIRST
}
