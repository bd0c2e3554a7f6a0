package dev.minifloat.cpu.internal.gemv;

import java.lang.foreign.MemorySegment;

/**
 * Products of one row of a matrix with a few vectors, straight from the row's memory.
 *
 * <p>A kernel's loop counts the steps of the vectors, which are so at a multiple of the counter.
 * With a second offset that it doesn't know, the compiler's checks make it a quarter slower.
 */
interface GemvRow {
  /**
   * Adds the products of {@code steps} steps of the row to the sums.
   *
   * @param w the matrix' elements
   * @param at byte of the row's first element
   * @param steps steps of {@link GemvFormat#step} elements
   * @param x the vectors, in {@link GemvFormat}'s order; native memory, so that no load need cross
   *     a cache line
   * @param first step of the first vector that meets the row's first
   * @param pitch bytes from a vector to the next
   * @param scales a factor for each {@link GemvFormat#group} elements of the row; readable for a
   *     vector's length beyond the last; ignored if there is no group
   * @param scale where the first of them is
   * @param sums the sums, a vector for each, whose lanes add up to it
   * @param to where the first vector's is
   * @param stride floats from a vector's to the next
   */
  void multiply(
      MemorySegment w,
      long at,
      int steps,
      MemorySegment x,
      int first,
      long pitch,
      float[] scales,
      int scale,
      float[] sums,
      int to,
      int stride);
}
