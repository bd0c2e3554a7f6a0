package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.FLOAT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/** Rows picked from a table, and the mean of the rows of a sequence. */
final class Gathers {
  private final Workers workers;
  private final Memory memory;
  private final Copier copier;

  Gathers(Workers workers, Memory memory, Copier copier) {
    this.workers = workers;
    this.memory = memory;
    this.copier = copier;
  }

  void embedding(TensorView table, int[] ids, TensorView out) {
    if (out.shape().elements() == 0) {
      return;
    }
    int width = Work.toInt("table", table.shape().columns(), "columns");
    int rowsOfTask = Work.rowsOfTask(width);
    boolean scaled = !table.isUnscaled();
    Sink sink = new Sink(out);
    workers.run(
        Work.count(ids.length, rowsOfTask),
        task -> {
          int end = (int) Math.min(ids.length, (task + 1L) * rowsOfTask);
          try (Memory.Block scratch = memory.take(Rows.padded(width))) {
            MemorySegment buffer = scratch.segment();
            for (int i = task * rowsOfTask; i < end; i++) {
              long flat = (long) i * width;
              long to = sink.offset(flat, 0);
              Views.gather(table, ids[i], 1, 0, width, sink.segment(buffer), to, 0);
              if (scaled) {
                sink.flushResults(flat, width, buffer, 0);
              } else {
                sink.flush(flat, width, buffer, 0);
              }
            }
          }
        });
  }

  /**
   * The mean over the second dimension, row after row.
   *
   * @param lengths how many rows of each sequence count, or null
   */
  void meanPool(TensorView x, int[] lengths, TensorView out) {
    if (out.shape().elements() == 0) {
      return;
    }
    int sequence = Work.toInt("x", x.shape().dim(1), "rows");
    int width = Work.toInt("x", x.shape().dim(2), "columns");
    Sink sink = new Sink(out);
    try (Source source = Source.of(x, copier, memory)) {
      workers.run(
          Work.toInt("x", x.shape().dim(0), "sequences"),
          batch -> {
            int count = lengths == null ? sequence : lengths[batch];
            long second = Rows.padded(width);
            try (Memory.Block scratch = memory.take(2 * second)) {
              MemorySegment buffer = scratch.segment();
              MemorySegment sum = sink.segment(buffer);
              long flat = (long) batch * width;
              long to = sink.offset(flat, second);
              sum.asSlice(to, 4L * width).fill((byte) 0);
              for (int s = 0; s < count; s++) {
                long from = source.read(((long) batch * sequence + s) * width, width, buffer, 0);
                accumulate(source.segment(buffer), from, width, sum, to);
              }
              divide(sum, to, width, count);
              sink.flushResults(flat, width, buffer, second);
            }
          });
    }
  }

  private static void accumulate(
      MemorySegment src, long from, int count, MemorySegment sum, long to) {
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

  private static void divide(MemorySegment x, long at, int count, float divisor) {
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
