package dev.minifloat.spi;

import dev.minifloat.Activation;

/**
 * A checked matrix product: all operands have the same batch dimensions (repeated with stride 0
 * where they were 1 or absent), and the extents agree.
 *
 * @param a [batch…, M, K]
 * @param b [batch…, K, N]
 * @param c [batch…, M, N], or null; never read when beta is 0
 * @param bias [N], or null
 * @param alpha factor of the product; at 0 neither a nor b may be read
 * @param beta factor of c
 * @param activation applied last
 * @param out [batch…, M, N], whole and unscaled, F32, F16 or BF16, or of a type that {@link
 *     Kernels#gemmRoundsTo}
 * @param amax F32, one element, or null
 */
public record GemmCall(
    TensorView a,
    TensorView b,
    TensorView c,
    TensorView bias,
    float alpha,
    float beta,
    Activation activation,
    TensorView out,
    TensorView amax) {}
