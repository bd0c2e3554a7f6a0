package dev.minifloat.cpu.internal;

import static dev.minifloat.codec.PackedElements.INT;
import static dev.minifloat.codec.PackedElements.SHORT;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Copies of views, element codes and all. */
final class Copier {
  /** Bytes of a task of plain copying. */
  private static final long PIECE = 1 << 20;

  /** Side of the square in which a turned view is read and written: both sides stay in cache. */
  private static final int TILE = 32;

  private final Workers workers;
  private final Memory memory;

  Copier(Workers workers, Memory memory) {
    this.workers = workers;
    this.memory = memory;
  }

  void copy(TensorView x, TensorView out) {
    HostStorage from = Views.storage(x);
    HostStorage to = Views.storage(out);
    elements(x, to.data());
    if (!x.isUnscaled()) {
      to.scales().copyFrom(from.scales());
      to.globalScale(from.globalScale());
    }
  }

  /** The elements of a view in row-major order. */
  void elements(TensorView x, MemorySegment dst) {
    long elements = x.shape().elements();
    if (elements == 0) {
      return;
    }
    int bits = x.dtype().bits();
    if (x.isContiguous() && x.offset() * bits % 8 == 0) {
      long from = x.offset() * bits / 8;
      plain(Views.storage(x).data(), from, x.dtype().byteSize(elements), dst);
      int used = (int) (elements * bits % 8);
      if (used != 0) {
        // The last byte may hold an element that is not in the view.
        long last = x.dtype().byteSize(elements) - 1;
        byte kept = (byte) (dst.get(ValueLayout.JAVA_BYTE, last) & ((1 << used) - 1));
        dst.set(ValueLayout.JAVA_BYTE, last, kept);
      }
    } else if (bits < 8) {
      workers.run(Work.tasks(elements), task -> packed(x, task, dst));
    } else if (Views.columnStride(x) == 1) {
      rows(x, dst);
    } else {
      tiles(x, dst);
    }
  }

  private void plain(MemorySegment src, long from, long bytes, MemorySegment dst) {
    workers.run(
        Work.count(bytes, PIECE),
        task -> {
          long at = task * PIECE;
          MemorySegment.copy(src, from + at, dst, at, Math.min(PIECE, bytes - at));
        });
  }

  /** A task of elements narrower than a byte, in the order of the view. */
  private void packed(TensorView x, int task, MemorySegment dst) {
    long first = (long) task * Work.TASK;
    int count = (int) Math.min(Work.TASK, x.shape().elements() - first);
    long columns = x.shape().columns();
    long stride = Views.columnStride(x);
    MemorySegment data = Views.storage(x).data();
    try (Memory.Block codes = memory.take(count)) {
      long row = first / columns;
      long column = first % columns;
      for (int done = 0; done < count; row++, column = 0) {
        int part = (int) Math.min(count - done, columns - column);
        long start = Views.rowStart(x, row) + column * stride;
        if (stride == 1) {
          PackedCodes.unpack(x.dtype(), data, start, part, codes.segment(), done);
        } else {
          for (int i = 0; i < part; i++) {
            int code = PackedElements.get(x.dtype(), data, start + i * stride);
            codes.segment().set(ValueLayout.JAVA_BYTE, (long) done + i, (byte) code);
          }
        }
        done += part;
      }
      PackedCodes.pack(x.dtype(), codes.segment(), 0, count, dst, first);
    }
  }

  private void rows(TensorView x, MemorySegment dst) {
    MemorySegment data = Views.storage(x).data();
    long rows = Views.rows(x);
    long size = x.dtype().bits() / 8;
    long rowBytes = x.shape().columns() * size;
    int rowsOfTask = Work.rowsOfTask(x.shape().columns());
    workers.run(
        Work.count(rows, rowsOfTask),
        task -> {
          long end = Math.min(rows, (task + 1L) * rowsOfTask);
          for (long row = (long) task * rowsOfTask; row < end; row++) {
            MemorySegment.copy(data, Views.rowStart(x, row) * size, dst, row * rowBytes, rowBytes);
          }
        });
  }

  /** A task is a band of {@link #TILE} rows of one matrix. */
  private void tiles(TensorView x, MemorySegment dst) {
    long rows = x.shape().rows();
    long columns = x.shape().columns();
    long rowStride = x.shape().rank() < 2 ? 0 : x.stride(-2);
    int bands = Work.count(rows, TILE);
    workers.run(
        Work.toInt("x", bands * x.shape().batch(), "bands of 32 rows"),
        task -> {
          long row = (long) (task % bands) * TILE;
          long matrixRow = (long) (task / bands) * rows + row;
          int height = (int) Math.min(TILE, rows - row);
          long start = Views.rowStart(x, matrixRow);
          for (long column = 0; column < columns; column += TILE) {
            int width = (int) Math.min(TILE, columns - column);
            long from = start + column * Views.columnStride(x);
            tile(x, from, rowStride, height, width, dst, matrixRow * columns + column);
          }
        });
  }

  private static void tile(
      TensorView x, long from, long rowStride, int height, int width, MemorySegment dst, long to) {
    MemorySegment data = Views.storage(x).data();
    long stride = Views.columnStride(x);
    long pitch = x.shape().columns();
    for (int row = 0; row < height; row++) {
      long source = from + row * rowStride;
      long target = to + row * pitch;
      switch (x.dtype().bits()) {
        case 8 -> {
          for (int i = 0; i < width; i++) {
            byte code = data.get(ValueLayout.JAVA_BYTE, source + i * stride);
            dst.set(ValueLayout.JAVA_BYTE, target + i, code);
          }
        }
        case 16 -> {
          for (int i = 0; i < width; i++) {
            dst.set(SHORT, (target + i) * 2, data.get(SHORT, (source + i * stride) * 2));
          }
        }
        default -> {
          for (int i = 0; i < width; i++) {
            dst.set(INT, (target + i) * 4, data.get(INT, (source + i * stride) * 4));
          }
        }
      }
    }
  }
}
