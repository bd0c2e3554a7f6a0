package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.FLOAT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Softmax: the largest scale · x, the exponentials of the differences from it, each one fused
 * multiply-add away, and their sum.
 */
final class SoftmaxRows {
  /**
   * The largest maximum that F32 holds closely enough: it is rounded, the differences from it are
   * not, so that from 2^30 on the exponential of the largest itself could overflow.
   */
  private static final float LARGEST_MAX = 0x1p26f;

  private final Rows rows;

  SoftmaxRows(Rows rows) {
    this.rows = rows;
  }

  /**
   * @param lengths columns that count for each index of the first dimension, or null
   */
  void softmax(TensorView x, float scale, int[] lengths, boolean causal, TensorView out) {
    if (x.shape().elements() == 0) {
      return;
    }
    long matrixRows = x.shape().rows();
    long columns = x.shape().columns();
    long rowsOfLength = lengths == null ? 1 : Views.rows(x) / lengths.length;
    int[] counts = lengths == null ? null : Arrays.copyOf(lengths, lengths.length);
    rows.run(
        x,
        out,
        (row, src, from, n, dst, to) -> {
          long seen = counts == null ? n : counts[(int) (row / rowsOfLength)];
          if (causal) {
            seen = Math.clamp(row % matrixRows + 1 + columns - matrixRows, 0, seen);
          }
          softmax(src, from, (int) seen, n, scale, dst, to);
        });
  }

  private static void softmax(
      MemorySegment src, long from, int seen, int n, float scale, MemorySegment dst, long to) {
    if (seen > 0) {
      float max = largest(src, from, seen, scale);
      if (!(Math.abs(max) <= LARGEST_MAX)) {
        WideRows.softmax(src, from, seen, scale, dst, to);
      } else {
        exponentials(src, from, seen, scale, max, dst, to);
        divide(dst, to, seen, Norms.sum(dst, to, seen));
      }
    }
    zero(dst, to + 4L * seen, n - seen);
  }

  private static void zero(MemorySegment dst, long to, int n) {
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      FloatVector.zero(FLOAT).intoMemorySegment(dst, to + 4L * i, LE);
    }
    for (; i < n; i++) {
      dst.set(PackedElements.FLOAT, to + 4L * i, 0);
    }
  }

  private static float largest(MemorySegment src, long from, int n, float scale) {
    FloatVector max = FloatVector.broadcast(FLOAT, Float.NEGATIVE_INFINITY);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      max = max.max(FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE).mul(scale));
    }
    float largest = max.reduceLanes(VectorOperators.MAX);
    for (; i < n; i++) {
      largest = Math.max(largest, scale * src.get(PackedElements.FLOAT, from + 4L * i));
    }
    return largest;
  }

  /** Writes e^(scale · x − max). */
  private static void exponentials(
      MemorySegment src, long from, int n, float scale, float max, MemorySegment dst, long to) {
    FloatVector factor = FloatVector.broadcast(FLOAT, scale);
    FloatVector shift = FloatVector.broadcast(FLOAT, -max);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      FloatVector x = FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE);
      VectorMath.exp(x.fma(factor, shift)).intoMemorySegment(dst, to + 4L * i, LE);
    }
    for (; i < n; i++) {
      float x = src.get(PackedElements.FLOAT, from + 4L * i);
      float e = (float) Math.exp(Math.fma(x, scale, -max));
      dst.set(PackedElements.FLOAT, to + 4L * i, e);
    }
  }

  private static void divide(MemorySegment x, long at, int n, float divisor) {
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      FloatVector.fromMemorySegment(FLOAT, x, at + 4L * i, LE)
          .div(divisor)
          .intoMemorySegment(x, at + 4L * i, LE);
    }
    for (; i < n; i++) {
      float value = x.get(PackedElements.FLOAT, at + 4L * i);
      x.set(PackedElements.FLOAT, at + 4L * i, value / divisor);
    }
  }
}
