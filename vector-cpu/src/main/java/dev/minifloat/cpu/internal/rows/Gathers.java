package dev.minifloat.cpu.internal.rows;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.convert.Copier;
import dev.minifloat.cpu.internal.convert.Sink;
import dev.minifloat.cpu.internal.convert.Source;
import dev.minifloat.cpu.internal.convert.Views;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Pool;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Work;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import jdk.incubator.vector.FloatVector;

/** Rows picked from a table, and the mean of the rows of a sequence. */
public final class Gathers {
  private final Workers workers;
  private final Memory memory;
  private final Copier copier;
  private final Pool<Embedding> embeddings = new Pool<>(Embedding::new);
  private final Pool<MeanPool> meanPools = new Pool<>(MeanPool::new);

  public Gathers(Workers workers, Memory memory, Copier copier) {
    this.workers = workers;
    this.memory = memory;
    this.copier = copier;
  }

  public void embedding(TensorView table, TensorView ids, TensorView out) {
    if (out.shape().elements() == 0) {
      return;
    }
    Embedding call = embeddings.take();
    try {
      call.memory = memory;
      call.table = table;
      call.ids = ids;
      call.count = ids.shape().elements();
      call.width = Work.toInt("table", table.shape().columns(), "columns");
      call.rowsOfTask = Work.rowsOfTask(call.width);
      call.sink.open(out);
      workers.run(Work.count(call.count, call.rowsOfTask), call);
    } finally {
      call.table = null;
      call.ids = null;
      embeddings.give(call);
    }
  }

  private static final class Embedding implements IntConsumer {
    final Sink sink = new Sink();
    Memory memory;
    TensorView table;
    TensorView ids;
    long count;
    int width;
    int rowsOfTask;

    @Override
    public void accept(int task) {
      long end = Math.min(count, (task + 1L) * rowsOfTask);
      boolean scaled = !table.isUnscaled();
      try (Memory.Block scratch = memory.take(Rows.padded(width))) {
        MemorySegment buffer = scratch.segment();
        for (long i = (long) task * rowsOfTask; i < end; i++) {
          long flat = i * width;
          long to = sink.offset(flat, 0);
          int id = Views.readInt(ids, i);
          Views.gather(table, id, 1, 0, width, sink.segment(buffer), to, 0);
          if (scaled) {
            sink.flushResults(flat, width, buffer, 0);
          } else {
            sink.flush(flat, width, buffer, 0);
          }
        }
      }
    }
  }

  /**
   * The mean over the second dimension, row after row.
   *
   * @param lengths how many rows of each sequence count, or null
   */
  public void meanPool(TensorView x, TensorView lengths, TensorView out) {
    if (out.shape().elements() == 0) {
      return;
    }
    MeanPool call = meanPools.take();
    call.source.open(x, copier, memory);
    try {
      call.memory = memory;
      call.lengths = lengths;
      call.sequence = Work.toInt("x", x.shape().dim(1), "rows");
      call.width = Work.toInt("x", x.shape().dim(2), "columns");
      call.sink.open(out);
      workers.run(Work.toInt("x", x.shape().dim(0), "sequences"), call);
    } finally {
      call.source.close();
      call.lengths = null;
      meanPools.give(call);
    }
  }

  private static final class MeanPool implements IntConsumer {
    final Source source = new Source();
    final Sink sink = new Sink();
    Memory memory;
    TensorView lengths;
    int sequence;
    int width;

    @Override
    public void accept(int batch) {
      int count = lengths == null ? sequence : Views.readInt(lengths, batch);
      long second = Rows.padded(width);
      try (Memory.Block scratch = memory.take(2 * second)) {
        MemorySegment buffer = scratch.segment();
        MemorySegment sum = sink.segment(buffer);
        long flat = (long) batch * width;
        long to = sink.offset(flat, second);
        zero(sum, to, width);
        for (int s = 0; s < count; s++) {
          long from = source.read(((long) batch * sequence + s) * width, width, buffer, 0);
          accumulate(source.segment(buffer), from, width, sum, to);
        }
        divide(sum, to, width, count);
        sink.flushResults(flat, width, buffer, second);
      }
    }
  }

  private static void zero(MemorySegment target, long to, int count) {
    MemorySegment sum = Segments.exact(target);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector.zero(FLOAT).intoMemorySegment(sum, to + 4L * i, LE);
    }
    for (; i < count; i++) {
      sum.set(PackedElements.FLOAT, to + 4L * i, 0);
    }
  }

  private static void accumulate(
      MemorySegment source, long from, int count, MemorySegment target, long to) {
    MemorySegment src = Segments.exact(source);
    MemorySegment sum = Segments.exact(target);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector.fromMemorySegment(FLOAT, sum, to + 4L * i, LE)
          .add(FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE))
          .intoMemorySegment(sum, to + 4L * i, LE);
    }
    for (; i < count; i++) {
      float x = src.get(PackedElements.FLOAT, from + 4L * i);
      float old = sum.get(PackedElements.FLOAT, to + 4L * i);
      sum.set(PackedElements.FLOAT, to + 4L * i, old + x);
    }
  }

  private static void divide(MemorySegment target, long at, int count, float divisor) {
    MemorySegment x = Segments.exact(target);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector.fromMemorySegment(FLOAT, x, at + 4L * i, LE)
          .div(divisor)
          .intoMemorySegment(x, at + 4L * i, LE);
    }
    for (; i < count; i++) {
      float value = x.get(PackedElements.FLOAT, at + 4L * i);
      x.set(PackedElements.FLOAT, at + 4L * i, value / divisor);
    }
  }
}
