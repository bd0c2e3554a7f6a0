package dev.minifloat.spi;

import dev.minifloat.Activation;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;

/**
 * What a backend computes, behind the checks of {@link BackendBase}: shapes, types and support are
 * right, every storage stays open during the call, and outputs ({@code out}) are whole tensors of
 * their own, uninitialised. Extents may be 0. Unless said otherwise operands may be any view.
 *
 * <p>{@link dev.minifloat.Operations} says what each one means.
 */
public interface Kernels {
  /**
   * The kernels behind a backend, for measuring and testing them without the checks and the
   * allocation of a result: what this interface asks of its caller is then the caller's to see to.
   *
   * @throws IllegalArgumentException if the backend isn't built on {@link BackendBase}
   */
  static Kernels of(Backend backend) {
    if (backend instanceof BackendBase base) {
      return base.kernels();
    }
    throw new IllegalArgumentException("backend: " + backend + " is not built on BackendBase");
  }

  /** Copies a view: unscaled, or whole with the scales. */
  void copy(TensorView x, TensorView out);

  /** Rounds to {@code out}'s type, in one step; the types differ. */
  void convert(TensorView x, TensorView out, Rounding rounding, Overflow overflow);

  /** Quantizes floats to {@code out}, whose scaling is the spec's and not none. */
  void quantize(TensorView x, TensorView out, QuantSpec spec);

  /** Scale × element, rounded to {@code out}'s float type. */
  void dequantize(TensorView x, TensorView out);

  /** Dot product of two vectors. */
  float dot(TensorView a, TensorView b);

  /**
   * Whether {@link #dot} may be called with storages that are closed, freed and used again by other
   * threads while it runs; the caller then discards the result. Yes, where reading such memory
   * gives wrong numbers or an {@code IllegalStateException} and never a fault, spares each call the
   * counting of its uses, which costs as much as a product of a thousand elements and, among
   * threads that share an operand, more.
   */
  default boolean dotRunsUnheld() {
    return false;
  }

  /** Largest |x| by bits. */
  float amax(TensorView x);

  /** out[M] = a[M, K] · x[K]. */
  void gemv(TensorView a, TensorView x, TensorView out);

  /**
   * Copies a matrix that will be the right operand of many products, and may {@linkplain
   * HostStorage#attach attach} what makes those faster. A backend that has no such thing copies.
   *
   * @param x unscaled, or whole
   * @param out of x's shape, type and scaling
   * @param transposed whether products will read {@code out} transposed, so [N, K], and not [K, N]
   */
  default void pack(TensorView x, TensorView out, boolean transposed) {
    copy(x, out);
  }

  /** See {@link GemmCall}. */
  void gemm(GemmCall call);

  /**
   * Whether {@link #gemm} also rounds its results to this type, unscaled: to nearest, ties to even,
   * and where they are too large as {@link Overflow#defaultFor} says. For other types a product is
   * made in F32 and converted. The float types aren't asked for.
   */
  default boolean gemmRoundsTo(DType output) {
    return false;
  }

  /**
   * γ of what {@link #gemm} promises of a sum of {@code k} products, before the epilogue: it
   * differs from the exact one by at most γ · Σ|a·b| + k · 2^-149.
   *
   * <p>Sums in F32 have n · 2^-24 / (1 − n · 2^-24), n = k + 4. A backend that may sum more
   * coarsely, as some tensor cores do, says so here, and the contract holds it to that.
   *
   * @param a type of the left operand, however scaled
   * @param b type of the right operand
   * @return infinity where nothing is promised
   */
  default double gemmGamma(DType a, DType b, long k) {
    double nu = (k + 4) * 0x1p-24;
    return nu < 1 ? nu / (1 - nu) : Double.POSITIVE_INFINITY;
  }

  /** Sum; b has a's shape or is [columns]. */
  void add(TensorView a, TensorView b, TensorView out);

  /** A function of each element. */
  void activation(TensorView x, Activation activation, TensorView out);

  /** Softmax; {@code lengths} is null or I32 [first extent of x]; values are checked already. */
  void softmax(TensorView x, float scale, TensorView lengths, boolean causal, TensorView out);

  /** See {@link AttentionCall}; lengths are checked already. */
  void attention(AttentionCall call);

  /**
   * r of what {@link #attention} promises of the weights e^(t − m) by which V is multiplied, t a
   * score and m the largest one of its row so far: each is rounded, by at most r · max(weight,
   * 2^-14), from what F32 gives. 0 where they stay F32, as on every backend that does not say
   * otherwise; 2^-11 where they become F16, 2^-8 where they become BF16. The scores are products
   * with the γ of {@link #gemmGamma}.
   *
   * @param q type of Q
   * @param k type of K and V, however scaled
   */
  default double attentionRoundoff(DType q, DType k) {
    return 0;
  }

  /** Layer norm over the last dimension. */
  void layerNorm(TensorView x, TensorView gamma, TensorView beta, float epsilon, TensorView out);

  /** RMS norm over the last dimension. */
  void rmsNorm(TensorView x, TensorView gamma, float epsilon, TensorView out);

  /** Rotary embedding; {@code positions} is null or I32 [sequence]. */
  void rope(
      TensorView x,
      int dims,
      float base,
      boolean interleaved,
      TensorView positions,
      TensorView out);

  /** Gathers rows; the ids are checked already. */
  void embedding(TensorView table, TensorView ids, TensorView out);

  /** Mean over each sequence; {@code lengths} is null or I32 [batch], checked already. */
  void meanPool(TensorView x, TensorView lengths, TensorView out);

  /** x / max(‖x‖₂, 1e-12) over the last dimension. */
  void l2Normalize(TensorView x, TensorView out);

  /** The values of an I32 tensor, for the checks of ids and lengths; waits for them. */
  int[] readInts(TensorView x);
}
