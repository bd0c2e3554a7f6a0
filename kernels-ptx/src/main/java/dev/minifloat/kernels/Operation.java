package dev.minifloat.kernels;

/** What kernels compute; the comment above each in the CUDA sources says how to launch it. */
public enum Operation {
  /** Elements of a view to a whole tensor. */
  COPY,
  /** Matrices turned, 8, 16 or 32 bits an element. */
  TRANSPOSE,
  /** Rounds to another type. */
  CONVERT,
  /** The largest magnitude of each block, or of a view. */
  AMAX,
  /** Scales from the largest magnitudes. */
  SCALES,
  /** Elements divided by their scales and rounded. */
  QUANTIZE,
  /** Scale × element. */
  DEQUANTIZE,
  /** Dequantized rows by their ids. */
  EMBEDDING,
  /** Sum of two float tensors. */
  ADD,
  /** A function of each element. */
  ACTIVATION,
  /** Rotary embedding. */
  ROPE,
  /** Softmax of rows. */
  SOFTMAX,
  /** Layer norm of rows. */
  LAYER_NORM,
  /** RMS norm of rows. */
  RMS_NORM,
  /** Rows divided by their Euclidean norm. */
  L2_NORMALIZE,
  /** Means over sequences. */
  MEAN_POOL,
  /** Softmax of scores times values, in one pass. */
  ATTENTION,
  /** The shares of a dot product. */
  DOT,
  /** The sum of the shares. */
  DOT_SUM,
  /** Matrix times vector. */
  GEMV,
  /** The shares of a product with few rows of A. */
  SKINNY,
  /** Their sum, and the epilogue. */
  SKINNY_SUM,
  /** Matrix times matrix, with the epilogue. */
  GEMM
}
