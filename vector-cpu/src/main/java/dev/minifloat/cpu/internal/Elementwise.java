package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.FLOAT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;

import dev.minifloat.Activation;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/** Sums and activations, run by run. */
final class Elementwise {
  private final Workers workers;
  private final Memory memory;
  private final Copier copier;

  Elementwise(Workers workers, Memory memory, Copier copier) {
    this.workers = workers;
    this.memory = memory;
    this.copier = copier;
  }

  void activation(TensorView x, Activation activation, TensorView out) {
    long elements = x.shape().elements();
    Sink sink = new Sink(out);
    try (Source source = Source.of(x, copier, memory)) {
      workers.run(
          Work.tasks(elements),
          task -> {
            long end = Math.min(elements, (task + 1L) * Work.TASK);
            try (Memory.Block scratch = memory.take(4L * Work.RUN)) {
              MemorySegment buffer = scratch.segment();
              for (long at = (long) task * Work.TASK; at < end; at += Work.RUN) {
                int count = (int) Math.min(Work.RUN, end - at);
                long from = source.read(at, count, buffer, 0);
                long to = sink.offset(at, 0);
                Activations.apply(
                    activation, source.segment(buffer), from, count, sink.segment(buffer), to);
                sink.flushResults(at, count, buffer, 0);
              }
            }
          });
    }
  }

  void add(TensorView a, TensorView b, TensorView out) {
    boolean sameShape = a.shape().equals(b.shape());
    long elements = a.shape().elements();
    Sink sink = new Sink(out);
    try (Source left = Source.of(a, copier, memory);
        Source right = Source.of(b, copier, memory)) {
      workers.run(
          Work.tasks(elements),
          task -> {
            long end = Math.min(elements, (task + 1L) * Work.TASK);
            try (Memory.Block scratch = memory.take(8L * Work.RUN)) {
              MemorySegment buffer = scratch.segment();
              for (long at = (long) task * Work.TASK; at < end; at += Work.RUN) {
                int count = (int) Math.min(Work.RUN, end - at);
                long from = left.read(at, count, buffer, 0);
                MemorySegment first = left.segment(buffer);
                MemorySegment second = right.segment(buffer);
                long to = sink.offset(at, 0);
                MemorySegment sum = sink.segment(buffer);
                if (sameShape) {
                  long other = right.read(at, count, buffer, 4L * Work.RUN);
                  sum(first, from, second, other, count, sum, to);
                } else {
                  addRow(right, buffer, first, from, at, count, sum, to);
                }
                sink.flushResults(at, count, buffer, 0);
              }
            }
          });
    }
  }

  /** Adds the vector, as long as a row, to elements {@code at …}. */
  private static void addRow(
      Source row,
      MemorySegment buffer,
      MemorySegment first,
      long from,
      long at,
      int count,
      MemorySegment sum,
      long to) {
    long columns = row.elements();
    long column = at % columns;
    for (int done = 0; done < count; column = 0) {
      int part = (int) Math.min(count - done, columns - column);
      long other = row.read(column, part, buffer, 4L * Work.RUN);
      sum(first, from + 4L * done, row.segment(buffer), other, part, sum, to + 4L * done);
      done += part;
    }
  }

  private static void sum(
      MemorySegment a, long atA, MemorySegment b, long atB, int count, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector.fromMemorySegment(FLOAT, a, atA + 4L * i, LE)
          .add(FloatVector.fromMemorySegment(FLOAT, b, atB + 4L * i, LE))
          .intoMemorySegment(dst, to + 4L * i, LE);
    }
    for (; i < count; i++) {
      float x = a.get(PackedElements.FLOAT, atA + 4L * i);
      float y = b.get(PackedElements.FLOAT, atB + 4L * i);
      dst.set(PackedElements.FLOAT, to + 4L * i, x + y);
    }
  }
}
