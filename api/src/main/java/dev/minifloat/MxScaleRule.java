package dev.minifloat;

/**
 * How the power-of-two scale of an MX block follows from its amax. emax is {@link
 * DType#maxExponent()} of the element format. Every result is clamped to 2^-127 … 2^127.
 */
public enum MxScaleRule {
  /** 2^(⌊log2 amax⌋ − emax): OCP Microscaling Formats 1.0 §6.3, the default. */
  FLOOR,
  /** 2^(⌈log2 amax⌉ − emax). */
  CEIL,
  /** The F32 quotient amax / max(format), rounded up to a power of two: nothing saturates. */
  RCEIL,
  /** FLOOR of the float with bits(amax) + (1 &lt;&lt; (22 − mantissaBits)). */
  EVEN
}
