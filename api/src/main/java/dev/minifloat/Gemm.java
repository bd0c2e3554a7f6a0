package dev.minifloat;

import java.util.Objects;

/**
 * A matrix product to be computed: D = activation(alpha · A · B + beta · C + bias).
 *
 * <p>A is [batch…, M, K], B [batch…, K, N], C and D [batch…, M, N]; bias is [N], one value for each
 * column of D. Either operand may be a transposed view, so all four transpositions are written
 * {@code Gemm.of(a.transposed(), b)} and so on. Batch dimensions must be equal, 1 or absent; an
 * operand of batch 1 is used for each product, so strided batches need nothing more.
 *
 * <p>Products accumulate in FP32 within the bound of the numerics contract; the epilogue is FP32; D
 * is rounded once to the output type, or quantized. As in BLAS, alpha = 0 reads neither A nor B and
 * beta = 0 does not read C, so that their NaNs don't count. K = 0 gives a product of zero.
 *
 * @param a left operand, any format and scaling that products take
 * @param b right operand, likewise; the two may differ
 * @param c F32, F16 or BF16, unscaled; null for none
 * @param bias F32, F16 or BF16, unscaled, shape [N]; null for none
 * @param alpha factor of the product
 * @param beta factor of C
 * @param activation applied last, in FP32
 * @param output type of D: F32, F16 or BF16 unscaled, or anything {@code quantize} makes
 * @param amax an F32 tensor of one element that receives the largest |D| by bits, of the FP32
 *     values before they are rounded to the output; it may not be an operand too; null for none
 */
public record Gemm(
    Tensor a,
    Tensor b,
    Tensor c,
    Tensor bias,
    float alpha,
    float beta,
    Activation activation,
    QuantSpec output,
    Tensor amax) {

  /** Checks that what can't be absent is there. */
  public Gemm {
    Objects.requireNonNull(a, "a");
    Objects.requireNonNull(b, "b");
    Objects.requireNonNull(activation, "activation");
    Objects.requireNonNull(output, "output");
  }

  /** A · B, in F32. */
  public static Gemm of(Tensor a, Tensor b) {
    return new Gemm(a, b, null, null, 1, 0, Activation.NONE, QuantSpec.of(DType.F32), null);
  }

  /** The same with another factor of the product. */
  public Gemm alpha(float alpha) {
    return new Gemm(a, b, c, bias, alpha, beta, activation, output, amax);
  }

  /** The same with {@code beta · c} added. */
  public Gemm plus(float beta, Tensor c) {
    return new Gemm(a, b, c, bias, alpha, beta, activation, output, amax);
  }

  /** The same with a bias for each column; null takes it away. */
  public Gemm bias(Tensor bias) {
    return new Gemm(a, b, c, bias, alpha, beta, activation, output, amax);
  }

  /** The same with an activation. */
  public Gemm activation(Activation activation) {
    return new Gemm(a, b, c, bias, alpha, beta, activation, output, amax);
  }

  /** The same with an unscaled output type. */
  public Gemm output(DType output) {
    return output(
        new QuantSpec(
            output,
            Scaling.none(),
            Rounding.NEAREST_EVEN,
            Overflow.defaultFor(output),
            MxScaleRule.FLOOR));
  }

  /** The same with a quantized output. */
  public Gemm output(QuantSpec output) {
    return new Gemm(a, b, c, bias, alpha, beta, activation, output, amax);
  }

  /** The same, writing amax(D) to an F32 tensor of one element; null for none. */
  public Gemm amax(Tensor amax) {
    return new Gemm(a, b, c, bias, alpha, beta, activation, output, amax);
  }
}
