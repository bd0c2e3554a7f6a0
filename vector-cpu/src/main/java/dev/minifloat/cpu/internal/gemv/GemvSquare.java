package dev.minifloat.cpu.internal.gemv;

import java.lang.foreign.MemorySegment;

/** Products of four rows with four vectors: eight loads serve sixteen multiply-adds. */
interface GemvSquare {
  /** Rows, and vectors. */
  int SIDE = 4;

  /**
   * Adds the products of some turns to the lanes of the sums, turn after turn: how many a call
   * takes makes no difference.
   *
   * @param w the rows' elements
   * @param at byte of the first row's first element
   * @param rowBytes bytes from a row to the next
   * @param x the vectors as {@link GemvTile} lays them
   * @param first turn of the vectors that meets the rows' first
   * @param turns how many
   * @param lanes the sums, {@code LANES} floats for each
   * @param to where the first row's with the first vector is; the other rows' follow
   * @param stride floats from a vector's sums to the next one's
   */
  void multiply(
      MemorySegment w,
      long at,
      long rowBytes,
      MemorySegment x,
      int first,
      int turns,
      float[] lanes,
      int to,
      int stride);
}
