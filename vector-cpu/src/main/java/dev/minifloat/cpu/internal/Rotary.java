package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.FLOAT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShuffle;

/**
 * Rotary embedding. Sines and cosines are computed in F64, once for each position, and kept as F32
 * beside the elements they multiply, the sine of a pair's first element negated:
 *
 * <pre>
 *   y = x · cos + partner(x) · ±sin
 * </pre>
 *
 * where the partner is the neighbour, or the element half of {@code dims} away.
 */
final class Rotary {
  private static final VectorShuffle<Float> NEIGHBOURS =
      VectorShuffle.fromOp(FLOAT, lane -> lane ^ 1);

  private final Workers workers;
  private final Memory memory;
  private final Rows rows;

  Rotary(Workers workers, Memory memory, Rows rows) {
    this.workers = workers;
    this.memory = memory;
    this.rows = rows;
  }

  /**
   * @param positions of the rows of a matrix; null for 0, 1, 2, …
   */
  void rope(
      TensorView x, int dims, float base, boolean interleaved, int[] positions, TensorView out) {
    if (x.shape().elements() == 0) {
      return;
    }
    int sequence = Work.toInt("x", x.shape().rows(), "rows");
    try (Memory.Block cosines = memory.take(4L * dims * sequence);
        Memory.Block sines = memory.take(4L * dims * sequence)) {
      MemorySegment cos = cosines.segment();
      MemorySegment sin = sines.segment();
      workers.run(
          sequence,
          place -> {
            double position = positions == null ? place : positions[place];
            angles(position, dims, base, interleaved, cos, sin, 4L * dims * place);
          });
      rows.run(
          x,
          out,
          (row, src, from, n, dst, to) -> {
            long table = 4L * dims * (row % sequence);
            if (interleaved) {
              neighbours(src, from, dims, cos, sin, table, dst, to);
            } else {
              int half = dims / 2;
              halves(src, from, 2L * dims, half, cos, sin, table, dst, to);
              halves(
                  src,
                  from + 2L * dims,
                  -2L * dims,
                  half,
                  cos,
                  sin,
                  table + 2L * dims,
                  dst,
                  to + 2L * dims);
            }
            MemorySegment.copy(src, from + 4L * dims, dst, to + 4L * dims, 4L * (n - dims));
          });
    }
  }

  private static void angles(
      double position,
      int dims,
      float base,
      boolean interleaved,
      MemorySegment cos,
      MemorySegment sin,
      long at) {
    int half = dims / 2;
    for (int pair = 0; pair < half; pair++) {
      double angle = position * Math.pow(base, -2.0 * pair / dims);
      float c = (float) Math.cos(angle);
      float s = (float) Math.sin(angle);
      int first = interleaved ? 2 * pair : pair;
      int second = interleaved ? first + 1 : first + half;
      cos.set(PackedElements.FLOAT, at + 4L * first, c);
      cos.set(PackedElements.FLOAT, at + 4L * second, c);
      sin.set(PackedElements.FLOAT, at + 4L * first, -s);
      sin.set(PackedElements.FLOAT, at + 4L * second, s);
    }
  }

  /** One half of a row, whose partners lie {@code away} bytes from it. */
  private static void halves(
      MemorySegment src,
      long from,
      long away,
      int half,
      MemorySegment cos,
      MemorySegment sin,
      long table,
      MemorySegment dst,
      long to) {
    int i = 0;
    for (; i <= half - LANES; i += LANES) {
      long at = 4L * i;
      FloatVector turned = load(src, from + away + at).mul(load(sin, table + at));
      load(src, from + at).fma(load(cos, table + at), turned).intoMemorySegment(dst, to + at, LE);
    }
    for (; i < half; i++) {
      long at = 4L * i;
      float turned = get(src, from + away + at) * get(sin, table + at);
      float value = Math.fma(get(src, from + at), get(cos, table + at), turned);
      dst.set(PackedElements.FLOAT, to + at, value);
    }
  }

  private static void neighbours(
      MemorySegment src,
      long from,
      int dims,
      MemorySegment cos,
      MemorySegment sin,
      long table,
      MemorySegment dst,
      long to) {
    int i = 0;
    for (; i <= dims - LANES; i += LANES) {
      long at = 4L * i;
      FloatVector x = load(src, from + at);
      FloatVector turned = x.rearrange(NEIGHBOURS).mul(load(sin, table + at));
      x.fma(load(cos, table + at), turned).intoMemorySegment(dst, to + at, LE);
    }
    for (; i < dims; i++) {
      long at = 4L * i;
      float turned = get(src, from + 4L * (i ^ 1)) * get(sin, table + at);
      float value = Math.fma(get(src, from + at), get(cos, table + at), turned);
      dst.set(PackedElements.FLOAT, to + at, value);
    }
  }

  private static FloatVector load(MemorySegment src, long at) {
    return FloatVector.fromMemorySegment(FLOAT, src, at, LE);
  }

  private static float get(MemorySegment src, long at) {
    return src.get(PackedElements.FLOAT, at);
  }
}
