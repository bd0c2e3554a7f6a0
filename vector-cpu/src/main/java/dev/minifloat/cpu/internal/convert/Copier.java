package dev.minifloat.cpu.internal.convert;

import static dev.minifloat.codec.PackedElements.INT;
import static dev.minifloat.codec.PackedElements.SHORT;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Pool;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Work;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.IntConsumer;

/** Copies of views, element codes and all. */
public final class Copier {
  /** Bytes of a task of plain copying. */
  private static final long PIECE = 1 << 20;

  /** Side of the square in which a turned view is read and written: both sides stay in cache. */
  private static final int TILE = 32;

  /** Rows of a turned view that are decoded at a time. */
  private static final int DECODED = 128;

  private final Workers workers;
  private final Memory memory;
  private final Pool<Call> calls = new Pool<>(Call::new);

  public Copier(Workers workers, Memory memory) {
    this.workers = workers;
    this.memory = memory;
  }

  public void copy(TensorView x, TensorView out) {
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
    Call call = calls.take();
    try {
      call.elements(x, dst);
    } finally {
      call.clear();
      calls.give(call);
    }
  }

  /** Whether {@link #values} takes a view: one with scales, whose rows lie beside each other. */
  static boolean isTurned(TensorView x) {
    return !x.isUnscaled()
        && x.shape().rank() >= 2
        && x.stride(-2) == 1
        && Views.columnStride(x) != 1
        && x.shape().elements() > 0;
  }

  /** The values of a turned view in row-major order, as F32. */
  void values(TensorView x, MemorySegment dst) {
    Call call = calls.take();
    try {
      call.values(x, dst);
    } finally {
      call.clear();
      calls.give(call);
    }
  }

  /** One call, whose tasks any thread may run. */
  private final class Call {
    private final IntConsumer plainTask = this::plain;
    private final IntConsumer packedTask = this::packed;
    private final IntConsumer rowsTask = this::rows;
    private final IntConsumer tilesTask = this::tiles;
    private final IntConsumer valuesTask = this::values;
    private TensorView x;
    private MemorySegment data;
    private MemorySegment dst;

    /** Where plain bytes begin, and their number. */
    private long from;

    private long bytes;

    /** Rows of a task, or tasks of a matrix. */
    private int parts;

    private void open(TensorView x, MemorySegment dst) {
      this.x = x;
      this.data = Views.storage(x).data();
      this.dst = dst;
    }

    void clear() {
      x = null;
      data = null;
      dst = null;
    }

    void elements(TensorView x, MemorySegment dst) {
      open(x, dst);
      long elements = x.shape().elements();
      if (elements == 0) {
        return;
      }
      int bits = x.dtype().bits();
      if (x.isContiguous() && x.offset() * bits % 8 == 0) {
        from = x.offset() * bits / 8;
        bytes = x.dtype().byteSize(elements);
        workers.run(Work.count(bytes, PIECE), plainTask);
        int used = (int) (elements * bits % 8);
        if (used != 0) {
          // The last byte may hold an element that is not in the view.
          byte kept = (byte) (dst.get(ValueLayout.JAVA_BYTE, bytes - 1) & ((1 << used) - 1));
          dst.set(ValueLayout.JAVA_BYTE, bytes - 1, kept);
        }
      } else if (bits < 8) {
        workers.run(Work.tasks(elements), packedTask);
      } else if (Views.columnStride(x) == 1) {
        parts = Work.rowsOfTask(x.shape().columns());
        workers.run(Work.count(Views.rows(x), parts), rowsTask);
      } else {
        parts = Work.count(x.shape().rows(), TILE);
        workers.run(Work.toInt("x", parts * x.shape().batch(), "bands of 32 rows"), tilesTask);
      }
    }

    void values(TensorView x, MemorySegment dst) {
      open(x, dst);
      parts = Work.count(x.shape().rows(), DECODED);
      workers.run(Work.toInt("x", parts * x.shape().batch(), "bands of rows"), valuesTask);
    }

    private void plain(int task) {
      long at = task * PIECE;
      MemorySegment.copy(data, from + at, dst, at, Math.min(PIECE, bytes - at));
    }

    /** Elements narrower than a byte, in the order of the view. */
    private void packed(int task) {
      long first = (long) task * Work.TASK;
      int count = (int) Math.min(Work.TASK, x.shape().elements() - first);
      long columns = x.shape().columns();
      long stride = Views.columnStride(x);
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

    private void rows(int task) {
      long size = x.dtype().bits() / 8;
      long rowBytes = x.shape().columns() * size;
      long end = Math.min(Views.rows(x), (task + 1L) * parts);
      for (long row = (long) task * parts; row < end; row++) {
        MemorySegment.copy(data, Views.rowStart(x, row) * size, dst, row * rowBytes, rowBytes);
      }
    }

    /** A band of {@link #TILE} rows of one matrix. */
    private void tiles(int task) {
      long rows = x.shape().rows();
      long columns = x.shape().columns();
      long rowStride = x.shape().rank() < 2 ? 0 : x.stride(-2);
      long row = (long) (task % parts) * TILE;
      long matrixRow = (long) (task / parts) * rows + row;
      int height = (int) Math.min(TILE, rows - row);
      long start = Views.rowStart(x, matrixRow);
      for (long column = 0; column < columns; column += TILE) {
        int width = (int) Math.min(TILE, columns - column);
        long first = start + column * Views.columnStride(x);
        tile(x, first, rowStride, height, width, dst, matrixRow * columns + column);
      }
    }

    /** A band of {@link #DECODED} rows: parts of columns are decoded as they lie, then turned. */
    private void values(int task) {
      long rows = x.shape().rows();
      long columns = x.shape().columns();
      long row = (long) (task % parts) * DECODED;
      long matrixRow = (long) (task / parts) * rows + row;
      int height = (int) Math.min(DECODED, rows - row);
      long start = Views.rowStart(x, matrixRow);
      HostStorage storage = Views.storage(x);
      try (Memory.Block scratch = memory.take(4L * TILE * DECODED)) {
        MemorySegment tile = scratch.segment();
        for (long column = 0; column < columns; column += TILE) {
          int width = (int) Math.min(TILE, columns - column);
          for (int i = 0; i < width; i++) {
            long first = start + (column + i) * Views.columnStride(x);
            Decoders.decodeScaled(storage, first, height, tile, 4L * DECODED * i);
          }
          turn(tile, height, width, dst, 4 * (matrixRow * columns + column), 4 * columns);
        }
      }
    }
  }

  /** Writes columns that lie behind each other as rows. */
  private static void turn(
      MemorySegment tile, int height, int width, MemorySegment dst, long to, long rowBytes) {
    MemorySegment src = Segments.exact(tile);
    MemorySegment out = Segments.exact(dst);
    for (int row = 0; row < height; row++) {
      for (int i = 0; i < width; i++) {
        out.set(INT, to + row * rowBytes + 4L * i, src.get(INT, 4L * (DECODED * i + row)));
      }
    }
  }

  private static void tile(
      TensorView x, long from, long rowStride, int height, int width, MemorySegment dst, long to) {
    MemorySegment data = Segments.exact(Views.storage(x).data());
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
