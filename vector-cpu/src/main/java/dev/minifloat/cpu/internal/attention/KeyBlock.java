package dev.minifloat.cpu.internal.attention;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.cpu.internal.math.VectorMath;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;

/**
 * What one query does with a block of keys or values, F32 rows of whole vectors in native memory.
 */
final class KeyBlock {
  /** Keys of a block, a multiple of every vector's lanes. */
  static final int KEYS = 64;

  /** Floats of their scores, with what is beside them. */
  static final int ROOM = KEYS + LANES;

  private KeyBlock() {}

  /**
   * Scores of the first {@code n} keys, not scaled.
   *
   * @param apart bytes from a key to the next
   * @param width floats of a key and of the query, whole vectors
   * @param n at least 1; up to three scores more are written, which mean nothing
   */
  static void score(
      MemorySegment keys,
      long from,
      long apart,
      int n,
      float[] query,
      int at,
      int width,
      float[] scores,
      int to) {
    MemorySegment src = Segments.exact(keys);
    for (int j = 0; j < n; j += 4) {
      // The last key again where there are no more.
      long rowA = from + j * apart;
      long rowB = from + Math.min(j + 1, n - 1) * apart;
      long rowC = from + Math.min(j + 2, n - 1) * apart;
      long rowD = from + Math.min(j + 3, n - 1) * apart;
      FloatVector a = FloatVector.zero(FLOAT);
      FloatVector b = a;
      FloatVector c = a;
      FloatVector d = a;
      for (int i = 0; i < width; i += LANES) {
        FloatVector q = FloatVector.fromArray(FLOAT, query, at + i);
        a = q.fma(FloatVector.fromMemorySegment(FLOAT, src, rowA + 4L * i, LE), a);
        b = q.fma(FloatVector.fromMemorySegment(FLOAT, src, rowB + 4L * i, LE), b);
        c = q.fma(FloatVector.fromMemorySegment(FLOAT, src, rowC + 4L * i, LE), c);
        d = q.fma(FloatVector.fromMemorySegment(FLOAT, src, rowD + 4L * i, LE), d);
      }
      scores[to + j] = VectorMath.sum(FLOATS.cast(a));
      scores[to + j + 1] = VectorMath.sum(FLOATS.cast(b));
      scores[to + j + 2] = VectorMath.sum(FLOATS.cast(c));
      scores[to + j + 3] = VectorMath.sum(FLOATS.cast(d));
    }
  }

  /**
   * Makes weights of scores where they are, and carries on a row's state: the largest scale · score
   * so far, the sum of the weights, and the factor for what was summed before. See {@link
   * OnlineSoftmax} for numbers that are none.
   *
   * @param x scores at {@code at}, with room for {@link #ROOM} floats
   */
  static void weigh(float[] x, int at, int n, float scale, float[] state, int to) {
    float before = state[to];
    float max = before;
    for (int j = 0; j < n; j++) {
      float t = x[at + j] * scale;
      x[at + j] = t;
      max = t > max ? t : max;
    }
    Arrays.fill(x, at + n, at + ROOM, Float.NEGATIVE_INFINITY);
    // The factor comes with the weights, in a vector behind theirs.
    x[at + KEYS] = before;
    exponentials(x, at, ROOM, max);
    float factor = x[at + KEYS];
    state[to] = max;
    state[to + 1] = state[to + 1] * factor + sum(x, at);
    state[to + 2] = factor;
  }

  /**
   * e^(x − max) of {@code count} numbers, whole vectors of them, none of which is above max; max =
   * −Inf counts as 0.
   */
  static void exponentials(float[] x, int at, int count, float max) {
    FloatVector shift = FloatVector.broadcast(FLOAT, max == Float.NEGATIVE_INFINITY ? 0 : max);
    for (int j = 0; j < count; j += LANES) {
      VectorMath.exp(FloatVector.fromArray(FLOAT, x, at + j).sub(shift)).intoArray(x, at + j);
    }
  }

  private static float sum(float[] x, int at) {
    FloatVector sum = FloatVector.zero(FLOAT);
    for (int j = 0; j < KEYS; j += LANES) {
      sum = FLOATS.cast(sum).add(FloatVector.fromArray(FLOAT, x, at + j));
    }
    return VectorMath.sum(FLOATS.cast(sum));
  }

  /**
   * sums = factor · sums + Σ weight · value over the first {@code n} rows.
   *
   * @param apart bytes from a value's row to the next
   * @param width floats of a row, whole vectors
   */
  static void add(
      MemorySegment values,
      long from,
      long apart,
      int n,
      float[] weights,
      int at,
      float factor,
      float[] sums,
      int to,
      int width) {
    int i = 0;
    for (; i <= width - 4 * LANES; i += 4 * LANES) {
      addFour(values, from + 4L * i, apart, n, weights, at, factor, sums, to + i);
    }
    for (; i < width; i += LANES) {
      addOne(values, from + 4L * i, apart, n, weights, at, factor, sums, to + i);
    }
  }

  private static void addFour(
      MemorySegment values,
      long from,
      long apart,
      int n,
      float[] weights,
      int at,
      float factor,
      float[] sums,
      int to) {
    MemorySegment src = Segments.exact(values);
    FloatVector f = FloatVector.broadcast(FLOAT, factor);
    FloatVector a = FloatVector.fromArray(FLOAT, sums, to).mul(f);
    FloatVector b = FloatVector.fromArray(FLOAT, sums, to + LANES).mul(f);
    FloatVector c = FloatVector.fromArray(FLOAT, sums, to + 2 * LANES).mul(f);
    FloatVector d = FloatVector.fromArray(FLOAT, sums, to + 3 * LANES).mul(f);
    for (int j = 0; j < n; j++) {
      FloatVector w = FloatVector.broadcast(FLOAT, weights[at + j]);
      long row = from + j * apart;
      a = w.fma(FloatVector.fromMemorySegment(FLOAT, src, row, LE), a);
      b = w.fma(FloatVector.fromMemorySegment(FLOAT, src, row + 4L * LANES, LE), b);
      c = w.fma(FloatVector.fromMemorySegment(FLOAT, src, row + 8L * LANES, LE), c);
      d = w.fma(FloatVector.fromMemorySegment(FLOAT, src, row + 12L * LANES, LE), d);
    }
    FLOATS.cast(a).intoArray(sums, to);
    FLOATS.cast(b).intoArray(sums, to + LANES);
    FLOATS.cast(c).intoArray(sums, to + 2 * LANES);
    FLOATS.cast(d).intoArray(sums, to + 3 * LANES);
  }

  private static void addOne(
      MemorySegment values,
      long from,
      long apart,
      int n,
      float[] weights,
      int at,
      float factor,
      float[] sums,
      int to) {
    MemorySegment src = Segments.exact(values);
    FloatVector sum = FloatVector.fromArray(FLOAT, sums, to).mul(factor);
    for (int j = 0; j < n; j++) {
      sum =
          FloatVector.broadcast(FLOAT, weights[at + j])
              .fma(FloatVector.fromMemorySegment(FLOAT, src, from + j * apart, LE), sum);
    }
    FLOATS.cast(sum).intoArray(sums, to);
  }
}
