package dev.minifloat.cpu.internal.convert;

import dev.minifloat.Overflow;
import java.lang.foreign.MemorySegment;

/**
 * One pass over F32s that rounds them, or their quotients, to codes of one format in one rounding,
 * and leaves each code in whole bytes, with zeros above a narrower one. Stochastic rounding leaves
 * it in an int, which may be where the element's random bits were: storing less as well would be
 * too much for one loop.
 */
public interface FusedEncoder {
  /** What is rounded. Quotients and products are finite, or NaN, whose code is 0. */
  enum Step {
    /** The F32s themselves, NaN and infinities included. */
    CONVERT,
    /** x / s, s being the F32 scale of the element's block. */
    QUOTIENT,
    /** x · s. */
    PRODUCT,
    /** x / s, with an s for each element. */
    QUOTIENT_EACH
  }

  /**
   * Takes as many of {@code n} elements as fill vectors, and returns their number.
   *
   * @param scales F32s at {@code at}; read by all steps but {@link Step#CONVERT}
   * @param shift element i is of block i >> shift; a block has a whole number of vectors
   * @param random a word of random bits for each element at {@code randomAt}; read with stochastic
   *     rounding only
   */
  int encode(
      MemorySegment src,
      long from,
      int n,
      MemorySegment scales,
      long at,
      int shift,
      Overflow overflow,
      MemorySegment random,
      long randomAt,
      MemorySegment dst,
      long to);
}
