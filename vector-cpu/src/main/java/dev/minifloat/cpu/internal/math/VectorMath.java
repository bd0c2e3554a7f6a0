package dev.minifloat.cpu.internal.math;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;

/**
 * Functions of F32 lanes, of additions, multiplications and one division: the same bits on every
 * machine and at every width.
 */
public final class VectorMath {
  // Constants of exp are kept as vectors: broadcasting each where it is used would double what the
  // compiler has to inline, and there is a limit to that.

  private static final FloatVector LOG2_E = constant(0x1.715476p0f);

  /** −ln 2 in two parts; the upper one has 15 bits, so that its product with any n is exact. */
  private static final FloatVector MINUS_LN2_HIGH = constant(-0x1.62e4p-1f);

  private static final FloatVector MINUS_LN2_LOW = constant(-0x1.7f7d1cp-20f);

  /**
   * 1.5 · 2^23 + 127: adding it rounds x to an integer n, whose biased exponent n + 127 is then in
   * the low bits of the sum.
   */
  private static final FloatVector ALIGNER = constant(0x1.8p23f + 127);

  /** Below this, the last float above −126 · ln 2, e^x counts as 0: it is no normal number. */
  static final float SMALLEST_EXPONENT = -87.33654f;

  private static final FloatVector EXP_END = constant(SMALLEST_EXPONENT);

  /** −127 · ln 2, where n is −127, and 2^n comes out as 0. */
  private static final FloatVector EXP_ZERO = constant(-88.02969f);

  private static final FloatVector ONE = constant(1);
  private static final FloatVector EXP_2 = constant(0x1.fffffap-2f);
  private static final FloatVector EXP_3 = constant(0x1.55540ap-3f);
  private static final FloatVector EXP_4 = constant(0x1.55589ap-5f);
  private static final FloatVector EXP_5 = constant(0x1.126d1ap-7f);
  private static final FloatVector EXP_6 = constant(0x1.6ab96cp-10f);

  private static final float ROOT_2_OVER_PI = 0x1.988454p-1f;
  private static final float GELU_CUBIC = 0.044715f;

  /** Below these the results are −0 for every argument. */
  private static final float GELU_END = -16;

  private static final float SILU_END = -120;

  /** From here on 1 − Φ is less than 2^-26. */
  private static final float NORMAL_END = 5.6f;

  /** 0, 1, 2, … */
  public static final FloatVector LANE = FloatVector.zero(FLOAT).addIndex(1);

  private static final VectorShuffle<Float> EIGHT_AWAY = away(8);
  private static final VectorShuffle<Float> FOUR_AWAY = away(4);
  private static final VectorShuffle<Float> TWO_AWAY = away(2);
  private static final VectorShuffle<Float> ONE_AWAY = away(1);

  private VectorMath() {}

  /**
   * e^x for x below 88, to 1 ulp; +0 for x below {@link #SMALLEST_EXPONENT}, −Inf included, where
   * e^x is less than 2^-125; NaN gives NaN.
   *
   * <p>With n the integer nearest to x / ln 2, e^x = 2^n · e^r, |r| ≤ ½ ln 2; a polynomial of
   * degree 6, 2^-29 off at most, gives e^r. The sum that rounds to n is also the source of 2^n:
   *
   * <pre>
   *   x / ln 2 + 1.5·2^23 + 127   0 10010110 1000 … 0 eeeeeeeee   e = n + 127, its ninth bit 0
   *   shifted left by 23          0 eeeeeeee 0000 … 0 000000000   2^n; +0 for n = −127
   * </pre>
   *
   * <p>A small argument is replaced by the one whose 2^n is 0. So no operation takes or gives a
   * subnormal number, for which some machines need a hundred times the time.
   *
   * <p>{@code VectorOperators.EXP} takes half as long again, and has other bits in interpreted code
   * than in compiled code.
   */
  public static FloatVector exp(FloatVector x) {
    FloatVector held = x.blend(EXP_ZERO, x.compare(VectorOperators.LT, EXP_END));
    FloatVector aligned = held.fma(LOG2_E, ALIGNER);
    return polynomial(remainder(held, aligned.sub(ALIGNER))).mul(powerOfTwo(aligned));
  }

  private static FloatVector remainder(FloatVector x, FloatVector n) {
    return n.fma(MINUS_LN2_LOW, n.fma(MINUS_LN2_HIGH, x));
  }

  private static FloatVector polynomial(FloatVector r) {
    return EXP_6.fma(r, EXP_5).fma(r, EXP_4).fma(r, EXP_3).fma(r, EXP_2).fma(r, ONE).fma(r, ONE);
  }

  private static FloatVector powerOfTwo(FloatVector aligned) {
    return aligned.reinterpretAsInts().lanewise(VectorOperators.LSHL, 23).reinterpretAsFloats();
  }

  private static FloatVector constant(float value) {
    return FloatVector.broadcast(FLOAT, value);
  }

  /** max(x, 0), with +0 for −0; NaN stays. */
  static FloatVector relu(FloatVector x) {
    return x.blend(0, x.compare(VectorOperators.LE, 0));
  }

  /**
   * x · Φ(x), Φ the normal distribution, with an absolute error of at most 6 · 2^-24 · |x|; −0
   * below −5.6, x above 5.6.
   *
   * <p>Φ(x) = ½ + x · P(x²) / Q(x²), both of degree 5, 10^-8 off at most. A form by e^(−x²/2) would
   * keep the digits of the far tail, and is more than the compiler inlines.
   */
  static FloatVector geluErf(FloatVector x) {
    FloatVector s = x.mul(x);
    FloatVector p = constant(0x1.7c7422p-26f);
    p = p.fma(s, constant(0x1.aa9486p-18f));
    p = p.fma(s, constant(0x1.6c97a4p-13f));
    p = p.fma(s, constant(0x1.347ecp-8f));
    p = p.fma(s, constant(0x1.199cp-5f));
    p = p.fma(s, constant(0x1.988450p-2f));
    FloatVector q = constant(0x1.3ccf9ap-20f);
    q = q.fma(s, constant(0x1.3b0042p-14f));
    q = q.fma(s, constant(0x1.f579f6p-10f));
    q = q.fma(s, constant(0x1.da279ep-6f));
    q = q.fma(s, constant(0x1.02e6e6p-2f));
    q = q.fma(s, constant(1));
    FloatVector y = x.mul(p.div(q).fma(x, constant(0.5f)));
    return y.blend(-0f, x.compare(VectorOperators.LT, -NORMAL_END))
        .blend(x, x.compare(VectorOperators.GT, NORMAL_END));
  }

  /** x / (1 + e^(−2u)), u = √(2/π) (x + 0.044715 x³), to 4 ulp of |x|; −Inf gives −0. */
  static FloatVector geluTanh(FloatVector x) {
    FloatVector held = x.blend(GELU_END, x.compare(VectorOperators.LT, GELU_END));
    FloatVector y = held.abs();
    // Past 32 the result is x; x³ must not overflow before its sign counts.
    FloatVector bound = y.blend(32, y.compare(VectorOperators.GT, 32));
    FloatVector cubic =
        bound
            .mul(bound)
            .fma(constant(2 * ROOT_2_OVER_PI * GELU_CUBIC), constant(2 * ROOT_2_OVER_PI));
    return logistic(held, cubic.mul(bound));
  }

  /** x / (1 + e^−x), to 3 ulp; −0 below −87.33, where it is less than 2^-119. */
  static FloatVector silu(FloatVector x) {
    FloatVector held = x.blend(SILU_END, x.compare(VectorOperators.LT, SILU_END));
    return logistic(held, held.abs());
  }

  /** x · 1 / (1 + e^−v) for x ≥ 0, x · e^−v / (1 + e^−v) below; v is not negative. */
  private static FloatVector logistic(FloatVector x, FloatVector v) {
    FloatVector e = exp(v.neg());
    FloatVector upper = x.div(e.add(1));
    return upper.blend(upper.mul(e), x.compare(VectorOperators.LT, 0));
  }

  /**
   * The sum of all lanes, always in the same order, by halves: {@code reduceLanes} promises none,
   * and compiled code adds in another order than interpreted.
   */
  public static float sum(FloatVector v) {
    FloatVector sum = v;
    if (LANES >= 16) {
      sum = sum.add(sum.rearrange(EIGHT_AWAY));
    }
    if (LANES >= 8) {
      sum = sum.add(sum.rearrange(FOUR_AWAY));
    }
    sum = sum.add(sum.rearrange(TWO_AWAY));
    sum = sum.add(sum.rearrange(ONE_AWAY));
    return sum.lane(0);
  }

  /** {@code v} with the canonical NaN for every NaN. */
  public static FloatVector canonical(FloatVector v) {
    return v.blend(Float.NaN, v.compare(VectorOperators.NE, v));
  }

  private static VectorShuffle<Float> away(int distance) {
    return VectorShuffle.fromOp(FLOAT, lane -> (lane ^ distance) & (LANES - 1));
  }
}
