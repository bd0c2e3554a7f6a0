package dev.minifloat.cuda.sim;

/**
 * How a matrix instruction adds up its products. PTX leaves order and rounding open (PTX ISA, "Warp
 * Level Matrix Multiply-Accumulate Instructions"); these are the choices.
 */
public enum Arithmetic {
  /** The exact sum of all products and the accumulator, rounded once. */
  EXACT,
  /** One F32 fused multiply-add after the other. */
  SEQUENTIAL_F32,
  /** What others measured on tensor cores; a model, not a promise. */
  HARDWARE_MODEL
}
