package dev.minifloat.cpu.internal.convert;

import dev.minifloat.cpu.internal.runtime.ReadAhead;
import java.lang.foreign.MemorySegment;

/**
 * One pass over codes of one format, each in whole bytes or two in one, that leaves their values as
 * F32.
 */
interface FusedDecoder {
  /** What values are multiplied by. Products that are NaN are the canonical one, 7FC00000. */
  enum Step {
    /** Nothing; a NaN keeps its sign. */
    PLAIN,
    /** One factor. */
    TIMES,
    /** One factor that gives no NaN but of codes that are NaN. */
    TIMES_FINITE,
    /** The factor times {@code table[c]}, c being the scale code of the element's block. */
    BLOCKS,
    /** The same, where only canonical NaNs of the table and codes that are NaN give one. */
    BLOCKS_FINITE,
    /** An F32 scale for each element. */
    EACH
  }

  /**
   * Takes as many of {@code n} elements as fill vectors, and returns their number. Codes may lie in
   * the target where values are written only after the codes there were read.
   *
   * @param from byte offset of the first code
   * @param scales bytes or F32s at {@code at}, read with {@link Step#BLOCKS} and {@link Step#EACH}
   * @param shift element i is of block i >> shift; a block has a whole number of vectors
   * @param ahead what to read ahead in {@code dst}, since writing needs its lines too; or null
   */
  int decode(
      MemorySegment codes,
      long from,
      int n,
      float factor,
      MemorySegment scales,
      long at,
      int shift,
      float[] table,
      MemorySegment dst,
      long to,
      ReadAhead ahead);
}
