package dev.minifloat;

import java.util.Arrays;
import java.util.Objects;

/**
 * The extents of a tensor, outermost first; elements are counted in row-major order.
 *
 * <p>The last two dimensions are the rows and columns of a matrix, all before them are batch
 * dimensions; a vector is a matrix of one row, a scalar (rank 0) a matrix of one element. An extent
 * may be 0.
 */
public final class Shape {
  /** Rank 0: one element. */
  public static final Shape SCALAR = new Shape(new long[0], 1);

  private final long[] dims;
  private final long elements;

  private Shape(long[] dims, long elements) {
    this.dims = dims;
    this.elements = elements;
  }

  /**
   * A shape of the given extents.
   *
   * @throws IllegalArgumentException if one is negative, or if their product, taken over the
   *     non-zero extents, passes 2^63 − 1 (so that a zero can't hide an overflow)
   */
  public static Shape of(long... dims) {
    Objects.requireNonNull(dims, "dims");
    long product = 1;
    boolean empty = false;
    for (int i = 0; i < dims.length; i++) {
      if (dims[i] < 0) {
        throw new IllegalArgumentException(
            "dims[" + i + "]: " + dims[i] + " is negative in shape " + Arrays.toString(dims));
      }
      if (dims[i] == 0) {
        empty = true;
        continue;
      }
      long high = Math.multiplyHigh(product, dims[i]);
      product *= dims[i];
      if (high != 0 || product < 0) {
        throw new IllegalArgumentException(
            "dims: " + Arrays.toString(dims) + " has more elements than a long can count");
      }
    }
    return dims.length == 0 ? SCALAR : new Shape(dims.clone(), empty ? 0 : product);
  }

  /** Number of dimensions. */
  public int rank() {
    return dims.length;
  }

  /**
   * Extent of dimension {@code i}; a negative {@code i} counts from the end (−1 is the last).
   *
   * @throws IllegalArgumentException if there is no such dimension
   */
  public long dim(int i) {
    return dims[axis(i)];
  }

  /**
   * {@code i} as an index from the front.
   *
   * @throws IllegalArgumentException if there is no such dimension
   */
  public int axis(int i) {
    int axis = i < 0 ? i + dims.length : i;
    if (axis < 0 || axis >= dims.length) {
      throw new IllegalArgumentException("i: shape " + this + " has no dimension " + i);
    }
    return axis;
  }

  /** The extents, in a copy. */
  public long[] dims() {
    return dims.clone();
  }

  /** Number of elements. */
  public long elements() {
    return elements;
  }

  /** Columns: the last extent, 1 for a scalar. */
  public long columns() {
    return dims.length == 0 ? 1 : dims[dims.length - 1];
  }

  /** Rows of one matrix: the last extent but one, 1 for vectors and scalars. */
  public long rows() {
    return dims.length < 2 ? 1 : dims[dims.length - 2];
  }

  /** Number of matrices: the product of all extents before the last two. */
  public long batch() {
    long product = 1;
    for (int i = 0; i < dims.length - 2; i++) {
      product *= dims[i];
    }
    return product;
  }

  /** This shape with dimension {@code i} replaced by {@code extent}. */
  public Shape with(int i, long extent) {
    long[] changed = dims.clone();
    changed[axis(i)] = extent;
    return of(changed);
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof Shape other && Arrays.equals(dims, other.dims);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(dims);
  }

  @Override
  public String toString() {
    return Arrays.toString(dims);
  }
}
