package dev.minifloat.cpu.internal.convert;

import dev.minifloat.DType;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.math.Nans;
import dev.minifloat.cpu.internal.runtime.ReadAhead;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;

/**
 * Values of any view, decoded and scaled, as dense F32.
 *
 * <p>A view counts as one matrix here: its columns, and all other dimensions in row-major order as
 * rows.
 */
public final class Views {

  private Views() {}

  public static HostStorage storage(TensorView x) {
    return (HostStorage) x.storage();
  }

  /** Number of rows in all: elements / columns; 0 without columns. */
  public static long rows(TensorView x) {
    long columns = x.shape().columns();
    return columns == 0 ? 0 : x.shape().elements() / columns;
  }

  /** Storage elements from one column to the next. */
  static long columnStride(TensorView x) {
    return x.shape().rank() == 0 ? 1 : x.stride(-1);
  }

  /** Storage index of the first element of a row. */
  static long rowStart(TensorView x, long row) {
    long at = x.offset();
    for (int i = x.shape().rank() - 2; i >= 0; i--) {
      long extent = x.shape().dim(i);
      at += row % extent * x.stride(i);
      row /= extent;
    }
    return at;
  }

  /** Elements {@code flat … flat + count − 1} of a view's row-major order, to dense F32. */
  public static void read(TensorView x, long flat, int count, MemorySegment dst, long to) {
    read(x, flat, count, dst, to, null);
  }

  /** As above, with what to read ahead in {@code dst}, or null; of no account with gaps. */
  static void read(
      TensorView x, long flat, int count, MemorySegment dst, long to, ReadAhead ahead) {
    if (x.isContiguous()) {
      Decoders.decodeScaled(storage(x), x.offset() + flat, count, dst, to, ahead);
      return;
    }
    long columns = x.shape().columns();
    long row = flat / columns;
    long column = flat % columns;
    for (int done = 0; done < count; row++, column = 0) {
      int part = (int) Math.min(count - done, columns - column);
      gather(x, row, 1, column, part, dst, to + 4L * done, 4L * part);
      done += part;
    }
  }

  /**
   * Rows {@code row …} and columns {@code column …} of a view, to F32: row i goes to {@code to + i
   * · rowBytes}, its columns beside each other.
   *
   * @param row among all rows of the view, batch dimensions included
   */
  public static void gather(
      TensorView x,
      long row,
      int rows,
      long column,
      int columns,
      MemorySegment dst,
      long to,
      long rowBytes) {
    HostStorage s = storage(x);
    long stride = columnStride(x);
    if (stride == 1 || columns == 1) {
      for (int r = 0; r < rows; r++) {
        long first = rowStart(x, row + r) + column * stride;
        Decoders.decodeScaled(s, first, columns, dst, to + r * rowBytes);
      }
      return;
    }
    for (int r = 0; r < rows; r++) {
      long first = rowStart(x, row + r) + column * stride;
      for (int c = 0; c < columns; c++) {
        dst.set(PackedElements.FLOAT, to + r * rowBytes + 4L * c, value(s, first + c * stride));
      }
    }
  }

  /** One value, scaled; a NaN that the product gives has no sign. */
  public static float value(HostStorage s, long index) {
    float element = Tables.decode(s.dtype(), s.data(), index);
    return s.grid().scales() == 0
        ? element
        : Nans.canonical(ScaledRuns.scale(s, s.grid().indexOf(index)) * element);
  }

  /** Element {@code index}, in row-major order, of a view of I32. */
  public static int readInt(TensorView x, long index) {
    return PackedElements.get(DType.I32, storage(x).data(), x.storageIndex(index));
  }

  static boolean isF32(TensorView x) {
    return x.dtype() == DType.F32 && x.isUnscaled();
  }
}
