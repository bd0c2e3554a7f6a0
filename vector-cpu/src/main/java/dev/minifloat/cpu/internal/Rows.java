package dev.minifloat.cpu.internal;

import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;

/** Kernels that map each row of a float tensor to a row of the output. */
final class Rows {
  /**
   * A kernel: {@code columns} F32 at {@code from}, which it may not change, to F32 at {@code to}.
   */
  interface Kernel {
    void row(long row, MemorySegment src, long from, int columns, MemorySegment dst, long to);
  }

  private final Workers workers;
  private final Memory memory;
  private final Copier copier;

  Rows(Workers workers, Memory memory, Copier copier) {
    this.workers = workers;
    this.memory = memory;
    this.copier = copier;
  }

  /** Runs a kernel over all rows; a task is as many rows as make about {@link Work#TASK}. */
  void run(TensorView x, TensorView out, Kernel kernel) {
    if (x.shape().elements() == 0) {
      return;
    }
    long rows = Views.rows(x);
    int columns = Work.toInt("x", x.shape().columns(), "columns");
    int rowsOfTask = Work.rowsOfTask(columns);
    Sink sink = new Sink(out);
    try (Source source = Source.of(x, copier, memory)) {
      workers.run(
          Work.count(rows, rowsOfTask),
          task -> {
            long end = Math.min(rows, (task + 1L) * rowsOfTask);
            long second = padded(columns);
            try (Memory.Block scratch = memory.take(2 * second)) {
              MemorySegment buffer = scratch.segment();
              MemorySegment src = source.segment(buffer);
              MemorySegment dst = sink.segment(buffer);
              for (long row = (long) task * rowsOfTask; row < end; row++) {
                long from = source.read(row * columns, columns, buffer, 0);
                long to = sink.offset(row * columns, second);
                kernel.row(row, src, from, columns, dst, to);
                sink.flushResults(row * columns, columns, buffer, second);
              }
            }
          });
    }
  }

  /** Bytes of so many F32, up to a multiple of a vector. */
  static long padded(long elements) {
    return (4 * elements + Memory.ALIGNMENT - 1) & -Memory.ALIGNMENT;
  }

  /** A float vector as dense F32. */
  Memory.Block vector(TensorView x) {
    int count = Work.toInt("gamma or beta", x.shape().elements(), "elements");
    Memory.Block block = memory.take(padded(count));
    Views.read(x, 0, count, block.segment(), 0);
    return block;
  }
}
