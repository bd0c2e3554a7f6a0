package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.INT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The largest magnitude by bits: |x| as an integer, so that an infinity beats numbers and a NaN an
 * infinity. A maximum of integers has no order of reduction.
 */
final class Amax {
  private static final int MAGNITUDE = 0x7FFFFFFF;
  private static final int INFINITY = 0x7F800000;

  private final Workers workers;
  private final Memory memory;
  private final Copier copier;

  Amax(Workers workers, Memory memory, Copier copier) {
    this.workers = workers;
    this.memory = memory;
    this.copier = copier;
  }

  float amax(TensorView x) {
    try (Source source = Source.of(x, copier, memory)) {
      return value(bits(source, x.shape().elements()));
    }
  }

  /** The float of an amax, NaN made canonical. */
  static float value(int bits) {
    return bits > INFINITY ? Float.NaN : Float.intBitsToFloat(bits);
  }

  /** Over all values of a source. */
  int bits(Source source, long elements) {
    AtomicInteger largest = new AtomicInteger();
    workers.run(
        Work.tasks(elements),
        task -> {
          long end = Math.min(elements, (task + 1L) * Work.TASK);
          int bits = 0;
          try (Memory.Block scratch = memory.take(4L * Work.RUN)) {
            MemorySegment buffer = scratch.segment();
            for (long at = (long) task * Work.TASK; at < end; at += Work.RUN) {
              int count = (int) Math.min(Work.RUN, end - at);
              long from = source.read(at, count, buffer, 0);
              bits = Math.max(bits, bits(source.segment(buffer), from, count));
            }
          }
          largest.accumulateAndGet(bits, Math::max);
        });
    return largest.get();
  }

  /** Over {@code count} F32 at {@code from}. */
  static int bits(MemorySegment values, long from, int count) {
    IntVector first = IntVector.zero(INT);
    IntVector second = IntVector.zero(INT);
    int i = 0;
    for (; i <= count - 2 * LANES; i += 2 * LANES) {
      IntVector a = IntVector.fromMemorySegment(INT, values, from + 4L * i, LE);
      IntVector b = IntVector.fromMemorySegment(INT, values, from + 4L * (i + LANES), LE);
      first = first.max(a.and(MAGNITUDE));
      second = second.max(b.and(MAGNITUDE));
    }
    for (; i <= count - LANES; i += LANES) {
      IntVector a = IntVector.fromMemorySegment(INT, values, from + 4L * i, LE);
      first = first.max(a.and(MAGNITUDE));
    }
    int largest = first.max(second).reduceLanes(VectorOperators.MAX);
    for (; i < count; i++) {
      largest = Math.max(largest, values.get(PackedElements.INT, from + 4L * i) & MAGNITUDE);
    }
    return largest;
  }

  /** Of each element apart: {@code amax[i] = max(amax[i], |values[i]|)}. */
  static void each(MemorySegment values, long from, int count, MemorySegment amax, long to) {
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
