package dev.minifloat.cpu.internal.convert;

import dev.minifloat.Overflow;
import dev.minifloat.cpu.internal.runtime.ReadAhead;
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
    /**
     * x / s with one s for all, by its reciprocal, for sums to nearest even of finite x up to the
     * format's largest value times s, and s from {@link #LEAST_SCALE} to {@link #LARGEST_SCALE}.
     * See {@link EncodeFormat}.
     */
    RATIO,
    /** x / s, with an s for each element. */
    QUOTIENT_EACH
  }

  /** The scales of {@link Step#RATIO}: far from where a step of it would lose bits. */
  float LEAST_SCALE = 0x1p-80f;

  float LARGEST_SCALE = 0x1p80f;

  /**
   * Takes as many of {@code n} elements as fill vectors, and returns their number.
   *
   * @param scales F32s at {@code at}; read by all steps but {@link Step#CONVERT}
   * @param shift element i is of block i >> shift; a block has a whole number of vectors
   * @param random a word of random bits for each element at {@code auxAt}; read with stochastic
   *     rounding only
   * @param auxAt where the random bits are, or with {@link Step#RATIO} the negated reciprocals of
   *     the scales, among the scales; else of no account
   * @param ahead what to read ahead in {@code src}, or null; not with stochastic rounding
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
      long auxAt,
      MemorySegment dst,
      long to,
      ReadAhead ahead);
}
