package dev.minifloat;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Objects;

/**
 * What can be computed: on a {@link Scope}, which owns the results, or on a {@link Backend}, where
 * the caller does.
 *
 * <p>Every operation throws {@link IllegalArgumentException} naming the argument for a wrong shape
 * or a tensor of another backend, {@link IllegalStateException} for a closed tensor, scope or
 * backend, and {@link UnsupportedOpException} for a type or scaling that {@link Backend#supports}
 * denies. "Float" below means F32, F16 or BF16 without scaling; such operations compute in FP32 and
 * round the result once to the operand's type. Operands may be views, and extents may be 0.
 *
 * <p>Every NaN that arithmetic gives, multiplication by a scale included, is the positive one
 * without a payload (7FC00000 in F32, 7E00 in F16, 7FC0 in BF16), whatever the NaNs it came from;
 * copies, conversions and the decoding of unscaled elements keep a NaN's sign.
 */
public interface Operations {
  /** Copies a host tensor, of any type and scaling, to the backend. It has copied on return. */
  Tensor upload(HostTensor host);

  /** Copies a tensor to host memory that lives as long as the result is reachable. */
  default HostTensor download(Tensor x) {
    return download(x, Arena.ofAuto());
  }

  /**
   * Copies a tensor to host memory of {@code arena}, waiting for the work that makes it. A view of
   * an unscaled tensor comes in the view's shape.
   *
   * @throws IllegalArgumentException for a view of a scaled tensor that {@link #copy} refuses
   */
  HostTensor download(Tensor x, Arena arena);

  /**
   * A contiguous copy, for views.
   *
   * @throws IllegalArgumentException if {@code x} is scaled and not a whole tensor: its blocks
   *     would be cut or turned; dequantize it instead
   */
  Tensor copy(Tensor x);

  /** Rounds to another type, to nearest even, with the type's default overflow. */
  default Tensor convert(Tensor x, DType to) {
    Objects.requireNonNull(to, "to");
    return convert(x, to, Rounding.NEAREST_EVEN, Overflow.defaultFor(to));
  }

  /**
   * Rounds an unscaled tensor of any type to any other in one step, exactly as {@link
   * dev.minifloat.codec.Codec}; the same type gives the same bits.
   */
  Tensor convert(Tensor x, DType to, Rounding rounding, Overflow overflow);

  /** Quantizes a float tensor, with the same bits on every backend. */
  Tensor quantize(Tensor x, QuantSpec spec);

  /** The values of a tensor in F32: scale × element. */
  default Tensor dequantize(Tensor x) {
    return dequantize(x, DType.F32);
  }

  /** The values of a tensor, any type and scaling, rounded once from F32 to a float type. */
  Tensor dequantize(Tensor x, DType to);

  /** Σ aᵢ·bᵢ of two vectors [n], any formats and scalings, accumulated in FP32; 0 for n = 0. */
  float dot(Tensor a, Tensor b);

  /** The largest |x| by bits: +0 for no elements, Inf beats numbers, NaN (7FC00000) beats Inf. */
  float amax(Tensor x);

  /** A [M, K] times x [K], any formats and scalings: F32 [M]. */
  Tensor gemv(Tensor a, Tensor x);

  /**
   * A copy of a right operand that further products read faster: weights, as a rule. The result has
   * {@code b}'s shape, type, scaling and values, so it stands wherever {@code b} did, as in {@code
   * gemm(Gemm.of(x, pack(w.transposed())))}. Only whole, as the B of a {@link Gemm}, it is faster;
   * such a product may add in another order than one of {@code b}, so its last bits may differ,
   * within the same bound. Every other operation takes it too, and views of it, and gives the same
   * bits as with {@code b}.
   *
   * <p>It is owned, and closed, like any result, and independent of {@code b}. Of its memory {@link
   * Tensor#byteSize} tells: the elements and scales of {@code b} and, if the backend packs at all,
   * its own arrangement of them beside. That of the backend "vector" is of F32: at least 4 bytes an
   * element, so eight times as much as {@code b} itself if that is of 4 bits.
   *
   * @param b [K, N], any format and scaling that products take; if it is scaled, a whole tensor or
   *     the transpose of one
   * @throws IllegalArgumentException if {@code b} is no matrix, or a view that cuts the blocks of a
   *     scaled tensor
   */
  Tensor pack(Tensor b);

  /** D of a {@link Gemm}. */
  Tensor gemm(Gemm gemm);

  /** The D of each of several products, which may differ in shape and format: a grouped GEMM. */
  List<Tensor> gemms(List<Gemm> gemms);

  /** a + b of two float tensors of one type; b has a's shape, or is a vector [columns of a]. */
  Tensor add(Tensor a, Tensor b);

  /** A function of each element of a float tensor. */
  Tensor activation(Tensor x, Activation activation);

  /** See {@link Softmax}. */
  Tensor softmax(Softmax softmax);

  /** See {@link Attention}. */
  Tensor attention(Attention attention);

  /**
   * (x − mean) / √(variance + epsilon) · gamma + beta over the last dimension of a float tensor;
   * the variance is the mean square of x − mean.
   *
   * @param gamma float [columns]
   * @param beta float [columns]
   * @param epsilon positive
   */
  Tensor layerNorm(Tensor x, Tensor gamma, Tensor beta, float epsilon);

  /** x / √(mean of x² + epsilon) · gamma over the last dimension of a float tensor. */
  Tensor rmsNorm(Tensor x, Tensor gamma, float epsilon);

  /** See {@link Rope}. */
  Tensor rope(Rope rope);

  /**
   * Rows of a table: for ids of shape [s…] and a table [rows, width], floats [s…, width] of type
   * {@code to}. The table may be of any format and scaling.
   *
   * @param ids I32
   * @throws IllegalArgumentException if an id is not a row of the table, naming id and position
   */
  Tensor embedding(Tensor table, Tensor ids, DType to);

  /**
   * One vector for each sequence: floats [batch, sequence, width] → [batch, width].
   *
   * @param lengths I32 [batch], from 1 to sequence, read with {@link Pooling#MEAN} only; null for
   *     all of the sequence
   */
  Tensor pool(Tensor x, Pooling pooling, Tensor lengths);

  /** x / max(‖x‖₂, 1e-12) over the last dimension of a float tensor. */
  Tensor l2Normalize(Tensor x);
}
