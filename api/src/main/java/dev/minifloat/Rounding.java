package dev.minifloat;

/** How an encoder rounds a value that lies between two neighbours of a format. */
public sealed interface Rounding {
  /** To the nearest; a tie goes to the neighbour whose code is even. The default. */
  Rounding NEAREST_EVEN = Mode.NEAREST_EVEN;

  /** To the neighbour nearer to zero. */
  Rounding TOWARD_ZERO = Mode.TOWARD_ZERO;

  /**
   * To the greater neighbour. {@link DType#F8_E8M0}, which has no sign, rounds the magnitude, as
   * scale rules need it.
   */
  Rounding TOWARD_POSITIVE = Mode.TOWARD_POSITIVE;

  /**
   * Away from zero with a probability equal to the discarded fraction of an ulp, drawn from {@link
   * dev.minifloat.codec.Philox} under {@code seed} at the element's row-major index: the same
   * result for any backend and any number of threads.
   */
  static Rounding stochastic(long seed) {
    return new Stochastic(seed);
  }

  /** The roundings without a parameter. */
  enum Mode implements Rounding {
    /** See {@link Rounding#NEAREST_EVEN}. */
    NEAREST_EVEN,
    /** See {@link Rounding#TOWARD_ZERO}. */
    TOWARD_ZERO,
    /** See {@link Rounding#TOWARD_POSITIVE}. */
    TOWARD_POSITIVE
  }

  /**
   * See {@link Rounding#stochastic}.
   *
   * @param seed the generator's key
   */
  record Stochastic(long seed) implements Rounding {}
}
