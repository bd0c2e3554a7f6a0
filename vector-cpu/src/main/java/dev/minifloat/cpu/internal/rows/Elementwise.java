package dev.minifloat.cpu.internal.rows;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.Activation;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.convert.Copier;
import dev.minifloat.cpu.internal.convert.Sink;
import dev.minifloat.cpu.internal.convert.Source;
import dev.minifloat.cpu.internal.math.Activations;
import dev.minifloat.cpu.internal.math.Nans;
import dev.minifloat.cpu.internal.math.VectorMath;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Pool;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Work;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import jdk.incubator.vector.FloatVector;

/** Sums and activations, run by run. */
public final class Elementwise {
  private final Workers workers;
  private final Memory memory;
  private final Copier copier;
  private final Pool<Mapping> mappings = new Pool<>(Mapping::new);
  private final Pool<Sum> sums = new Pool<>(Sum::new);

  public Elementwise(Workers workers, Memory memory, Copier copier) {
    this.workers = workers;
    this.memory = memory;
    this.copier = copier;
  }

  /** The arguments of a call; a task of it is as many elements as {@link Work#TASK}. */
  private abstract static class Call implements IntConsumer {
    final Source source = new Source();
    final Sink sink = new Sink();
    Memory memory;
    long elements;

    /** Computes elements {@code at …}; {@code buffer} holds two runs. */
    abstract void run(long at, int count, MemorySegment buffer);

    @Override
    public final void accept(int task) {
      long end = Math.min(elements, (task + 1L) * Work.TASK);
      try (Memory.Block scratch = memory.take(8L * Work.RUN)) {
        MemorySegment buffer = scratch.segment();
        for (long at = (long) task * Work.TASK; at < end; at += Work.RUN) {
          int count = (int) Math.min(Work.RUN, end - at);
          run(at, count, buffer);
          sink.flush(at, count, buffer, 0);
        }
      }
    }
  }

  private void run(TensorView x, TensorView out, Call call) {
    call.memory = memory;
    call.elements = x.shape().elements();
    call.sink.open(out);
    call.source.open(x, copier, memory);
    try {
      workers.run(Work.tasks(call.elements), call);
    } finally {
      call.source.close();
    }
  }

  public void activation(TensorView x, Activation activation, TensorView out) {
    Mapping call = mappings.take();
    try {
      call.activation = activation;
      run(x, out, call);
    } finally {
      mappings.give(call);
    }
  }

  private static final class Mapping extends Call {
    Activation activation;

    @Override
    void run(long at, int count, MemorySegment buffer) {
      long from = source.read(at, count, buffer, 0);
      long to = sink.offset(at, 0);
      Activations.apply(activation, source.segment(buffer), from, count, sink.segment(buffer), to);
    }
  }

  public void add(TensorView a, TensorView b, TensorView out) {
    Sum call = sums.take();
    call.other.open(b, copier, memory);
    try {
      call.columns = b.shape().equals(a.shape()) ? 0 : b.shape().elements();
      run(a, out, call);
    } finally {
      call.other.close();
      sums.give(call);
    }
  }

  private static final class Sum extends Call {
    final Source other = new Source();

    /** Elements of {@code other} if that is added to each row; 0 if it has a value for each. */
    long columns;

    @Override
    void run(long at, int count, MemorySegment buffer) {
      long from = source.read(at, count, buffer, 0);
      MemorySegment first = source.segment(buffer);
      MemorySegment second = other.segment(buffer);
      long to = sink.offset(at, 0);
      MemorySegment sum = sink.segment(buffer);
      if (columns == 0) {
        long otherAt = other.read(at, count, buffer, 4L * Work.RUN);
        sum(first, from, second, otherAt, count, sum, to);
        return;
      }
      long column = at % columns;
      for (int done = 0; done < count; column = 0) {
        int part = (int) Math.min(count - done, columns - column);
        long row = other.read(column, part, buffer, 4L * Work.RUN);
        sum(first, from + 4L * done, second, row, part, sum, to + 4L * done);
        done += part;
      }
    }
  }

  private static void sum(
      MemorySegment a, long atA, MemorySegment b, long atB, int count, MemorySegment dst, long to) {
    MemorySegment left = Segments.exact(a);
    MemorySegment right = Segments.exact(b);
    MemorySegment target = Segments.exact(dst);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector x = FloatVector.fromMemorySegment(FLOAT, left, atA + 4L * i, LE);
      FloatVector y = FloatVector.fromMemorySegment(FLOAT, right, atB + 4L * i, LE);
      VectorMath.canonical(x.add(y)).intoMemorySegment(target, to + 4L * i, LE);
    }
    for (; i < count; i++) {
      float x = left.get(PackedElements.FLOAT, atA + 4L * i);
      float y = right.get(PackedElements.FLOAT, atB + 4L * i);
      target.set(PackedElements.FLOAT, to + 4L * i, Nans.canonical(x + y));
    }
  }
}
