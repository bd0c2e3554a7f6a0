package dev.minifloat.cpu.internal.gemv;

import java.lang.foreign.MemorySegment;

/**
 * Products of one row of a matrix with one or two vectors, or of four rows with one, straight from
 * the rows' memory.
 *
 * <p>Of four rows, activations are loaded once for all, one row's end overlaps with the others, and
 * from memory four streams come faster than one, since the processor fetches ahead of each only so
 * far. A row's sum has the same bits alone and with others.
 *
 * <p>A kernel's loop counts the steps of the vectors, which are so at a multiple of the counter.
 * With a second offset that it doesn't know, the compiler's checks make it a quarter slower.
 */
interface GemvRows {
  /** Rows that a kernel for several takes together. */
  int ROWS = 4;

  /**
   * Adds the products of {@code steps} steps of each row to the sums.
   *
   * @param w the matrix' elements
   * @param at byte of the first row's first element; for several rows, at least {@link
   *     GemvFormat#bytesBefore}
   * @param rowBytes bytes from a row to the next
   * @param steps steps of {@link GemvFormat#step} elements
   * @param x the vectors, in {@link GemvFormat}'s order; native memory, so that no load need cross
   *     a cache line
   * @param first step of the first vector that meets the rows' first
   * @param pitch bytes from a vector to the next
   * @param scales a factor for each {@link GemvFormat#group} elements of the rows; readable for a
   *     vector's length beyond the last; ignored if there is no group
   * @param scale where the first row's first is
   * @param rowScales factors from a row to the next
   * @param sums the sums, whose lanes add up to them: of several rows one after the other
   * @param to where the first row's with the first vector is
   * @param stride floats from a vector's to the next
   */
  void multiply(
      MemorySegment w,
      long at,
      long rowBytes,
      int steps,
      MemorySegment x,
      int first,
      long pitch,
      float[] scales,
      int scale,
      int rowScales,
      float[] sums,
      int to,
      int stride);
}
