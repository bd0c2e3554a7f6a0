package dev.minifloat.reference;

import static dev.minifloat.Refusals.assertRefused;
import static dev.minifloat.Refusals.assertUnsupported;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Overflow;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The reference's operations against formulas written out here. */
class ReferenceOperationsTest extends OnReference {
  private static final float INF = Float.POSITIVE_INFINITY;
  private static final float NAN = Float.NaN;

  @Test
  void uploadHasCopiedAndDownloadGivesTheSame() {
    float[] values = {1, 2, 3};
    Tensor x = tensor(values, 3);
    values[0] = 9;
    assertArrayEquals(new float[] {1, 2, 3}, values(x));
    HostTensor q =
        scope.download(scope.quantize(x, QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4())));
    HostTensor again = scope.download(scope.upload(q));
    assertEquals(-1, q.data().mismatch(again.data()));
    assertEquals(-1, q.scales().mismatch(again.scales()));
    assertEquals(q.globalScale(), again.globalScale());
    assertEquals(0, values(tensor(new float[0], 0, 5)).length);
    assertArrayEquals(new float[] {7}, values(tensor(new float[] {7}, 1).reshape()));
  }

  @Test
  void convertRoundsOnceAsAsked() {
    Tensor x = tensor(new float[] {1.3f, -1.3f, 1e10f, NAN}, 2, 2);
    assertArrayEquals(
        new float[] {1.25f, -1.25f, 448, NAN}, values(scope.convert(x, DType.F8_E4M3)));
    Tensor up = scope.convert(x, DType.F8_E5M2, Rounding.TOWARD_POSITIVE, Overflow.IEEE);
    assertArrayEquals(new float[] {1.5f, -1.25f, INF, NAN}, values(up));
    assertArrayEquals(
        new int[] {1, -1, Integer.MAX_VALUE, 0},
        scope.download(scope.convert(x, DType.I32)).toInts());
    Tensor exact = ints(16_777_217);
    assertEquals(16_777_216f, values(scope.convert(exact, DType.F32))[0]);
    assertArrayEquals(
        new float[] {1.3f, 1e10f, -1.3f, NAN}, values(scope.convert(x.transposed(), DType.F32)));
  }

  @Test
  void quantizeReadsViewsInTheirOwnOrder() {
    Tensor x = tensor(random(3, 6 * 40), 40, 6);
    QuantSpec spec = QuantSpec.of(DType.F8_E4M3).scaling(Scaling.mx());
    HostTensor view = scope.download(scope.quantize(x.transposed(), spec));
    HostTensor copy = scope.download(scope.quantize(scope.copy(x.transposed()), spec));
    assertEquals(Shape.of(6, 40), view.shape());
    assertEquals(-1, copy.data().mismatch(view.data()));
    assertEquals(-1, copy.scales().mismatch(view.scales()));
  }

  @Test
  void quantizeWithoutScalesIsConvert() {
    Tensor x = tensor(random(4, 7), 7);
    QuantSpec spec = QuantSpec.of(DType.F8_E5M2).scaling(Scaling.none());
    assertArrayEquals(values(scope.convert(x, DType.F8_E5M2)), values(scope.quantize(x, spec)));
  }

  @Test
  void dequantizeRoundsToTheTypeAskedFor() {
    Tensor q = scope.quantize(tensor(new float[] {1, 0.3f, -0.7f}, 3), QuantSpec.of(DType.I8));
    float s = 1 / 127f;
    float[] exact = {127 * s, 38 * s, -89 * s};
    assertArrayEquals(exact, values(scope.dequantize(q)));
    assertArrayEquals(
        values(scope.convert(tensor(exact, 3), DType.BF16)),
        values(scope.dequantize(q, DType.BF16)));
    assertRefused("to", () -> scope.dequantize(q, DType.F8_E4M3));
  }

  @Test
  void amaxRanksByBits() {
    assertEquals(3f, scope.amax(tensor(new float[] {-3, 2}, 2)));
    assertEquals(0, Float.floatToRawIntBits(scope.amax(tensor(new float[] {-0.0f}, 1))));
    assertEquals(0f, scope.amax(tensor(new float[0], 0)));
    assertEquals(INF, scope.amax(tensor(new float[] {-INF, 2}, 2)));
    float negativeNaN = Float.intBitsToFloat(0xFFC00001);
    assertEquals(
        0x7FC00000, Float.floatToRawIntBits(scope.amax(tensor(new float[] {INF, negativeNaN}, 2))));
  }

  @Test
  void addTakesTheSameShapeOrARow() {
    Tensor x = tensor(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
    Tensor row = tensor(new float[] {10, 20, 30}, 3);
    assertArrayEquals(new float[] {2, 4, 6, 8, 10, 12}, values(scope.add(x, x)));
    assertArrayEquals(new float[] {11, 22, 33, 14, 25, 36}, values(scope.add(x, row)));
    assertArrayEquals(
        new float[] {2, 6, 5, 9},
        values(scope.add(x.slice(1, 0, 2).transposed(), tensor(new float[] {1, 2, 3, 4}, 2, 2))));
    assertEquals(0, values(scope.add(tensor(new float[0], 2, 0), tensor(new float[0], 0))).length);
    assertRefused("b", () -> scope.add(x, tensor(new float[2], 2)));
    assertRefused("b", () -> scope.add(x, scope.convert(x, DType.F16)));
    Tensor half = scope.convert(tensor(new float[] {2048}, 1), DType.F16);
    Tensor one = scope.convert(tensor(new float[] {1}, 1), DType.F16);
    assertArrayEquals(new float[] {2048}, values(scope.add(half, one)));
  }

  @ParameterizedTest
  @EnumSource(Activation.class)
  void activationsFollowTheirFormulas(Activation activation) {
    float[] x = {-9, -3, -1, -0.5f, -1e-3f, 0, 1e-3f, 0.5f, 1, 3, 9};
    double[] expected = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      double v = x[i];
      expected[i] =
          switch (activation) {
            case NONE -> v;
            case RELU -> v > 0 ? v : 0;
            case GELU_ERF -> v / 2 * Erf.erfc(-v / Math.sqrt(2));
            case GELU_TANH ->
                // 1 + tanh u = 2 / (1 + e^−2u)
                v / (1 + Math.exp(-2 * Math.sqrt(2 / Math.PI) * (v + 0.044715 * v * v * v)));
            case SILU -> v / (1 + Math.exp(-v));
          };
    }
    assertClose(expected, values(scope.activation(tensor(x, x.length), activation)));
  }

  @ParameterizedTest
  @EnumSource(Activation.class)
  void activationsAtTheEnds(Activation activation) {
    float[] y =
        values(
            scope.activation(
                tensor(new float[] {INF, -INF, NAN, Float.MAX_VALUE, -Float.MAX_VALUE}, 5),
                activation));
    boolean identity = activation == Activation.NONE;
    assertArrayEquals(
        new float[] {
          INF, identity ? -INF : 0, NAN, Float.MAX_VALUE, identity ? -Float.MAX_VALUE : 0
        },
        new float[] {y[0], y[1] + 0f, y[2], y[3], y[4] + 0f});
  }

  @Test
  void geluKnownValues() {
    // ½ · 1 · (1 + erf(1/√2)) = 0.8413447460685429, the normal distribution's Φ(1).
    assertClose(
        new double[] {0.8413447460685429, 1 * 0.8413447460685429 - 1},
        values(scope.activation(tensor(new float[] {1, -1}, 2), Activation.GELU_ERF)));
  }

  @Test
  void embeddingGathersRowsOfAnyFormat() {
    float[] rows = random(5, 4 * 20);
    for (String scaling : new String[] {"none", "rows", "mx", "2x3"}) {
      Tensor table = tensor(rows, 4, 20);
      if (!scaling.equals("none")) {
        table = scope.quantize(table, QuantSpec.of(DType.F8_E4M3).scaling(Scaling.parse(scaling)));
      }
      float[] all = values(scope.dequantize(table));
      Tensor ids = ints(3, 0, 3, 1).reshape(2, 2);
      Tensor y = scope.embedding(table, ids, DType.F32);
      assertEquals(Shape.of(2, 2, 20), y.shape());
      int[] at = {3, 0, 3, 1};
      float[] gathered = values(y);
      for (int i = 0; i < gathered.length; i++) {
        assertEquals(all[at[i / 20] * 20 + i % 20], gathered[i]);
      }
      assertEquals(DType.F16, scope.embedding(table, ids, DType.F16).dtype());
    }
  }

  @Test
  void embeddingNamesTheWrongId() {
    Tensor table = tensor(new float[6], 3, 2);
    assertRefused("ids", () -> scope.embedding(table, ints(0, 3), DType.F32));
    assertRefused("ids", () -> scope.embedding(table, ints(-1), DType.F32));
    assertRefused("ids", () -> scope.embedding(table, table, DType.F32));
    assertRefused("to", () -> scope.embedding(table, ints(0), DType.I8));
    assertRefused("table", () -> scope.embedding(tensor(new float[3], 3), ints(0), DType.F32));
    assertEquals(0, values(scope.embedding(table, ints(), DType.F32)).length);
  }

  @Test
  void poolingTakesTheMeanOfEachLengthOrTheFirst() {
    float[] x = random(6, 2 * 3 * 2);
    Tensor t = tensor(x, 2, 3, 2);
    assertClose(
        new double[] {
          x[0], x[1], ((double) x[6] + x[8] + x[10]) / 3, ((double) x[7] + x[9] + x[11]) / 3
        },
        values(scope.pool(t, Pooling.MEAN, ints(1, 3))));
    assertClose(
        new double[] {
          ((double) x[0] + x[2] + x[4]) / 3,
          ((double) x[1] + x[3] + x[5]) / 3,
          ((double) x[6] + x[8] + x[10]) / 3,
          ((double) x[7] + x[9] + x[11]) / 3
        },
        values(scope.pool(t, Pooling.MEAN, null)));
    assertArrayEquals(
        new float[] {x[0], x[1], x[6], x[7]}, values(scope.pool(t, Pooling.FIRST, null)));
    assertEquals(Shape.of(2, 2), scope.pool(t, Pooling.FIRST, null).shape());
    assertRefused("lengths", () -> scope.pool(t, Pooling.MEAN, ints(0, 3)));
    assertRefused("lengths", () -> scope.pool(t, Pooling.MEAN, ints(1, 4)));
    assertRefused("lengths", () -> scope.pool(t, Pooling.MEAN, ints(1)));
    assertRefused("x", () -> scope.pool(tensor(new float[0], 2, 0, 3), Pooling.MEAN, null));
    assertRefused("x", () -> scope.pool(tensor(new float[6], 2, 3), Pooling.FIRST, null));
    assertEquals(0, values(scope.pool(tensor(new float[0], 0, 0, 3), Pooling.FIRST, null)).length);
  }

  @Test
  void l2NormalizeDividesByTheNormButNotByLessThanItsFloor() {
    assertClose(
        new double[] {0.6, 0.8, 0, 0, 1e-20 / 1e-12, 0},
        values(scope.l2Normalize(tensor(new float[] {3, 4, 0, 0, 1e-20f, 0}, 3, 2))));
    // Squares that overflow or underflow F32.
    assertClose(
        new double[] {0.6, 0.8}, values(scope.l2Normalize(tensor(new float[] {3e30f, 4e30f}, 2))));
    float[] bad = values(scope.l2Normalize(tensor(new float[] {INF, 1, NAN, 1}, 2, 2)));
    assertTrue(Float.isNaN(bad[0]) && bad[1] == 0 && Float.isNaN(bad[2]) && Float.isNaN(bad[3]));
    assertEquals(0, values(scope.l2Normalize(tensor(new float[0], 3, 0))).length);
  }

  @Test
  void halvesAreComputedWideAndRoundedOnce() {
    for (DType dtype : new DType[] {DType.F16, DType.BF16}) {
      Tensor x = scope.convert(tensor(random(7, 12), 3, 4), dtype);
      Tensor wide = scope.convert(x, DType.F32);
      assertArrayEquals(
          values(scope.convert(scope.l2Normalize(wide), dtype)), values(scope.l2Normalize(x)));
      assertArrayEquals(
          values(scope.convert(scope.activation(wide, Activation.SILU), dtype)),
          values(scope.activation(x, Activation.SILU)));
      assertEquals(dtype, scope.add(x, x).dtype());
    }
  }

  @Test
  void floatOperationsRefuseOtherTypes() {
    Tensor q = scope.quantize(tensor(new float[4], 2, 2), QuantSpec.of(DType.F8_E4M3));
    assertUnsupported(() -> scope.add(q, q), "a", "F8_E4M3");
    assertUnsupported(() -> scope.activation(q, Activation.RELU), "x", "ACTIVATION");
    assertUnsupported(() -> scope.l2Normalize(q), "x", "tensor");
    assertUnsupported(() -> scope.quantize(q, QuantSpec.of(DType.I8)), "x", "QUANTIZE");
    assertUnsupported(() -> scope.convert(q, DType.F32), "CONVERT", "tensor");
    float[] zeros = new float[2];
    Arrays.fill(zeros, 0);
    assertArrayEquals(zeros, values(scope.activation(tensor(zeros, 2), Activation.NONE)));
  }
}
