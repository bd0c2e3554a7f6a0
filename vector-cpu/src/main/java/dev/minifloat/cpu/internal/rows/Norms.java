package dev.minifloat.cpu.internal.rows;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Exact.INTS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.math.VectorMath;
import dev.minifloat.cpu.internal.runtime.Pool;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Layer norm, RMS norm and L2 norm of rows, in one or two passes for the sums and one for the
 * results; all but the first find the row in the first-level cache.
 *
 * <p>Sums are F32 in two or four accumulators a lane, added up in a fixed order. A row whose sum of
 * squares leaves the range where F32 keeps its digits (huge or tiny values, infinities, NaN) is
 * computed again in F64 ({@link WideRows}). So all values of the other rows are finite, and no
 * result of theirs is NaN.
 *
 * <p>A row need not fill vectors: the last one ends where the row does, its lanes that were counted
 * already are left out of sums, and what is written there a second time is the same.
 *
 * <p>Loads are written out: as sizes happen to be, any part of a method may at first run seldom,
 * and where it does, the compiler refuses to inline even the smallest helper that it has compiled
 * before, and boxes the helper's vectors for good.
 */
public final class Norms {
  private static final int INFINITY = 0x7F800000;
  private static final int MAGNITUDE = 0x7FFFFFFF;
  private static final double MIN_NORM = 1e-12;

  private static final float LARGEST_SUM = 0x1p120f;
  private static final float SMALLEST_SUM = 0x1p-80f;

  private final Rows rows;
  private final Pool<LayerNorm> layerNorms = new Pool<>(LayerNorm::new);
  private final Pool<RmsNorm> rmsNorms = new Pool<>(RmsNorm::new);
  private final Pool<L2Norm> l2Norms = new Pool<>(L2Norm::new);

  public Norms(Rows rows) {
    this.rows = rows;
  }

  public void layerNorm(
      TensorView x, TensorView gamma, TensorView beta, float epsilon, TensorView out) {
    if (x.shape().elements() == 0) {
      return;
    }
    LayerNorm call = layerNorms.take();
    rows.open(call.gamma, gamma);
    rows.open(call.beta, beta);
    try {
      int n = (int) gamma.shape().elements();
      call.epsilon = epsilon;
      call.wide =
          extent(call.gamma.segment(), call.gamma.from(), n, true) >= INFINITY
              || extent(call.beta.segment(), call.beta.from(), n, true) > INFINITY;
      rows.run(x, out, call);
    } finally {
      call.gamma.close();
      call.beta.close();
      layerNorms.give(call);
    }
  }

  private static final class LayerNorm extends Rows.Call {
    final Rows.Operand gamma = new Rows.Operand();
    final Rows.Operand beta = new Rows.Operand();
    float epsilon;
    boolean wide;

    @Override
    void row(long row, MemorySegment src, long from, int n, MemorySegment dst, long to) {
      float mean = sum(src, from, n) / n;
      long sums = sumsOfDeviations(src, from, n, mean);
      // What rounding took from the mean shows in the sum of differences from it.
      double rest = Float.intBitsToFloat((int) (sums >> 32)) / (double) n;
      double all = Float.intBitsToFloat((int) sums);
      double squares = all - rest * rest * n;
      // Where the mean's rounding error outweighs the deviations, a difference has lost its digits.
      if (wide || !inRange(squares) || squares < all / 2) {
        MemorySegment g = gamma.segment();
        MemorySegment b = beta.segment();
        WideRows.layerNorm(src, from, n, g, gamma.from(), b, beta.from(), epsilon, dst, to);
        return;
      }
      double factor = 1 / Math.sqrt(squares / n + epsilon);
      float shift = (float) (-rest * factor);
      normalize(src, from, n, mean, (float) factor, shift, gamma, beta, dst, to);
    }
  }

  /** ((x − mean) · factor + shift) · gamma + beta. */
  private static void normalize(
      MemorySegment source,
      long from,
      int n,
      float mean,
      float factor,
      float shift,
      Rows.Operand gamma,
      Rows.Operand beta,
      MemorySegment target,
      long to) {
    MemorySegment src = Segments.exact(source);
    MemorySegment dst = Segments.exact(target);
    MemorySegment g = Segments.exact(gamma.segment());
    MemorySegment b = Segments.exact(beta.segment());
    long atGamma = gamma.from();
    long atBeta = beta.from();
    FloatVector factors = FloatVector.broadcast(FLOAT, factor);
    FloatVector shifts = FloatVector.broadcast(FLOAT, shift);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      long at = 4L * i;
      FloatVector.fromMemorySegment(FLOAT, src, from + at, LE)
          .sub(mean)
          .fma(factors, shifts)
          .fma(
              FloatVector.fromMemorySegment(FLOAT, g, atGamma + at, LE),
              FloatVector.fromMemorySegment(FLOAT, b, atBeta + at, LE))
          .intoMemorySegment(dst, to + at, LE);
    }
    if (i < n) {
      long at = 4L * Math.max(0, n - LANES);
      FloatVector.fromMemorySegment(FLOAT, src, from + at, LE)
          .sub(mean)
          .fma(factors, shifts)
          .fma(
              FloatVector.fromMemorySegment(FLOAT, g, atGamma + at, LE),
              FloatVector.fromMemorySegment(FLOAT, b, atBeta + at, LE))
          .intoMemorySegment(dst, to + at, LE);
    }
  }

  public void rmsNorm(TensorView x, TensorView gamma, float epsilon, TensorView out) {
    if (x.shape().elements() == 0) {
      return;
    }
    RmsNorm call = rmsNorms.take();
    rows.open(call.gamma, gamma);
    try {
      int n = (int) gamma.shape().elements();
      call.epsilon = epsilon;
      call.largest = Float.intBitsToFloat(extent(call.gamma.segment(), call.gamma.from(), n, true));
      call.least = Float.intBitsToFloat(extent(call.gamma.segment(), call.gamma.from(), n, false));
      rows.run(x, out, call);
    } finally {
      call.gamma.close();
      rmsNorms.give(call);
    }
  }

  private static final class RmsNorm extends Rows.Call {
    final Rows.Operand gamma = new Rows.Operand();
    float epsilon;
    float largest;
    float least;

    @Override
    void row(long row, MemorySegment src, long from, int n, MemorySegment dst, long to) {
      float squares = sumOfSquares(src, from, n);
      float factor = (float) (1 / Math.sqrt((double) squares / n + epsilon));
      // The factor is multiplied with gamma first, which must not cost the product's digits.
      boolean normal = factor * least >= Float.MIN_NORMAL && factor * largest <= Float.MAX_VALUE;
      if (!inRange(squares) || !normal) {
        WideRows.rmsNorm(src, from, n, gamma.segment(), gamma.from(), epsilon, dst, to);
        return;
      }
      scale(src, from, n, factor, gamma, dst, to);
    }
  }

  /** x · (gamma · factor). */
  private static void scale(
      MemorySegment source,
      long from,
      int n,
      float factor,
      Rows.Operand gamma,
      MemorySegment target,
      long to) {
    MemorySegment src = Segments.exact(source);
    MemorySegment dst = Segments.exact(target);
    MemorySegment g = Segments.exact(gamma.segment());
    long atGamma = gamma.from();
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      long at = 4L * i;
      FloatVector.fromMemorySegment(FLOAT, g, atGamma + at, LE)
          .mul(factor)
          .mul(FloatVector.fromMemorySegment(FLOAT, src, from + at, LE))
          .intoMemorySegment(dst, to + at, LE);
    }
    if (i < n) {
      long at = 4L * Math.max(0, n - LANES);
      FloatVector.fromMemorySegment(FLOAT, g, atGamma + at, LE)
          .mul(factor)
          .mul(FloatVector.fromMemorySegment(FLOAT, src, from + at, LE))
          .intoMemorySegment(dst, to + at, LE);
    }
  }

  public void l2Normalize(TensorView x, TensorView out) {
    L2Norm call = l2Norms.take();
    try {
      rows.run(x, out, call);
    } finally {
      l2Norms.give(call);
    }
  }

  private static final class L2Norm extends Rows.Call {
    @Override
    void row(long row, MemorySegment src, long from, int n, MemorySegment dst, long to) {
      float squares = sumOfSquares(src, from, n);
      if (!inRange(squares)) {
        WideRows.l2Normalize(src, from, n, MIN_NORM, dst, to);
        return;
      }
      scale(src, from, n, (float) (1 / Math.max(Math.sqrt(squares), MIN_NORM)), dst, to);
    }
  }

  private static void scale(
      MemorySegment source, long from, int n, float factor, MemorySegment target, long to) {
    MemorySegment src = Segments.exact(source);
    MemorySegment dst = Segments.exact(target);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE)
          .mul(factor)
          .intoMemorySegment(dst, to + 4L * i, LE);
    }
    if (i < n) {
      long at = 4L * Math.max(0, n - LANES);
      FloatVector.fromMemorySegment(FLOAT, src, from + at, LE)
          .mul(factor)
          .intoMemorySegment(dst, to + at, LE);
    }
  }

  /**
   * The bits of the largest magnitude, more than infinity's if there is a NaN; or of the least one
   * that is not zero, infinity's if there is none.
   */
  private static int extent(MemorySegment source, long from, int n, boolean isLargest) {
    MemorySegment src = Segments.exact(source);
    IntVector largest = IntVector.zero(INT);
    IntVector least = IntVector.broadcast(INT, INFINITY);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      IntVector bits = IntVector.fromMemorySegment(INT, src, from + 4L * i, LE).and(MAGNITUDE);
      largest = INTS.cast(largest).max(bits);
      least = INTS.cast(least).min(bits.blend(INFINITY, bits.compare(VectorOperators.EQ, 0)));
    }
    int most = INTS.cast(largest).reduceLanes(VectorOperators.MAX);
    int fewest = INTS.cast(least).reduceLanes(VectorOperators.MIN);
    for (; i < n; i++) {
      int bits = src.get(PackedElements.INT, from + 4L * i) & MAGNITUDE;
      most = Math.max(most, bits);
      fewest = bits == 0 ? fewest : Math.min(fewest, bits);
    }
    return isLargest ? most : fewest;
  }

  private static boolean inRange(double squares) {
    return squares >= SMALLEST_SUM && squares <= LARGEST_SUM;
  }

  /** Σ x. */
  private static float sum(MemorySegment source, long from, int n) {
    MemorySegment src = Segments.exact(source);
    FloatVector a = FloatVector.zero(FLOAT);
    FloatVector b = a;
    FloatVector c = a;
    FloatVector d = a;
    int i = 0;
    for (; i <= n - 4 * LANES; i += 4 * LANES) {
      a = FLOATS.cast(a).add(FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE));
      b =
          FLOATS
              .cast(b)
              .add(FloatVector.fromMemorySegment(FLOAT, src, from + 4L * (i + LANES), LE));
      c =
          FLOATS
              .cast(c)
              .add(FloatVector.fromMemorySegment(FLOAT, src, from + 4L * (i + 2 * LANES), LE));
      d =
          FLOATS
              .cast(d)
              .add(FloatVector.fromMemorySegment(FLOAT, src, from + 4L * (i + 3 * LANES), LE));
    }
    for (; i <= n - LANES; i += LANES) {
      a = FLOATS.cast(a).add(FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE));
    }
    if (i < n) {
      int last = Math.max(0, n - LANES);
      FloatVector x =
          FloatVector.fromMemorySegment(FLOAT, src, from + 4L * last, LE)
              .blend(0, VectorMath.LANE.compare(VectorOperators.LT, i - last))
              .blend(0, VectorMath.LANE.compare(VectorOperators.GE, n - last));
      b = FLOATS.cast(b).add(x);
    }
    return VectorMath.sum(FLOATS.cast(a).add(b).add(FLOATS.cast(c).add(d)));
  }

  /** The bits of Σ (x − mean), above those of Σ (x − mean)². */
  private static long sumsOfDeviations(MemorySegment source, long from, int n, float mean) {
    MemorySegment src = Segments.exact(source);
    FloatVector sum = FloatVector.zero(FLOAT);
    FloatVector otherSum = sum;
    FloatVector squares = sum;
    FloatVector otherSquares = sum;
    int i = 0;
    for (; i <= n - 2 * LANES; i += 2 * LANES) {
      FloatVector a = FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE).sub(mean);
      FloatVector b =
          FloatVector.fromMemorySegment(FLOAT, src, from + 4L * (i + LANES), LE).sub(mean);
      sum = FLOATS.cast(sum).add(a);
      otherSum = FLOATS.cast(otherSum).add(b);
      squares = a.fma(a, squares);
      otherSquares = b.fma(b, otherSquares);
    }
    if (i <= n - LANES) {
      FloatVector a = FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE).sub(mean);
      sum = FLOATS.cast(sum).add(a);
      squares = a.fma(a, squares);
      i += LANES;
    }
    if (i < n) {
      int last = Math.max(0, n - LANES);
      FloatVector a =
          FloatVector.fromMemorySegment(FLOAT, src, from + 4L * last, LE)
              .sub(mean)
              .blend(0, VectorMath.LANE.compare(VectorOperators.LT, i - last))
              .blend(0, VectorMath.LANE.compare(VectorOperators.GE, n - last));
      otherSum = FLOATS.cast(otherSum).add(a);
      otherSquares = a.fma(a, otherSquares);
    }
    int high = Float.floatToRawIntBits(VectorMath.sum(FLOATS.cast(sum).add(otherSum)));
    int low = Float.floatToRawIntBits(VectorMath.sum(FLOATS.cast(squares).add(otherSquares)));
    return (long) high << 32 | Integer.toUnsignedLong(low);
  }

  /** Σ x². */
  private static float sumOfSquares(MemorySegment source, long from, int n) {
    MemorySegment src = Segments.exact(source);
    FloatVector first = FloatVector.zero(FLOAT);
    FloatVector second = first;
    FloatVector third = first;
    FloatVector fourth = first;
    int i = 0;
    for (; i <= n - 4 * LANES; i += 4 * LANES) {
      FloatVector a = FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE);
      FloatVector b = FloatVector.fromMemorySegment(FLOAT, src, from + 4L * (i + LANES), LE);
      FloatVector c = FloatVector.fromMemorySegment(FLOAT, src, from + 4L * (i + 2 * LANES), LE);
      FloatVector d = FloatVector.fromMemorySegment(FLOAT, src, from + 4L * (i + 3 * LANES), LE);
      first = a.fma(a, first);
      second = b.fma(b, second);
      third = c.fma(c, third);
      fourth = d.fma(d, fourth);
    }
    for (; i <= n - LANES; i += LANES) {
      FloatVector a = FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE);
      first = a.fma(a, first);
    }
    if (i < n) {
      int last = Math.max(0, n - LANES);
      FloatVector a =
          FloatVector.fromMemorySegment(FLOAT, src, from + 4L * last, LE)
              .blend(0, VectorMath.LANE.compare(VectorOperators.LT, i - last))
              .blend(0, VectorMath.LANE.compare(VectorOperators.GE, n - last));
      second = a.fma(a, second);
    }
    return VectorMath.sum(FLOATS.cast(first).add(second).add(FLOATS.cast(third).add(fourth)));
  }
}
