package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.FLOAT;
import static dev.minifloat.cpu.internal.Species.INT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Layer norm, RMS norm and L2 norm of rows.
 *
 * <p>Sums are F32 in two or four accumulators a lane, added up in a fixed order. A row whose sum of
 * squares leaves the range where F32 keeps its digits (huge or tiny values, infinities, NaN) is
 * computed again in F64.
 */
final class Norms {
  private static final int INFINITY = 0x7F800000;
  private static final int MAGNITUDE = 0x7FFFFFFF;
  private static final double MIN_NORM = 1e-12;

  private static final float LARGEST_SUM = 0x1p120f;
  private static final float SMALLEST_SUM = 0x1p-80f;

  private final Rows rows;

  Norms(Rows rows) {
    this.rows = rows;
  }

  void layerNorm(TensorView x, TensorView gamma, TensorView beta, float epsilon, TensorView out) {
    if (x.shape().elements() == 0) {
      return;
    }
    try (Memory.Block scale = rows.vector(gamma);
        Memory.Block shift = rows.vector(beta)) {
      MemorySegment g = scale.segment();
      MemorySegment b = shift.segment();
      boolean wide = !(largest(g, (int) gamma.shape().elements()) <= Float.MAX_VALUE);
      rows.run(
          x,
          out,
          (_, src, from, n, dst, to) -> layerNorm(src, from, n, g, b, wide, epsilon, dst, to));
    }
  }

  private static void layerNorm(
      MemorySegment src,
      long from,
      int n,
      MemorySegment gamma,
      MemorySegment beta,
      boolean wide,
      float epsilon,
      MemorySegment dst,
      long to) {
    float mean = sum(src, from, n) / n;
    // What rounding took from the mean shows in the sum of differences from it.
    float rest = sumOfDifferences(src, from, n, mean) / n;
    float squares = sumOfSquares(src, from, n, mean, rest);
    if (wide || !inRange(squares)) {
      WideRows.layerNorm(src, from, n, gamma, beta, epsilon, dst, to);
      return;
    }
    float factor = (float) (1 / Math.sqrt((double) squares / n + epsilon));
    scaleAndShift(src, from, n, mean, rest, factor, gamma, beta, dst, to);
  }

  /** A loop calls no other, and is called from none: see {@link FloatRounding}. */
  private static void scaleAndShift(
      MemorySegment src,
      long from,
      int n,
      float mean,
      float rest,
      float factor,
      MemorySegment gamma,
      MemorySegment beta,
      MemorySegment dst,
      long to) {
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      long at = 4L * i;
      load(src, from + at)
          .sub(mean)
          .sub(rest)
          .mul(factor)
          .fma(load(gamma, at), load(beta, at))
          .intoMemorySegment(dst, to + at, LE);
    }
    for (; i < n; i++) {
      float centred = (get(src, from, i) - mean - rest) * factor;
      put(dst, to, i, Math.fma(centred, get(gamma, 0, i), get(beta, 0, i)));
    }
  }

  void rmsNorm(TensorView x, TensorView gamma, float epsilon, TensorView out) {
    if (x.shape().elements() == 0) {
      return;
    }
    try (Memory.Block scale = rows.vector(gamma)) {
      MemorySegment g = scale.segment();
      boolean enlarging = !(largest(g, (int) gamma.shape().elements()) <= 2);
      rows.run(
          x,
          out,
          (_, src, from, n, dst, to) -> rmsNorm(src, from, n, g, enlarging, epsilon, dst, to));
    }
  }

  private static void rmsNorm(
      MemorySegment src,
      long from,
      int n,
      MemorySegment gamma,
      boolean enlarging,
      float epsilon,
      MemorySegment dst,
      long to) {
    float squares = sumOfSquares(src, from, n, 0, 0);
    if (!inRange(squares)) {
      WideRows.rmsNorm(src, from, n, gamma, epsilon, dst, to);
      return;
    }
    float factor = (float) (1 / Math.sqrt((double) squares / n + epsilon));
    if (enlarging && least(src, from, n) * factor < Float.MIN_NORMAL) {
      // A product that underflows has lost the digits that gamma would bring back.
      WideRows.rmsNorm(src, from, n, gamma, epsilon, dst, to);
      return;
    }
    scale(src, from, n, factor, gamma, dst, to);
  }

  private static void scale(
      MemorySegment src,
      long from,
      int n,
      float factor,
      MemorySegment gamma,
      MemorySegment dst,
      long to) {
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      long at = 4L * i;
      load(src, from + at).mul(factor).mul(load(gamma, at)).intoMemorySegment(dst, to + at, LE);
    }
    for (; i < n; i++) {
      put(dst, to, i, get(src, from, i) * factor * get(gamma, 0, i));
    }
  }

  void l2Normalize(TensorView x, TensorView out) {
    rows.run(x, out, (_, src, from, n, dst, to) -> l2Normalize(src, from, n, dst, to));
  }

  private static void l2Normalize(MemorySegment src, long from, int n, MemorySegment dst, long to) {
    float squares = sumOfSquares(src, from, n, 0, 0);
    if (!inRange(squares)) {
      WideRows.l2Normalize(src, from, n, MIN_NORM, dst, to);
      return;
    }
    float norm = (float) Math.max(Math.sqrt(squares), MIN_NORM);
    divide(src, from, n, norm, dst, to);
  }

  private static void divide(
      MemorySegment src, long from, int n, float divisor, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      load(src, from + 4L * i).div(divisor).intoMemorySegment(dst, to + 4L * i, LE);
    }
    for (; i < n; i++) {
      put(dst, to, i, get(src, from, i) / divisor);
    }
  }

  /** The largest magnitude; NaN if there is one. */
  private static float largest(MemorySegment x, int n) {
    float largest = 0;
    for (int i = 0; i < n; i++) {
      largest = Math.max(largest, Math.abs(get(x, 0, i)));
    }
    return largest;
  }

  /** The least magnitude that is not zero, of numbers, which are ordered as their bits are. */
  private static float least(MemorySegment src, long from, int n) {
    IntVector least = IntVector.broadcast(INT, INFINITY);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      IntVector bits = IntVector.fromMemorySegment(INT, src, from + 4L * i, LE).and(MAGNITUDE);
      least = least.min(bits.blend(INFINITY, bits.compare(VectorOperators.EQ, 0)));
    }
    int all = least.reduceLanes(VectorOperators.MIN);
    for (; i < n; i++) {
      int bits = src.get(PackedElements.INT, from + 4L * i) & MAGNITUDE;
      all = bits == 0 ? all : Math.min(all, bits);
    }
    return Float.intBitsToFloat(all);
  }

  private static boolean inRange(float squares) {
    return squares >= SMALLEST_SUM && squares <= LARGEST_SUM;
  }

  private static FloatVector load(MemorySegment src, long at) {
    return FloatVector.fromMemorySegment(FLOAT, src, at, LE);
  }

  private static float get(MemorySegment src, long from, int i) {
    return src.get(PackedElements.FLOAT, from + 4L * i);
  }

  private static void put(MemorySegment dst, long to, int i, float value) {
    dst.set(PackedElements.FLOAT, to + 4L * i, value);
  }

  /** Σ x. */
  static float sum(MemorySegment src, long from, int n) {
    return sumOfDifferences(src, from, n, 0);
  }

  /** Σ (x − centre). */
  private static float sumOfDifferences(MemorySegment src, long from, int n, float centre) {
    FloatVector a = FloatVector.zero(FLOAT);
    FloatVector b = FloatVector.zero(FLOAT);
    FloatVector c = FloatVector.zero(FLOAT);
    FloatVector d = FloatVector.zero(FLOAT);
    int i = 0;
    for (; i <= n - 4 * LANES; i += 4 * LANES) {
      a = a.add(load(src, from + 4L * i).sub(centre));
      b = b.add(load(src, from + 4L * (i + LANES)).sub(centre));
      c = c.add(load(src, from + 4L * (i + 2 * LANES)).sub(centre));
      d = d.add(load(src, from + 4L * (i + 3 * LANES)).sub(centre));
    }
    for (; i <= n - LANES; i += LANES) {
      a = a.add(load(src, from + 4L * i).sub(centre));
    }
    float sum = VectorMath.sum(a.add(b).add(c.add(d)));
    for (; i < n; i++) {
      sum += get(src, from, i) - centre;
    }
    return sum;
  }

  /** Σ (x − centre − rest)². */
  private static float sumOfSquares(MemorySegment src, long from, int n, float centre, float rest) {
    FloatVector first = FloatVector.zero(FLOAT);
    FloatVector second = FloatVector.zero(FLOAT);
    int i = 0;
    for (; i <= n - 2 * LANES; i += 2 * LANES) {
      FloatVector a = load(src, from + 4L * i).sub(centre).sub(rest);
      FloatVector b = load(src, from + 4L * (i + LANES)).sub(centre).sub(rest);
      first = a.fma(a, first);
      second = b.fma(b, second);
    }
    for (; i <= n - LANES; i += LANES) {
      FloatVector a = load(src, from + 4L * i).sub(centre).sub(rest);
      first = a.fma(a, first);
    }
    float sum = VectorMath.sum(first.add(second));
    for (; i < n; i++) {
      float a = get(src, from, i) - centre - rest;
      sum = Math.fma(a, a, sum);
    }
    return sum;
  }
}
