package dev.minifloat.cpu.internal.convert;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.cpu.internal.math.Nans;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;

/**
 * Where kernels leave F32 results of an output of type F32, F16 or BF16: in the output itself if
 * that is F32, else in a buffer of the caller's, from which {@link #flush} rounds them once.
 */
public final class Sink {
  private MemorySegment data;
  private DType dtype;

  public Sink(TensorView out) {
    open(out);
  }

  /** A sink of nothing; {@link #open} gives it an output. */
  public Sink() {}

  public void open(TensorView out) {
    data = Views.storage(out).data();
    dtype = out.dtype();
  }

  /** The segment to write to. */
  public MemorySegment segment(MemorySegment buffer) {
    return dtype == DType.F32 ? data : buffer;
  }

  /** The byte offset there for elements {@code flat …}; {@code at} if that is the buffer. */
  public long offset(long flat, long at) {
    return dtype == DType.F32 ? 4 * flat : at;
  }

  /** As {@link #flush}, of results of arithmetic, whose NaNs become the canonical one. */
  public void flushResults(long flat, int count, MemorySegment buffer, long at) {
    Nans.canonical(segment(buffer), offset(flat, at), count);
    flush(flat, count, buffer, at);
  }

  /** Rounds {@code count} values in the buffer to elements {@code flat …}, unless written. */
  public void flush(long flat, int count, MemorySegment buffer, long at) {
    if (dtype != DType.F32) {
      Overflow overflow = Overflow.defaultFor(dtype);
      Encoders.encode(buffer, at, count, dtype, data, flat, Rounding.NEAREST_EVEN, overflow);
    }
  }

  /** As {@link #flush}, of values that are in the buffer whatever the type of the output. */
  public void write(long flat, int count, MemorySegment buffer, long at) {
    if (dtype == DType.F32) {
      MemorySegment.copy(buffer, at, data, 4 * flat, 4L * count);
    } else {
      flush(flat, count, buffer, at);
    }
  }
}
