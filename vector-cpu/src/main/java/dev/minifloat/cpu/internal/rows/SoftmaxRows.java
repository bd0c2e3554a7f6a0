package dev.minifloat.cpu.internal.rows;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.convert.Views;
import dev.minifloat.cpu.internal.math.VectorMath;
import dev.minifloat.cpu.internal.runtime.Pool;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Softmax, in three passes over a row: the largest scale · x; the exponentials of the differences
 * from it, each one fused multiply-add away, and their sum; the products with 1 / sum.
 *
 * <p>A result below the least normal number is +0: subnormal numbers, which the exponentials of
 * masked elements would be, cost some machines a hundred times the time.
 *
 * <p>A row that doesn't fill vectors is treated as {@link Norms} says.
 */
public final class SoftmaxRows {
  /**
   * The largest maximum that F32 holds closely enough: it is rounded, the differences from it are
   * not, so that from 2^30 on the exponential of the largest itself could overflow.
   */
  private static final float LARGEST_MAX = 0x1p26f;

  /**
   * Elements added up before their sum is added to that of the row: keeps rounding errors small.
   */
  private static final int CHUNK = 1024;

  private final Rows rows;
  private final Pool<Call> calls = new Pool<>(Call::new);

  public SoftmaxRows(Rows rows) {
    this.rows = rows;
  }

  /**
   * Writes the softmax of {@code scale × x}, row by row.
   *
   * @param lengths columns that count for each index of the first dimension, or null
   */
  public void softmax(
      TensorView x, float scale, TensorView lengths, boolean causal, TensorView out) {
    if (x.shape().elements() == 0) {
      return;
    }
    Call call = calls.take();
    try {
      call.scale = scale;
      call.causal = causal;
      call.matrixRows = x.shape().rows();
      call.lengths = lengths;
      call.rowsOfLength = lengths == null ? 1 : Views.rows(x) / lengths.shape().elements();
      rows.run(x, out, call);
    } finally {
      call.lengths = null;
      calls.give(call);
    }
  }

  private static final class Call extends Rows.Call {
    float scale;
    boolean causal;
    long matrixRows;
    TensorView lengths;
    long rowsOfLength;

    @Override
    void row(long row, MemorySegment src, long from, int n, MemorySegment dst, long to) {
      long seen = lengths == null ? n : Views.readInt(lengths, row / rowsOfLength);
      if (causal) {
        // Row i of a matrix sees as many columns as lie up to the diagonal that ends in its corner.
        seen = Math.clamp(row % matrixRows + 1 + n - matrixRows, 0, seen);
      }
      softmax(src, from, (int) seen, n, scale, dst, to);
    }
  }

  private static void softmax(
      MemorySegment src, long from, int seen, int n, float scale, MemorySegment dst, long to) {
    if (seen > 0) {
      float max = largest(src, from, seen, scale);
      // A maximum that is no number, or a NaN that the search for it passed over, shows in the sum.
      float sum = Float.NaN;
      if (Math.abs(max) <= LARGEST_MAX) {
        sum = 0;
        for (int i = 0; i <= seen - LANES; i += CHUNK) {
          int count = Math.min(CHUNK, seen - i);
          sum += exponentials(src, from + 4L * i, count, scale, max, dst, to + 4L * i);
        }
        if (seen % LANES > 0) {
          sum += lastExponentials(src, from, seen, scale, max, dst, to);
        }
      }
      if (sum <= Float.MAX_VALUE) {
        multiply(dst, to, seen, 1 / sum, sum * Float.MIN_NORMAL);
      } else {
        WideRows.softmax(src, from, seen, scale, dst, to);
      }
    }
    zero(dst, to + 4L * seen, n - seen);
  }

  private static void zero(MemorySegment target, long to, int n) {
    MemorySegment dst = Segments.exact(target);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      FloatVector.zero(FLOAT).intoMemorySegment(dst, to + 4L * i, LE);
    }
    for (; i < n; i++) {
      dst.set(PackedElements.FLOAT, to + 4L * i, 0);
    }
  }

  /** The largest scale · x; NaN counts as −Inf. */
  private static float largest(MemorySegment source, long from, int n, float scale) {
    MemorySegment src = Segments.exact(source);
    FloatVector factor = FloatVector.broadcast(FLOAT, scale);
    FloatVector first = FloatVector.broadcast(FLOAT, Float.NEGATIVE_INFINITY);
    FloatVector second = first;
    int i = 0;
    for (; i <= n - 2 * LANES; i += 2 * LANES) {
      FloatVector a = FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE).mul(factor);
      FloatVector b =
          FloatVector.fromMemorySegment(FLOAT, src, from + 4L * (i + LANES), LE).mul(factor);
      // Fewer operations than max, for it passes NaNs over.
      first = FLOATS.cast(first).blend(a, a.compare(VectorOperators.GT, first));
      second = FLOATS.cast(second).blend(b, b.compare(VectorOperators.GT, second));
    }
    FloatVector max =
        FLOATS.cast(first).blend(second, FLOATS.cast(second).compare(VectorOperators.GT, first));
    // At most two vectors more, the last of which may count lanes again.
    for (; i < n; i += LANES) {
      int last = Math.max(0, Math.min(i, n - LANES));
      FloatVector x =
          FloatVector.fromMemorySegment(FLOAT, src, from + 4L * last, LE)
              .mul(factor)
              .blend(
                  Float.NEGATIVE_INFINITY, VectorMath.LANE.compare(VectorOperators.GE, n - last));
      max = FLOATS.cast(max).blend(x, x.compare(VectorOperators.GT, max));
    }
    return FLOATS.cast(max).reduceLanes(VectorOperators.MAX);
  }

  /** Writes e^(scale · x − max) of as many elements as fill vectors, and returns their sum. */
  private static float exponentials(
      MemorySegment source,
      long from,
      int n,
      float scale,
      float max,
      MemorySegment target,
      long to) {
    MemorySegment src = Segments.exact(source);
    MemorySegment dst = Segments.exact(target);
    FloatVector factor = FloatVector.broadcast(FLOAT, scale);
    FloatVector shift = FloatVector.broadcast(FLOAT, -max);
    FloatVector sum = FloatVector.zero(FLOAT);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      FloatVector e =
          VectorMath.exp(
              FloatVector.fromMemorySegment(FLOAT, src, from + 4L * i, LE).fma(factor, shift));
      e.intoMemorySegment(dst, to + 4L * i, LE);
      sum = FLOATS.cast(sum).add(e);
    }
    return VectorMath.sum(FLOATS.cast(sum));
  }

  /**
   * As {@link #exponentials} for the elements that don't fill a vector; what follows them may be
   * overwritten. Not called from there, where it would take the compiler beyond what it inlines.
   */
  private static float lastExponentials(
      MemorySegment source,
      long from,
      int n,
      float scale,
      float max,
      MemorySegment target,
      long to) {
    MemorySegment src = Segments.exact(source);
    MemorySegment dst = Segments.exact(target);
    int last = Math.max(0, n - LANES);
    int first = n / LANES * LANES - last;
    FloatVector factor = FloatVector.broadcast(FLOAT, scale);
    FloatVector shift = FloatVector.broadcast(FLOAT, -max);
    FloatVector x = FloatVector.fromMemorySegment(FLOAT, src, from + 4L * last, LE);
    FloatVector e = VectorMath.exp(x.fma(factor, shift));
    e.intoMemorySegment(dst, to + 4L * last, LE);
    FloatVector counted =
        e.blend(0, VectorMath.LANE.compare(VectorOperators.LT, first))
            .blend(0, VectorMath.LANE.compare(VectorOperators.GE, n - last));
    return VectorMath.sum(counted);
  }

  /** Multiplies the first {@code n} of a row, of which those below {@code least} become +0. */
  private static void multiply(MemorySegment target, long at, int n, float factor, float least) {
    MemorySegment x = Segments.exact(target);
    FloatVector factors = FloatVector.broadcast(FLOAT, factor);
    FloatVector bound = FloatVector.broadcast(FLOAT, least);
    int last = Math.max(0, n - LANES);
    // Taken before the loop has multiplied those of its lanes that it shares with the others.
    FloatVector end = FloatVector.fromMemorySegment(FLOAT, x, at + 4L * last, LE);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      FloatVector e = FloatVector.fromMemorySegment(FLOAT, x, at + 4L * i, LE);
      e.blend(0, e.compare(VectorOperators.LT, bound))
          .mul(factors)
          .intoMemorySegment(x, at + 4L * i, LE);
    }
    if (i < n) {
      end.blend(0, end.compare(VectorOperators.LT, bound))
          .mul(factors)
          .intoMemorySegment(x, at + 4L * last, LE);
    }
  }
}
