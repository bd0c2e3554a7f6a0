package dev.minifloat.reference;

import static dev.minifloat.Refusals.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Rope;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Operations over rows: softmax, norms, rotary embedding. */
class ReferenceNormsTest {
  private static final float INF = Float.POSITIVE_INFINITY;
  private static final float NAN = Float.NaN;

  @Nested
  class SoftmaxRows extends OnReference {
    @Test
    void isTheQuotientOfExponentials() {
      float[] x = random(1, 15);
      double[] expected = new double[15];
      for (int row = 0; row < 3; row++) {
        double sum = 0;
        for (int i = 0; i < 5; i++) {
          sum += Math.exp(0.7f * (double) x[row * 5 + i]);
        }
        for (int i = 0; i < 5; i++) {
          expected[row * 5 + i] = Math.exp(0.7f * (double) x[row * 5 + i]) / sum;
        }
      }
      assertClose(expected, values(scope.softmax(Softmax.of(tensor(x, 3, 5)).scale(0.7f))));
      assertClose(
          new double[] {1 / (1 + Math.exp(-1)), 1 / (1 + Math.exp(1))},
          values(scope.softmax(Softmax.of(tensor(new float[] {1, 2}, 2)).scale(-1))));
    }

    @Test
    void largeValuesDoNotOverflow() {
      assertArrayEquals(
          new float[] {0.5f, 0.5f, 0},
          values(scope.softmax(Softmax.of(tensor(new float[] {1e30f, 1e30f, -1e30f}, 3)))));
    }

    @Test
    void lengthsMaskColumnsForEachIndexOfTheFirstDimension() {
      float[] x = {0, 0, NAN, 0, 0, INF, 1, 2, 3, 1, 2, 3};
      float[] y = values(scope.softmax(Softmax.of(tensor(x, 2, 2, 3)).lengths(ints(2, 0))));
      assertArrayEquals(new float[] {.5f, .5f, 0, .5f, .5f, 0, 0, 0, 0, 0, 0, 0}, y);
    }

    @Test
    void causalRowsSeeUpToTheirOwnColumn() {
      assertArrayEquals(
          new float[] {1, 0, .5f, .5f},
          values(scope.softmax(Softmax.of(tensor(new float[4], 2, 2)).causal(true))));
      // More columns than rows: the rows are the last ones of a longer sequence.
      assertArrayEquals(
          new float[] {.5f, .5f, 0, 1 / 3f, 1 / 3f, 1 / 3f},
          values(scope.softmax(Softmax.of(tensor(new float[6], 2, 3)).causal(true))));
      // Fewer: the first rows see nothing.
      assertArrayEquals(
          new float[] {0, 1},
          values(scope.softmax(Softmax.of(tensor(new float[2], 2, 1)).causal(true))));
      assertArrayEquals(
          new float[] {1, 0, 1, 0},
          values(
              scope.softmax(
                  Softmax.of(tensor(new float[4], 1, 2, 2)).causal(true).lengths(ints(1)))));
    }

    @Test
    void infinitiesAndNaNs() {
      float[] x = {NAN, 0, 0, INF, 0, 0, -INF, 0, 0, -INF, -INF, -INF};
      float[] y = values(scope.softmax(Softmax.of(tensor(x, 4, 3))));
      assertArrayEquals(new float[] {NAN, NAN, NAN, NAN, NAN, NAN, 0, .5f, .5f, NAN, NAN, NAN}, y);
    }

    @Test
    void emptyRowsAndColumns() {
      assertEquals(0, values(scope.softmax(Softmax.of(tensor(new float[0], 2, 0)))).length);
      assertEquals(
          0, values(scope.softmax(Softmax.of(tensor(new float[0], 0, 3)).lengths(ints()))).length);
    }

    @Test
    void refusesLengthsThatDoNotFit() {
      Tensor x = tensor(new float[6], 2, 3);
      assertRefused("lengths", () -> scope.softmax(Softmax.of(x).lengths(ints(1, 4))));
      assertRefused("lengths", () -> scope.softmax(Softmax.of(x).lengths(ints(1, -1))));
      assertRefused("lengths", () -> scope.softmax(Softmax.of(x).lengths(ints(1))));
      assertRefused("lengths", () -> scope.softmax(Softmax.of(x).lengths(x)));
      assertRefused("x", () -> scope.softmax(Softmax.of(x.reshape(6)).lengths(ints(1))));
    }
  }

  @Nested
  class Norms extends OnReference {
    @Test
    void layerNormCentresAndScales() {
      float[] x = random(2, 12);
      float[] gamma = {1, 2, -3, 0.5f};
      float[] beta = {0.25f, 0, 1, -1};
      double[] expected = new double[12];
      for (int row = 0; row < 3; row++) {
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < 4; i++) {
          sum += x[row * 4 + i];
        }
        for (int i = 0; i < 4; i++) {
          squares += Math.pow(x[row * 4 + i] - sum / 4, 2);
        }
        for (int i = 0; i < 4; i++) {
          expected[row * 4 + i] =
              (x[row * 4 + i] - sum / 4) / Math.sqrt(squares / 4 + 1e-5f) * gamma[i] + beta[i];
        }
      }
      assertClose(
          expected,
          values(scope.layerNorm(tensor(x, 3, 4), tensor(gamma, 4), tensor(beta, 4), 1e-5f)));
    }

    @Test
    void constantRowGivesBeta() {
      assertArrayEquals(
          new float[] {3, 4},
          values(
              scope.layerNorm(
                  tensor(new float[] {7, 7}, 1, 2),
                  tensor(new float[] {1, 1}, 2),
                  tensor(new float[] {3, 4}, 2),
                  1e-12f)));
    }

    @Test
    void rmsNormDividesByTheRoot() {
      float[] x = {3, 4, -3, 4};
      double root = Math.sqrt(12.5 + 0.5f);
      assertClose(
          new double[] {3 / root * 2, 4 / root, -3 / root * 2, 4 / root},
          values(scope.rmsNorm(tensor(x, 2, 2), tensor(new float[] {2, 1}, 2), 0.5f)));
    }

    @Test
    void emptyRows() {
      Tensor none = tensor(new float[0], 0);
      assertEquals(0, values(scope.layerNorm(tensor(new float[0], 3, 0), none, none, 1)).length);
      assertEquals(0, values(scope.rmsNorm(tensor(new float[0], 3, 0), none, 1)).length);
    }

    @Test
    void refusesParametersThatDoNotFit() {
      Tensor x = tensor(new float[6], 2, 3);
      Tensor row = tensor(new float[3], 3);
      Tensor two = tensor(new float[2], 2);
      assertRefused("gamma", () -> scope.layerNorm(x, two, row, 1));
      assertRefused("beta", () -> scope.layerNorm(x, row, two, 1));
      assertRefused("gamma", () -> scope.rmsNorm(x, two, 1));
      for (float epsilon : new float[] {0, -1, NAN, INF}) {
        assertRefused("epsilon", () -> scope.layerNorm(x, row, row, epsilon));
        assertRefused("epsilon", () -> scope.rmsNorm(x, row, epsilon));
      }
    }
  }

  @Nested
  class Rotary extends OnReference {
    @Test
    void rotatesPairsByPositionTimesFrequency() {
      float[] x = random(3, 2 * 3 * 6);
      for (boolean interleaved : new boolean[] {false, true}) {
        double[] expected = new double[x.length];
        for (int i = 0; i < x.length; i++) {
          expected[i] = x[i];
        }
        int[] positions = {5, 0, 700};
        for (int row = 0; row < 6; row++) {
          for (int pair = 0; pair < 2; pair++) {
            // dims 4 of width 6, base 100: frequencies 1 and 1/10
            double angle = positions[row % 3] * (pair == 0 ? 1.0 : 0.1);
            int u = row * 6 + (interleaved ? 2 * pair : pair);
            int v = interleaved ? u + 1 : u + 2;
            expected[u] = x[u] * Math.cos(angle) - x[v] * Math.sin(angle);
            expected[v] = x[u] * Math.sin(angle) + x[v] * Math.cos(angle);
          }
        }
        Rope rope =
            Rope.of(tensor(x, 2, 3, 6))
                .dims(4)
                .base(100)
                .interleaved(interleaved)
                .positions(ints(positions));
        float[] actual = values(scope.rope(rope));
        for (int i = 0; i < x.length; i++) {
          // The angle's rounding, at 70 turns of a pair of length 3·√2, on top of F32's.
          assertEquals(expected[i], actual[i], Math.ulp((float) expected[i]) + 1e-12);
        }
      }
    }

    @Test
    void countsPositionsFromZeroByDefault() {
      float[] x = random(4, 12);
      float[] y = values(scope.rope(Rope.of(tensor(x, 3, 4))));
      float[] z = values(scope.rope(Rope.of(tensor(x, 3, 4)).positions(ints(0, 1, 2))));
      assertArrayEquals(z, y);
      for (int i = 0; i < 4; i++) {
        assertEquals(x[i], y[i]);
      }
      assertTrue(x[4] != y[4]);
    }

    @Test
    void oddWidthLeavesTheLastElement() {
      float[] y = values(scope.rope(Rope.of(tensor(new float[] {0, 0, 7, 1, 1, 8}, 2, 3))));
      assertEquals(7f, y[2]);
      assertEquals(8f, y[5]);
      assertEquals((float) (Math.cos(1) - Math.sin(1)), y[3]);
    }

    @Test
    void refusesParametersThatDoNotFit() {
      Tensor x = tensor(new float[12], 3, 4);
      assertRefused("dims", () -> Rope.of(x).dims(3));
      assertRefused("dims", () -> Rope.of(x).dims(6));
      assertRefused("dims", () -> Rope.of(x).dims(-2));
      assertRefused("base", () -> Rope.of(x).base(0));
      assertRefused("base", () -> Rope.of(x).base(NAN));
      assertRefused("positions", () -> scope.rope(Rope.of(x).positions(ints(1, 2))));
      assertRefused("x", () -> scope.rope(Rope.of(x.reshape(12))));
      assertEquals(0, values(scope.rope(Rope.of(tensor(new float[0], 0, 4)))).length);
    }
  }
}
