package dev.minifloat.cpu.internal.convert;

import dev.minifloat.DType;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Pages;
import dev.minifloat.cpu.internal.runtime.ReadAhead;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;

/**
 * The values of a view in row-major order, for kernels that read F32: where they lie if they are
 * F32 without gaps, else decoded to a buffer of the caller's, run by run.
 *
 * <p>A view whose columns lie apart is copied first, in tiles; one with scales is decoded on the
 * way, if it is turned.
 */
public final class Source implements AutoCloseable {
  private TensorView view;
  private HostStorage storage;

  /** Of what the elements are that lie in the copy, or else in the storage. */
  private DType dtype;

  /** A dense copy of the view's elements, or values; null if none was needed. */
  private Memory.Block copy;

  private boolean direct;

  /** A source of nothing; {@link #open} gives it a view. */
  public Source() {}

  static Source of(TensorView view, Copier copier, Memory memory) {
    Source source = new Source();
    source.open(view, copier, memory);
    return source;
  }

  /** Makes this, which is new or closed, the source of a view's values. */
  public void open(TensorView view, Copier copier, Memory memory) {
    this.view = view;
    this.storage = Views.storage(view);
    boolean turned = Copier.isTurned(view);
    boolean copied = !view.isContiguous() && view.isUnscaled() && Views.columnStride(view) != 1;
    dtype = turned ? DType.F32 : view.dtype();
    if (turned || copied) {
      Memory.Block block = memory.take(dtype.byteSize(view.shape().elements()));
      boolean done = false;
      try {
        if (turned) {
          copier.values(view, block.segment());
        } else {
          copier.elements(view, block.segment());
        }
        done = true;
      } finally {
        if (!done) {
          block.close();
        }
      }
      copy = block;
    }
    direct = dtype == DType.F32 && (copy != null || (view.isUnscaled() && view.isContiguous()));
  }

  /** Number of values. */
  long elements() {
    return view.shape().elements();
  }

  /** Whether {@link #segment} is the data itself. */
  public boolean isDirect() {
    return direct;
  }

  /** The segment where {@link #read} leaves values. */
  public MemorySegment segment(MemorySegment buffer) {
    return direct ? data() : buffer;
  }

  private MemorySegment data() {
    return copy == null ? storage.data() : copy.segment();
  }

  /**
   * Makes {@code count} values from row-major index {@code flat} on available as F32, and returns
   * their byte offset in {@link #segment}; {@code at} is the place to use in the buffer.
   */
  public long read(long flat, int count, MemorySegment buffer, long at) {
    return read(flat, count, buffer, at, null);
  }

  /** As above, with what to read ahead in the buffer, or null. */
  long read(long flat, int count, MemorySegment buffer, long at, ReadAhead ahead) {
    if (direct) {
      return 4 * (copy == null ? view.offset() + flat : flat);
    }
    if (copy != null) {
      Decoders.decode(dtype, copy.segment(), flat, count, buffer, at, ahead);
    } else {
      Views.read(view, flat, count, buffer, at, ahead);
    }
    return at;
  }

  /** As {@link #read}, but leaves the values in the buffer, wherever they lie. */
  public void copy(long flat, int count, MemorySegment buffer, long at) {
    long from = read(flat, count, buffer, at);
    if (direct) {
      MemorySegment.copy(data(), from, buffer, at, 4L * count);
    }
  }

  /** As {@link #read}, of the codes of a type of whole bytes, for {@link #codeSegment}. */
  long codes(long flat, int count, MemorySegment buffer, long at) {
    long size = view.dtype().bits() / 8;
    if (copy != null) {
      return flat * size;
    }
    if (view.isContiguous()) {
      return (view.offset() + flat) * size;
    }
    long columns = view.shape().columns();
    long row = flat / columns;
    long column = flat % columns;
    for (int done = 0; done < count; row++, column = 0) {
      int part = (int) Math.min(count - done, columns - column);
      long from = (Views.rowStart(view, row) + column) * size;
      MemorySegment.copy(data(), from, buffer, at + done * size, part * size);
      done += part;
    }
    return at;
  }

  /** The segment where {@link #codes} leaves codes. */
  MemorySegment codeSegment(MemorySegment buffer) {
    return copy != null || view.isContiguous() ? data() : buffer;
  }

  /** Sets processors to fetch what lies behind {@code count} values; see {@link Pages#touch}. */
  public int touch(long flat, long count) {
    if (copy == null && !view.isContiguous()) {
      return 0;
    }
    int bits = dtype.bits();
    long first = copy == null ? view.offset() + flat : flat;
    return Pages.touch(data(), first * bits / 8, count * bits / 8);
  }

  /**
   * Prepares to read {@code count} values ahead, if they are F32 and lie behind each other, for
   * kernels that take as many; null if not.
   */
  public ReadAhead ahead(ReadAhead ahead, long flat, long count) {
    if (!direct || flat + count > elements()) {
      return null;
    }
    ahead.open(read(flat, 0, null, 0), 4 * count);
    return ahead;
  }

  @Override
  public void close() {
    if (copy != null) {
      copy.close();
    }
    copy = null;
    view = null;
    storage = null;
  }
}
