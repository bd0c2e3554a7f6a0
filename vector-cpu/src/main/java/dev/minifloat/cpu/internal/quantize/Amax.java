package dev.minifloat.cpu.internal.quantize;

import static dev.minifloat.cpu.internal.runtime.Exact.INTS;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.convert.Copier;
import dev.minifloat.cpu.internal.convert.Source;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Pages;
import dev.minifloat.cpu.internal.runtime.Pool;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Work;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The largest magnitude by bits: |x| as an integer, so that an infinity beats numbers and a NaN an
 * infinity. A maximum of integers has no order of reduction.
 */
public final class Amax {
  private static final int MAGNITUDE = 0x7FFFFFFF;
  private static final int INFINITY = 0x7F800000;

  private final Workers workers;
  private final Memory memory;
  private final Copier copier;
  private final Pool<Call> calls = new Pool<>(Call::new);

  public Amax(Workers workers, Memory memory, Copier copier) {
    this.workers = workers;
    this.memory = memory;
    this.copier = copier;
  }

  public float amax(TensorView x) {
    Call call = calls.take();
    try {
      call.own.open(x, copier, memory);
      return value(call.run(call.own, x.shape().elements()));
    } finally {
      call.own.close();
      calls.give(call);
    }
  }

  /** The float of an amax, NaN made canonical. */
  static float value(int bits) {
    return bits > INFINITY ? Float.NaN : Float.intBitsToFloat(bits);
  }

  /** Over all values of a source. */
  int bits(Source source, long elements) {
    Call call = calls.take();
    try {
      return call.run(source, elements);
    } finally {
      calls.give(call);
    }
  }

  /** One call, whose tasks any thread may run. */
  private final class Call {
    private final Source own = new Source();
    private final IntConsumer task = this::task;
    private final AtomicInteger largest = new AtomicInteger();
    private Source source;
    private long elements;

    int run(Source source, long elements) {
      this.source = source;
      this.elements = elements;
      largest.set(0);
      workers.run(Work.tasks(elements), task);
      this.source = null;
      return largest.get();
    }

    private void task(int task) {
      long first = (long) task * Work.TASK;
      long end = Math.min(elements, first + Work.TASK);
      int bits = 0;
      try (Memory.Block scratch = memory.take(4L * Work.RUN)) {
        MemorySegment buffer = scratch.segment();
        if (source.isDirect()) {
          long from = source.read(first, 0, buffer, 0);
          raise(streamed(source.segment(buffer), from, (int) (end - first)));
          return;
        }
        Pages.keep(buffer, source.touch(first, end - first));
        for (long at = first; at < end; at += Work.RUN) {
          int count = (int) Math.min(Work.RUN, end - at);
          long from = source.read(at, count, buffer, 0);
          bits = Math.max(bits, bits(source.segment(buffer), from, count));
        }
      }
      raise(bits);
    }

    private void raise(int bits) {
      for (int seen = largest.get(); seen < bits; seen = largest.get()) {
        if (largest.compareAndSet(seen, bits)) {
          return;
        }
      }
    }
  }

  /** Over {@code count} F32 at {@code from}. */
  static int bits(MemorySegment segment, long from, int count) {
    MemorySegment values = Segments.exact(segment);
    IntVector first = IntVector.zero(INT);
    IntVector second = IntVector.zero(INT);
    int i = 0;
    for (; i <= count - 2 * LANES; i += 2 * LANES) {
      IntVector a = IntVector.fromMemorySegment(INT, values, from + 4L * i, LE);
      IntVector b = IntVector.fromMemorySegment(INT, values, from + 4L * (i + LANES), LE);
      first = INTS.cast(first).max(a.and(MAGNITUDE));
      second = INTS.cast(second).max(b.and(MAGNITUDE));
    }
    for (; i <= count - LANES; i += LANES) {
      IntVector a = IntVector.fromMemorySegment(INT, values, from + 4L * i, LE);
      first = INTS.cast(first).max(a.and(MAGNITUDE));
    }
    int largest = INTS.cast(first).max(second).reduceLanes(VectorOperators.MAX);
    for (; i < count; i++) {
      largest = Math.max(largest, values.get(PackedElements.INT, from + 4L * i) & MAGNITUDE);
    }
    return largest;
  }

  /**
   * Over {@code count} F32 at {@code from} that are in memory, not in a cache: read as {@link
   * Pages#STREAMS} streams at once, for the reason stated there.
   */
  static int streamed(MemorySegment segment, long from, int count) {
    MemorySegment values = Segments.exact(segment);
    int vectors = count / (Pages.STREAMS * LANES);
    long apart = 4L * LANES * vectors;
    IntVector a = IntVector.zero(INT);
    IntVector b = IntVector.zero(INT);
    IntVector c = IntVector.zero(INT);
    IntVector d = IntVector.zero(INT);
    for (int k = 0; k < vectors; k++) {
      long at = from + 4L * LANES * k;
      a = IntVector.fromMemorySegment(INT, values, at, LE).and(MAGNITUDE).max(a);
      b = IntVector.fromMemorySegment(INT, values, at + apart, LE).and(MAGNITUDE).max(b);
      c = IntVector.fromMemorySegment(INT, values, at + 2 * apart, LE).and(MAGNITUDE).max(c);
      d = IntVector.fromMemorySegment(INT, values, at + 3 * apart, LE).and(MAGNITUDE).max(d);
      a = IntVector.fromMemorySegment(INT, values, at + 4 * apart, LE).and(MAGNITUDE).max(a);
      b = IntVector.fromMemorySegment(INT, values, at + 5 * apart, LE).and(MAGNITUDE).max(b);
      c = IntVector.fromMemorySegment(INT, values, at + 6 * apart, LE).and(MAGNITUDE).max(c);
      d = IntVector.fromMemorySegment(INT, values, at + 7 * apart, LE).and(MAGNITUDE).max(d);
    }
    int largest = INTS.cast(a).max(b).max(INTS.cast(c).max(d)).reduceLanes(VectorOperators.MAX);
    int done = Pages.STREAMS * LANES * vectors;
    return Math.max(largest, bits(segment, from + 4L * done, count - done));
  }

  /** Of each element apart: {@code amax[i] = max(amax[i], |values[i]|)}. */
  static void each(MemorySegment segment, long from, int count, MemorySegment dst, long to) {
    MemorySegment values = Segments.exact(segment);
    MemorySegment amax = Segments.exact(dst);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      IntVector a = IntVector.fromMemorySegment(INT, values, from + 4L * i, LE);
      IntVector old = IntVector.fromMemorySegment(INT, amax, to + 4L * i, LE);
      old.max(a.and(MAGNITUDE)).intoMemorySegment(amax, to + 4L * i, LE);
    }
    for (; i < count; i++) {
      int a = values.get(PackedElements.INT, from + 4L * i) & MAGNITUDE;
      int old = amax.get(PackedElements.INT, to + 4L * i);
      amax.set(PackedElements.INT, to + 4L * i, Math.max(old, a));
    }
  }
}
