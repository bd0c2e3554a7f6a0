package dev.minifloat.cpu.internal;

import dev.minifloat.DType;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;

/**
 * The values of a view in row-major order, for kernels that read F32: where they lie if they are
 * F32 without gaps, else decoded to a buffer of the caller's, run by run.
 *
 * <p>A view whose columns lie apart is copied first, in tiles, if it has no scales.
 */
final class Source implements AutoCloseable {
  private final TensorView view;
  private final HostStorage storage;

  /** A dense copy of the view's elements; null if none was needed. */
  private final Memory.Block copy;

  private final boolean direct;

  private Source(TensorView view, Memory.Block copy) {
    this.view = view;
    this.storage = Views.storage(view);
    this.copy = copy;
    this.direct =
        view.dtype() == DType.F32 && view.isUnscaled() && (copy != null || view.isContiguous());
  }

  static Source of(TensorView view, Copier copier, Memory memory) {
    if (view.isContiguous() || !view.isUnscaled() || Views.columnStride(view) == 1) {
      return new Source(view, null);
    }
    Memory.Block copy = memory.take(view.dtype().byteSize(view.shape().elements()));
    boolean done = false;
    try {
      copier.elements(view, copy.segment());
      done = true;
      return new Source(view, copy);
    } finally {
      if (!done) {
        copy.close();
      }
    }
  }

  /** Number of values. */
  long elements() {
    return view.shape().elements();
  }

  /** Whether {@link #segment} is the data itself. */
  boolean isDirect() {
    return direct;
  }

  /** The segment where {@link #read} leaves values. */
  MemorySegment segment(MemorySegment buffer) {
    return direct ? data() : buffer;
  }

  private MemorySegment data() {
    return copy == null ? storage.data() : copy.segment();
  }

  /**
   * Makes {@code count} values from row-major index {@code flat} on available as F32, and returns
   * their byte offset in {@link #segment}; {@code at} is the place to use in the buffer.
   */
  long read(long flat, int count, MemorySegment buffer, long at) {
    if (direct) {
      return 4 * (copy == null ? view.offset() + flat : flat);
    }
    if (copy != null) {
      Decoders.decode(view.dtype(), copy.segment(), flat, count, buffer, at);
    } else {
      Views.read(view, flat, count, buffer, at);
    }
    return at;
  }

  @Override
  public void close() {
    if (copy != null) {
      copy.close();
    }
  }
}
