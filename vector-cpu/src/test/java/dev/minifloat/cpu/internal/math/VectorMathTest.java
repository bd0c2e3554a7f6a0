package dev.minifloat.cpu.internal.math;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cpu.internal.runtime.Species;
import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.api.Test;

/** The functions of lanes against double arithmetic. */
class VectorMathTest {
  /** Every how many floats are tested; 1 with -Dminifloat.exhaustive=true, which takes a minute. */
  private static final int STEP = Boolean.getBoolean("minifloat.exhaustive") ? 1 : 1009;

  private static final int LANES = Species.LANES;

  private interface Function {
    FloatVector of(FloatVector x);
  }

  private interface Check {
    void check(float x, float y);
  }

  /**
   * Calls a function on every float between two bit patterns, or on as many as {@code STEP} says.
   */
  private static void sweep(int first, int last, Function function, Check check) {
    float[] x = new float[LANES];
    for (long bits = first; bits <= last; bits += (long) LANES * STEP) {
      for (int i = 0; i < LANES; i++) {
        x[i] = Float.intBitsToFloat((int) Math.min(bits + (long) i * STEP, last));
      }
      float[] y = function.of(FloatVector.fromArray(Species.FLOAT, x, 0)).toArray();
      for (int i = 0; i < LANES; i++) {
        check.check(x[i], y[i]);
      }
    }
  }

  private static int bits(float x) {
    return Float.floatToRawIntBits(x);
  }

  @Test
  void expIsWithinOneUlp() {
    Check check =
        (x, y) -> {
          double exact = Math.exp(x);
          double error = Math.abs(y - exact) / Math.ulp((float) exact);
          assertTrue(error <= 1, () -> "e^" + x + ": " + y + " is off by " + error + " ulp");
        };
    sweep(bits(-0f), bits(VectorMath.SMALLEST_EXPONENT), VectorMath::exp, check);
    sweep(bits(0f), bits(88f), VectorMath::exp, check);
  }

  @Test
  void expOfTheSmallestArgumentsIsZeroAndNeverSubnormal() {
    sweep(
        bits(Math.nextDown(VectorMath.SMALLEST_EXPONENT)),
        bits(Float.NEGATIVE_INFINITY),
        VectorMath::exp,
        (x, y) -> assertEquals(0, bits(y), () -> "e^" + x));
    float least =
        VectorMath.exp(FloatVector.broadcast(Species.FLOAT, VectorMath.SMALLEST_EXPONENT)).lane(0);
    assertTrue(least >= Float.MIN_NORMAL);
  }

  @Test
  void nanStaysNan() {
    FloatVector nan = FloatVector.broadcast(Species.FLOAT, Float.NaN);
    assertTrue(Float.isNaN(VectorMath.exp(nan).lane(0)));
    assertTrue(Float.isNaN(VectorMath.geluErf(nan).lane(0)));
    assertTrue(Float.isNaN(VectorMath.geluTanh(nan).lane(0)));
    assertTrue(Float.isNaN(VectorMath.silu(nan).lane(0)));
    assertTrue(Float.isNaN(VectorMath.relu(nan).lane(0)));
  }

  @Test
  void siluIsWithinThreeUlp() {
    Check check =
        (x, y) -> {
          double exact = x / (1 + Math.exp(-(double) x));
          double error = Math.abs(y - exact) / Math.ulp((float) exact);
          assertTrue(error <= 3, () -> "silu(" + x + "): " + y + " is off by " + error + " ulp");
        };
    sweep(bits(-0f), bits(VectorMath.SMALLEST_EXPONENT), VectorMath::silu, check);
    sweep(bits(0f), bits(Float.MAX_VALUE), VectorMath::silu, check);
    sweep(
        bits(Math.nextDown(VectorMath.SMALLEST_EXPONENT)),
        bits(Float.NEGATIVE_INFINITY),
        VectorMath::silu,
        (x, y) -> assertEquals(bits(-0f), bits(y), () -> "silu(" + x + ")"));
  }

  @Test
  void geluTanhIsWithinFourUlpOfItsArgument() {
    Check check =
        (x, y) -> {
          double inner = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x);
          double exact = x / (1 + Math.exp(-2 * inner));
          double error = Math.abs(y - exact) / Math.ulp(x);
          assertTrue(error <= 4, () -> "gelu(" + x + "): " + y + " is off by " + error + " ulp");
        };
    sweep(bits(-0f), bits(-100f), VectorMath::geluTanh, check);
    sweep(bits(0f), bits(100f), VectorMath::geluTanh, check);
  }
}
