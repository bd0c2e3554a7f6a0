package dev.minifloat;

/**
 * A tensor in a backend's memory.
 *
 * <p>It belongs to the {@link Scope} that made it, or, if it was made on the backend itself, to the
 * caller, who closes it. A view shares its source's storage: closing a view does nothing, and
 * closing the source ends its views. A tensor is immutable but for {@link Gemm#amax}'s target.
 *
 * <p>Any thread may use it. Closing a tensor while another thread computes with it is safe: the
 * operation ends as if it had come first, and the memory goes then, or as if it had come second.
 * Any operation on it after close, or on its views, is an {@link IllegalStateException}.
 */
public interface Tensor extends AutoCloseable {
  /** Where it lives. */
  Backend backend();

  /** The element type. */
  DType dtype();

  /** The extents, as this view sees them. */
  Shape shape();

  /** Which elements of the storage share a scale; in a view, as the source was scaled. */
  Scaling scaling();

  /** Whether it shares another tensor's storage. */
  boolean isView();

  /** Whether the elements lie in row-major order without gaps. */
  boolean isContiguous();

  /** Whether it, or the source of this view, was closed. */
  boolean isClosed();

  /** Bytes of the whole storage, elements and scales, that this tensor owns or shares. */
  long byteSize();

  /**
   * A view with the last two dimensions swapped.
   *
   * @throws IllegalArgumentException below rank 2
   */
  default Tensor transposed() {
    if (shape().rank() < 2) {
      throw new IllegalArgumentException("shape " + shape() + " has no two dimensions to swap");
    }
    return transposed(-2, -1);
  }

  /** A view with two dimensions swapped; negative ones count from the end. */
  Tensor transposed(int a, int b);

  /**
   * A view of the same elements in another shape.
   *
   * @throws IllegalArgumentException if the number of elements differs, or this is not contiguous
   *     ({@link Operations#copy} makes a contiguous tensor)
   */
  Tensor reshape(long... dims);

  /**
   * A view of indices {@code from} (inclusive) to {@code to} (exclusive) of one dimension.
   *
   * @throws IllegalArgumentException if they don't lie in the dimension
   */
  Tensor slice(int dim, long from, long to);

  /** Frees the storage; of a view, does nothing. Closing twice is fine. */
  @Override
  void close();
}
