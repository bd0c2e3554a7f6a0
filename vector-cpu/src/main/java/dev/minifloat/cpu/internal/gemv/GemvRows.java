package dev.minifloat.cpu.internal.gemv;

import java.lang.foreign.MemorySegment;

/**
 * Products of four rows of a matrix with one vector, straight from the rows' memory: activations
 * are loaded once for all four, and from memory four streams come faster than one, since the
 * processor fetches ahead of each only so far.
 */
interface GemvRows {
  /** Rows that are taken together. */
  int ROWS = 4;

  /**
   * Adds the products of {@code steps} steps of each row to its sums.
   *
   * @param w the matrix' elements
   * @param at byte of the first row's first element
   * @param rowBytes bytes from a row to the next
   * @param steps steps of {@link GemvFormat#step} elements
   * @param x the vector, in {@link GemvFormat}'s order; native memory
   * @param first step of the vector that meets the rows' first
   * @param sums the sums, a vector for each row, one after the other
   * @param to where the first row's is
   */
  void multiply(
      MemorySegment w,
      long at,
      long rowBytes,
      int steps,
      MemorySegment x,
      int first,
      float[] sums,
      int to);
}
