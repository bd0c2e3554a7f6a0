package dev.minifloat;

/** The operations of a backend, as {@link Backend#supports} and the support table name them. */
public enum Op {
  /** {@link Operations#upload}: the host tensor. */
  UPLOAD,
  /** {@link Operations#download}: the tensor. */
  DOWNLOAD,
  /** {@link Operations#copy}: the tensor. */
  COPY,
  /** {@link Operations#convert}: source and target alike. */
  CONVERT,
  /** {@link Operations#quantize}: the result; its source is F32, F16 or BF16. */
  QUANTIZE,
  /** {@link Operations#dequantize}: the source; its result is F32, F16 or BF16. */
  DEQUANTIZE,
  /** {@link Operations#dot}: either operand. */
  DOT,
  /** {@link Operations#gemv}: matrix or vector. */
  GEMV,
  /** {@link Operations#gemm}: A or B, or a quantized D. */
  GEMM,
  /** {@link Operations#add}: both operands and the result. */
  ADD,
  /** {@link Operations#activation}: operand and result. */
  ACTIVATION,
  /** {@link Operations#softmax}: operand and result. */
  SOFTMAX,
  /** {@link Operations#attention}: K and V; Q and the result are F32, F16 or BF16. */
  ATTENTION,
  /** {@link Operations#layerNorm}: operand and result. */
  LAYER_NORM,
  /** {@link Operations#rmsNorm}: operand and result. */
  RMS_NORM,
  /** {@link Operations#rope}: operand and result. */
  ROPE,
  /** {@link Operations#embedding}: the table. */
  EMBEDDING,
  /** {@link Operations#pool}: operand and result. */
  POOL,
  /** {@link Operations#l2Normalize}: operand and result. */
  L2_NORMALIZE,
  /** {@link Operations#amax}: the operand. */
  AMAX
}
