package dev.minifloat;

/**
 * Functions applied to single elements, on their own or at the end of a {@link Gemm}. At −∞ the
 * GELUs and SiLU give their limit, 0; NaN stays NaN.
 */
public enum Activation {
  /** The identity. */
  NONE,
  /** max(x, 0). */
  RELU,
  /** x · ½ (1 + erf(x / √2)): the exact GELU. */
  GELU_ERF,
  /** x · ½ (1 + tanh(√(2/π) (x + 0.044715 x³))): the approximation. */
  GELU_TANH,
  /** x / (1 + e^−x). */
  SILU
}
