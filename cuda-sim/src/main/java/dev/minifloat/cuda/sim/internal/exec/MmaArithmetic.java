package dev.minifloat.cuda.sim.internal.exec;

/**
 * How a matrix instruction adds up its products. PTX leaves order and rounding open; these are the
 * choices.
 */
public enum MmaArithmetic {
  /** The exact sum of all products and the accumulator, rounded once. */
  EXACT,
  /** One F32 fused multiply-add after the other, k ascending. */
  SEQUENTIAL_F32,
  /**
   * What others measured on tensor cores, a model: all terms aligned to the largest exponent, cut
   * off after a fixed number of fraction bits, added, rounded toward zero.
   */
  HARDWARE_MODEL
}
