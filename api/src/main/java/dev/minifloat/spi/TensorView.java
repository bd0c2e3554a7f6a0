package dev.minifloat.spi;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import java.util.Arrays;
import java.util.Objects;

/**
 * The tensor of every backend built on {@link BackendBase}: a strided window on a {@link Storage}.
 *
 * <p>The element at index (i₀, i₁, …) is element {@code offset + Σ iₖ·stride(k)} of the storage, in
 * the storage's row-major order; that number also tells its scale ({@code
 * storage().grid().indexOf}), however the view was turned or cut.
 */
public final class TensorView implements Tensor {
  private final BackendBase backend;
  private final Storage storage;
  private final Shape shape;
  private final long[] strides;
  private final long offset;
  private final boolean view;

  private TensorView(
      BackendBase backend,
      Storage storage,
      Shape shape,
      long[] strides,
      long offset,
      boolean view) {
    this.backend = backend;
    this.storage = storage;
    this.shape = shape;
    this.strides = strides;
    this.offset = offset;
    this.view = view;
  }

  /** The owner of a new storage. */
  static TensorView owning(BackendBase backend, Storage storage) {
    return new TensorView(backend, storage, storage.shape(), rowMajor(storage.shape()), 0, false);
  }

  /**
   * An owner that shows its storage transposed, in place of this one, the owner of a new matrix.
   */
  TensorView turned() {
    return new TensorView(
        backend,
        storage,
        Shape.of(shape.columns(), shape.rows()),
        new long[] {strides[1], strides[0]},
        offset,
        false);
  }

  /**
   * An owner that shows its storage, [batch, queries, heads, width], as [batch, heads, queries,
   * width] or without the batch of 1, in place of this one, the owner of a new tensor.
   */
  TensorView byHeads(Shape shown) {
    TensorView turned = transposed(1, 2);
    int from = 4 - shown.rank();
    return new TensorView(
        backend, storage, shown, Arrays.copyOfRange(turned.strides, from, 4), offset, false);
  }

  private static long[] rowMajor(Shape shape) {
    long[] strides = new long[shape.rank()];
    long stride = 1;
    for (int i = strides.length - 1; i >= 0; i--) {
      strides[i] = stride;
      stride *= shape.dim(i);
    }
    return strides;
  }

  private TensorView view(Shape shape, long[] strides, long offset) {
    return new TensorView(backend, storage, shape, strides, offset, true);
  }

  @Override
  public Backend backend() {
    return backend;
  }

  /** Whether {@code other} is its backend. */
  boolean livesOn(BackendBase other) {
    return backend.equals(other);
  }

  /** The memory behind it. */
  public Storage storage() {
    return storage;
  }

  /** Storage index of the first element. */
  public long offset() {
    return offset;
  }

  /** Storage elements from one index of a dimension to the next; 0 where it is repeated. */
  public long stride(int dim) {
    return strides[shape.axis(dim)];
  }

  @Override
  public DType dtype() {
    return storage.dtype();
  }

  @Override
  public Shape shape() {
    return shape;
  }

  @Override
  public Scaling scaling() {
    return storage.scaling();
  }

  /** Whether elements have no scales. */
  public boolean isUnscaled() {
    return storage.scaling() instanceof Scaling.None;
  }

  @Override
  public boolean isView() {
    return view;
  }

  @Override
  public boolean isContiguous() {
    long expected = 1;
    for (int i = strides.length - 1; i >= 0; i--) {
      if (shape.dim(i) != 1 && strides[i] != expected) {
        return shape.elements() == 0;
      }
      expected *= shape.dim(i);
    }
    return true;
  }

  /** Whether it shows its whole storage in the storage's own order, whatever its shape. */
  public boolean isWhole() {
    return offset == 0 && isContiguous() && shape.elements() == storage.shape().elements();
  }

  @Override
  public boolean isClosed() {
    return storage.isClosed();
  }

  @Override
  public long byteSize() {
    return storage.byteSize();
  }

  @Override
  public TensorView transposed() {
    return (TensorView) Tensor.super.transposed();
  }

  @Override
  public TensorView transposed(int a, int b) {
    int from = axis("a", a);
    int to = axis("b", b);
    long[] dims = shape.dims();
    long[] swapped = strides.clone();
    dims[from] = shape.dim(to);
    dims[to] = shape.dim(from);
    swapped[from] = strides[to];
    swapped[to] = strides[from];
    return view(Shape.of(dims), swapped, offset);
  }

  @Override
  public TensorView reshape(long... dims) {
    Shape reshaped = Shape.of(dims);
    if (reshaped.elements() != shape.elements()) {
      throw new IllegalArgumentException(
          "dims: shape %s has %d elements and %s has %d"
              .formatted(reshaped, reshaped.elements(), shape, shape.elements()));
    }
    if (!isContiguous()) {
      throw new IllegalArgumentException(
          "a view of shape "
              + shape
              + " whose elements have gaps can't be reshaped; copy it first");
    }
    return view(reshaped, rowMajor(reshaped), offset);
  }

  @Override
  public TensorView slice(int dim, long from, long to) {
    int axis = axis("dim", dim);
    if (from < 0 || to < from || to > shape.dim(axis)) {
      throw new IllegalArgumentException(
          "from, to: [%d, %d) does not lie in dimension %d of shape %s"
              .formatted(from, to, dim, shape));
    }
    return view(shape.with(axis, to - from), strides, offset + from * strides[axis]);
  }

  private int axis(String name, int dim) {
    int rank = shape.rank();
    if (dim < -rank || dim >= rank) {
      throw new IllegalArgumentException(
          name + ": shape " + shape + " has no dimension " + dim + "; its rank is " + rank);
    }
    return shape.axis(dim);
  }

  /** This, repeated over the leading dimensions of {@code batchDims} where it has extent 1. */
  TensorView broadcast(long[] batchDims) {
    int own = shape.rank() - 2;
    long[] dims = Arrays.copyOf(batchDims, batchDims.length + 2);
    long[] repeated = new long[dims.length];
    for (int i = 0; i < batchDims.length; i++) {
      int mine = i - (batchDims.length - own);
      repeated[i] = mine < 0 || shape.dim(mine) == 1 ? 0 : strides[mine];
    }
    for (int i = 0; i < 2; i++) {
      dims[batchDims.length + i] = shape.dim(own + i);
      repeated[batchDims.length + i] = strides[own + i];
    }
    return view(Shape.of(dims), repeated, offset);
  }

  /** Storage index of the element with row-major index {@code index} of this view. */
  public long storageIndex(long index) {
    Objects.checkIndex(index, shape.elements());
    long at = offset;
    for (int i = strides.length - 1; i >= 0; i--) {
      at += index % shape.dim(i) * strides[i];
      index /= shape.dim(i);
    }
    return at;
  }

  @Override
  public void close() {
    if (!view) {
      backend.forget(storage);
      storage.close();
    }
  }

  @Override
  public String toString() {
    return dtype()
        + " "
        + shape
        + (isUnscaled() ? "" : " scaled by " + scaling())
        + (isClosed() ? " (closed)" : "");
  }
}
