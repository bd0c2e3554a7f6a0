package dev.minifloat.spi;

import dev.minifloat.DType;
import dev.minifloat.Op;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.codec.ScaleGrid;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The memory of one tensor and of its views: elements of {@code shape} in row-major order, with the
 * scales of {@code scaling} over that shape.
 *
 * <p>Closing it while operations use it takes effect at once for new uses, and frees the memory
 * when the last running one ends.
 */
public abstract class Storage implements AutoCloseable {
  private static final int CLOSED = 1 << 30;

  private final DType dtype;
  private final Shape shape;
  private final Scaling scaling;
  private final ScaleGrid grid;

  /** Number of running uses, plus {@link #CLOSED} once closed. */
  private final AtomicInteger state = new AtomicInteger();

  /**
   * The operation that was last found to be supported for the type and scaling; null before.
   * Threads may lose each other's, which are then found again.
   */
  private Op supported;

  /** A storage of the given layout. */
  protected Storage(DType dtype, Shape shape, Scaling scaling) {
    this.dtype = dtype;
    this.shape = shape;
    this.scaling = scaling;
    this.grid = scaling.grid(shape);
  }

  /** Element type. */
  public final DType dtype() {
    return dtype;
  }

  /** The whole tensor's extents, not a view's. */
  public final Shape shape() {
    return shape;
  }

  /** How it is scaled. */
  public final Scaling scaling() {
    return scaling;
  }

  /** How the scaling tiles {@link #shape()}. */
  public final ScaleGrid grid() {
    return grid;
  }

  /** Bytes of elements and scales. */
  public abstract long byteSize();

  /** Gives the memory back; called once. */
  protected abstract void free();

  /** Whether {@link #close} was called. */
  public final boolean isClosed() {
    return state.get() >= CLOSED;
  }

  /**
   * Throws if it is closed.
   *
   * @throws IllegalStateException if it is closed
   */
  final void requireOpen() {
    if (isClosed()) {
      throw closed();
    }
  }

  private IllegalStateException closed() {
    return new IllegalStateException(this + " is closed");
  }

  /** Whether {@link #knownToSupport} was told of this operation last. */
  final boolean isKnownToSupport(Op op) {
    return supported == op;
  }

  /** Remembers that the backend supports an operation for this type and scaling. */
  final void knownToSupport(Op op) {
    supported = op;
  }

  /**
   * Keeps the memory until {@link #release}.
   *
   * @throws IllegalStateException if it is closed
   */
  final void acquire() {
    int seen;
    do {
      seen = state.get();
      if (seen >= CLOSED) {
        throw closed();
      }
    } while (!state.compareAndSet(seen, seen + 1));
  }

  /** Ends a use. */
  final void release() {
    if (state.decrementAndGet() == CLOSED) {
      free();
    }
  }

  @Override
  public final void close() {
    int seen;
    do {
      seen = state.get();
      if (seen >= CLOSED) {
        return;
      }
    } while (!state.compareAndSet(seen, seen + CLOSED));
    if (seen == 0) {
      free();
    }
  }

  @Override
  public final String toString() {
    return "tensor " + dtype + " " + shape;
  }
}
