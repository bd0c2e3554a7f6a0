package dev.minifloat.cpu.internal.rows;

import dev.minifloat.cpu.internal.convert.Copier;
import dev.minifloat.cpu.internal.convert.Sink;
import dev.minifloat.cpu.internal.convert.Source;
import dev.minifloat.cpu.internal.convert.Views;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Species;
import dev.minifloat.cpu.internal.runtime.Work;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;

/** Kernels that map each row of a float tensor to a row of the output. */
public final class Rows {
  private final Workers workers;
  private final Memory memory;
  private final Copier copier;

  public Rows(Workers workers, Memory memory, Copier copier) {
    this.workers = workers;
    this.memory = memory;
    this.copier = copier;
  }

  /**
   * A kernel and the arguments of one call of it; {@link Pool} keeps them for later calls.
   *
   * <p>A row shorter than a vector is computed in scratch memory: so every row has at least {@link
   * Species#LANES} F32 that may be read and written, those beyond {@code columns} being anything.
   */
  abstract static class Call implements IntConsumer {
    private final Source source = new Source();
    private final Sink sink = new Sink();
    private Memory memory;
    private long rows;
    private int columns;
    private int rowsOfTask;

    /**
     * Maps {@code columns} F32 at {@code from}, which it may not change, to F32 at {@code to}, with
     * the canonical NaN only. Several threads may be in it.
     */
    abstract void row(
        long row, MemorySegment src, long from, int columns, MemorySegment dst, long to);

    @Override
    public final void accept(int task) {
      long end = Math.min(rows, (task + 1L) * rowsOfTask);
      long second = padded(columns);
      boolean isShort = columns < Species.LANES;
      try (Memory.Block scratch = memory.take(2 * second)) {
        MemorySegment buffer = scratch.segment();
        MemorySegment src = isShort ? buffer : source.segment(buffer);
        MemorySegment dst = isShort ? buffer : sink.segment(buffer);
        for (long row = (long) task * rowsOfTask; row < end; row++) {
          long flat = row * columns;
          if (isShort) {
            source.copy(flat, columns, buffer, 0);
            row(row, src, 0, columns, dst, second);
            sink.write(flat, columns, buffer, second);
          } else {
            long from = source.read(flat, columns, buffer, 0);
            row(row, src, from, columns, dst, sink.offset(flat, second));
            sink.flush(flat, columns, buffer, second);
          }
        }
      }
    }
  }

  /** Runs a kernel over all rows; a task is as many rows as make about {@link Work#TASK}. */
  void run(TensorView x, TensorView out, Call call) {
    if (x.shape().elements() == 0) {
      return;
    }
    call.memory = memory;
    call.rows = Views.rows(x);
    call.columns = Work.toInt("x", x.shape().columns(), "columns");
    call.rowsOfTask = Work.rowsOfTask(call.columns);
    call.sink.open(out);
    call.source.open(x, copier, memory);
    try {
      workers.run(Work.count(call.rows, call.rowsOfTask), call);
    } finally {
      call.source.close();
    }
  }

  /** Bytes of so many F32, up to a multiple of a vector. */
  static long padded(long elements) {
    return (4 * elements + Memory.ALIGNMENT - 1) & -Memory.ALIGNMENT;
  }

  /** A vector of floats that each row is combined with, as F32: gamma or beta. */
  static final class Operand implements AutoCloseable {
    private final Source source = new Source();
    private Memory.Block block;
    private MemorySegment segment;
    private long from;

    /** The segment that holds it. */
    MemorySegment segment() {
      return segment;
    }

    /** Its byte offset there; a whole vector may be read, however short it is. */
    long from() {
      return from;
    }

    @Override
    public void close() {
      source.close();
      block.close();
      block = null;
      segment = null;
    }
  }

  /** Takes a vector, until it is closed. */
  void open(Operand operand, TensorView x) {
    int count = Work.toInt("gamma or beta", x.shape().elements(), "elements");
    operand.source.open(x, copier, memory);
    boolean inPlace = operand.source.isDirect() && count >= Species.LANES;
    operand.block = memory.take(inPlace ? 0 : padded(count));
    operand.segment = inPlace ? operand.source.segment(null) : operand.block.segment();
    if (inPlace) {
      operand.from = operand.source.read(0, count, null, 0);
    } else {
      operand.from = 0;
      operand.source.copy(0, count, operand.segment, 0);
    }
  }
}
