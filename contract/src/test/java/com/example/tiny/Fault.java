package com.example.tiny;

import java.util.Locale;

/** Mistakes that real kernels were found with, each in an area of its own. */
public enum Fault {
  /** None: the backend passes. */
  NONE(""),
  /** Upload leaves out the last byte. */
  UPLOAD_DROPS_LAST_BYTE("transfer"),
  /** Stochastic rounding draws its bits at index + 1. */
  STOCHASTIC_INDEX_OFF_BY_ONE("convert"),
  /** Subnormals of F16 decode to zero. */
  CONVERT_FLUSHES_SUBNORMALS("convert"),
  /** Elements are x · (1/s) instead of x / s. */
  QUANTIZE_MULTIPLIES_BY_RECIPROCAL("quantize"),
  /** A block with a NaN is quantized as if it were zeros. */
  QUANTIZE_LOSES_NAN("fixtures"),
  /** Dequantization of a view takes the scales from the view's own index. */
  DEQUANTIZE_MISPLACES_SCALES("dequantize"),
  /** The last K mod 16 products are left out. */
  GEMM_DROPS_TAIL_OF_K("gemm"),
  /** Sums are kept in BF16. */
  GEMM_ACCUMULATES_IN_BF16("gemm"),
  /** The bias is forgotten. */
  GEMM_FORGETS_BIAS("gemm"),
  /** The second operand's last element counts as 0. */
  DOT_MISSES_LAST_ELEMENT("dot"),
  /** Masked columns are seen. */
  SOFTMAX_IGNORES_LENGTHS("softmax"),
  /** The causal mask is one column too wide. */
  SOFTMAX_SEES_THE_FUTURE("softmax"),
  /** Keys behind a length are seen. */
  ATTENTION_IGNORES_LENGTHS("attention"),
  /** Query i sees keys up to i, also where there are more keys than queries. */
  ATTENTION_ALIGNS_FIRST_KEYS("attention"),
  /** Every head reads the first key head. */
  ATTENTION_READS_ONE_KEY_HEAD("attention"),
  /** Scores are not scaled. */
  ATTENTION_FORGETS_SCALE("attention"),
  /** Epsilon is added to the deviation's square ten times. */
  LAYER_NORM_TENFOLD_EPSILON("layerNorm"),
  /** Pairs of neighbours and of halves are confused. */
  ROPE_SWAPS_PAIRS("rope"),
  /** The mean is over the whole sequence. */
  POOL_IGNORES_LENGTHS("pool"),
  /** Every other product differs in its last bit. */
  GEMM_WAVERS("determinism"),
  /** The support table says yes to what throws. */
  CLAIMS_TOO_MUCH("support");

  private final String group;

  Fault(String group) {
    this.group = group;
  }

  /** The group of checks that must find it. */
  public String group() {
    return group;
  }

  /** {@code tiny}, or {@code tiny-} and the fault's name. */
  public String backendName() {
    return this == NONE ? "tiny" : "tiny-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
