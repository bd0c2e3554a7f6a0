package dev.minifloat.cpu.internal.attention;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.cpu.internal.gemm.GemmTile;
import dev.minifloat.cpu.internal.math.VectorMath;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The softmax of a panel's queries, one in each lane, over blocks of keys (Milakov and Gimelshein,
 * "Online normalizer calculation for softmax").
 *
 * <pre>
 *   state: m[C] the largest scale · score so far, s[C] the sum of e^(scale · score − m),
 *          f[C] what a new block makes of what was summed before: e^(m before − m),
 *          d[C] what is subtracted: m, or 0
 * </pre>
 *
 * <p>scale · score is rounded before m is subtracted, so that no argument of e^ is above 0. A lane
 * that has seen only −Inf subtracts 0 instead of that: its weights are 0. NaN and +Inf turn the sum
 * to NaN: the search for the largest passes NaNs over, the exponentials do not.
 */
final class OnlineSoftmax {
  private static final int C = GemmTile.COLUMNS;

  /** Floats of a panel's state. */
  static final int STATE = 4 * C;

  private OnlineSoftmax() {}

  /** A state before the first key. */
  static void begin(float[] x, int state) {
    Arrays.fill(x, state, state + C, Float.NEGATIVE_INFINITY);
    Arrays.fill(x, state + C, state + 2 * C, 0);
  }

  /**
   * Multiplies the scores of keys {@code sure …} by {@code scale} and hides from each query what is
   * behind its last key; multiplies those of the keys before too.
   *
   * @param sure keys of this block that the first lane sees, perhaps below 0; each lane after it
   *     sees one more
   * @param n keys of this block
   */
  static void mask(float[] x, int scores, int sure, int n, float scale) {
    FloatVector factor = FloatVector.broadcast(FLOAT, scale);
    for (int i = 0; i < 2 * n; i++) {
      int at = scores + i * LANES;
      // Lane l of this vector sees keys below sure + l, counted from the panel's first lane.
      float hidden = i / 2 - sure + 1 - i % 2 * LANES;
      FloatVector.fromArray(FLOAT, x, at)
          .mul(factor)
          .blend(Float.NEGATIVE_INFINITY, VectorMath.LANE.compare(VectorOperators.LT, hidden))
          .intoArray(x, at);
    }
  }

  /**
   * Makes weights of a block's scores [n, C], adds them up, and sets the factor.
   *
   * @param scores where they are, with room for one row more
   * @param weights where the panel [n, C] goes in {@code target}, and behind it a row of zeros,
   *     which an odd n needs
   */
  static void weigh(
      float[] x, int scores, int n, float scale, int state, MemorySegment target, long weights) {
    for (int half = 0; half < C; half += LANES) {
      largest(x, scores + half, n, scale, state + half);
      exponentials(x, scores + half, n, state + half, target, weights + 4L * half);
    }
  }

  /**
   * Multiplies scores by the scale, and carries the largest on; what it was before goes behind the
   * scores.
   */
  private static void largest(float[] x, int scores, int n, float scale, int state) {
    FloatVector factor = FloatVector.broadcast(FLOAT, scale);
    FloatVector before = FloatVector.fromArray(FLOAT, x, state);
    before.intoArray(x, scores + n * C);
    FloatVector max = before;
    for (int i = 0; i < n; i++) {
      int at = scores + i * C;
      FloatVector t = FloatVector.fromArray(FLOAT, x, at).mul(factor);
      t.intoArray(x, at);
      // Fewer operations than max, for it passes NaNs over.
      max = FLOATS.cast(max).blend(t, t.compare(VectorOperators.GT, max));
    }
    FLOATS.cast(max).intoArray(x, state);
    FLOATS
        .cast(max)
        .blend(0, FLOATS.cast(max).compare(VectorOperators.EQ, Float.NEGATIVE_INFINITY))
        .intoArray(x, state + 3 * C);
  }

  /**
   * Writes e^ of the scores and, as one more, of the largest before: the factor. Another
   * exponential, outside of the loop, would be beyond what the compiler inlines.
   */
  private static void exponentials(
      float[] x, int scores, int n, int state, MemorySegment target, long to) {
    MemorySegment dst = Segments.exact(target);
    FloatVector shift = FloatVector.fromArray(FLOAT, x, state + 3 * C);
    FloatVector sum = FloatVector.zero(FLOAT);
    FloatVector withoutLast = sum;
    for (int i = 0; i <= n; i++) {
      FloatVector e = VectorMath.exp(FloatVector.fromArray(FLOAT, x, scores + i * C).sub(shift));
      e.intoMemorySegment(dst, to + 4L * i * C, LE);
      withoutLast = FLOATS.cast(sum);
      sum = FLOATS.cast(sum).add(e);
    }
    FloatVector factor = FloatVector.fromMemorySegment(FLOAT, dst, to + 4L * n * C, LE);
    FloatVector.zero(FLOAT).intoMemorySegment(dst, to + 4L * n * C, LE);
    factor.intoArray(x, state + 2 * C);
    FloatVector.fromArray(FLOAT, x, state + C)
        .fma(factor, FLOATS.cast(withoutLast))
        .intoArray(x, state + C);
  }

  /** Multiplies what was summed before, [width, C], by the factor. */
  static void shrink(float[] x, int sums, int width, int state) {
    FloatVector left = FloatVector.fromArray(FLOAT, x, state + 2 * C);
    FloatVector right = FloatVector.fromArray(FLOAT, x, state + 2 * C + LANES);
    for (int d = 0; d < width; d++) {
      int at = sums + d * C;
      FloatVector.fromArray(FLOAT, x, at).mul(left).intoArray(x, at);
      FloatVector.fromArray(FLOAT, x, at + LANES).mul(right).intoArray(x, at + LANES);
    }
  }

  /**
   * Writes sums / those of the weights, [width, C], with canonical NaNs; NaN where every score was
   * −Inf.
   *
   * @param blind leading lanes that see no key: they get 0
   */
  static void divide(float[] x, int sums, int width, int state, int blind, MemorySegment target) {
    for (int lane = 0; lane < C; lane++) {
      float sum = x[state + C + lane];
      x[state + C + lane] = lane < blind ? 0 : sum == 0 ? Float.NaN : 1 / sum;
    }
    MemorySegment dst = Segments.exact(target);
    FloatVector left = FloatVector.fromArray(FLOAT, x, state + C);
    FloatVector right = FloatVector.fromArray(FLOAT, x, state + C + LANES);
    for (int d = 0; d < width; d++) {
      int at = sums + d * C;
      FloatVector a = FloatVector.fromArray(FLOAT, x, at).mul(left);
      FloatVector b = FloatVector.fromArray(FLOAT, x, at + LANES).mul(right);
      a.blend(Float.NaN, a.compare(VectorOperators.NE, a)).intoMemorySegment(dst, 4L * d * C, LE);
      b.blend(Float.NaN, b.compare(VectorOperators.NE, b))
          .intoMemorySegment(dst, 4L * (d * C + LANES), LE);
    }
  }
}
