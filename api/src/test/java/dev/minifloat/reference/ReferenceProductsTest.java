package dev.minifloat.reference;

import static dev.minifloat.Refusals.assertRefused;
import static dev.minifloat.Refusals.assertUnsupported;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** dot, gemv and gemm of the reference, on small integers, where every result is exact. */
class ReferenceProductsTest extends OnReference {
  private static float[] integers(int n, int salt) {
    float[] values = new float[n];
    for (int i = 0; i < n; i++) {
      values[i] = (i * 7 + salt * 5) % 9 - 4;
    }
    return values;
  }

  private static float[] product(float[] a, float[] b, int m, int k, int n) {
    float[] d = new float[m * n];
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        for (int l = 0; l < k; l++) {
          d[i * n + j] += a[i * k + l] * b[l * n + j];
        }
      }
    }
    return d;
  }

  private static float[] turned(float[] x, int rows, int columns) {
    float[] t = new float[x.length];
    for (int i = 0; i < x.length; i++) {
      t[i % columns * rows + i / columns] = x[i];
    }
    return t;
  }

  @ParameterizedTest
  @CsvSource({"1, 1, 1", "2, 3, 4", "5, 17, 3", "3, 0, 2", "0, 3, 2", "2, 3, 0", "7, 1, 7"})
  void allFourTranspositionsGiveTheSameProduct(int m, int k, int n) {
    float[] a = integers(m * k, 1);
    float[] b = integers(k * n, 2);
    float[] expected = product(a, b, m, k, n);
    Tensor plainA = tensor(a, m, k);
    Tensor plainB = tensor(b, k, n);
    Tensor turnedA = tensor(turned(a, m, Math.max(1, k)), k, m).transposed();
    Tensor turnedB = tensor(turned(b, k, Math.max(1, n)), n, k).transposed();
    for (Tensor left : List.of(plainA, turnedA)) {
      for (Tensor right : List.of(plainB, turnedB)) {
        Tensor d = scope.gemm(Gemm.of(left, right));
        assertEquals(Shape.of(m, n), d.shape());
        assertArrayEquals(expected, values(d));
      }
    }
  }

  @Test
  void epilogueIsAlphaThenCThenBiasThenActivation() {
    Tensor a = tensor(new float[] {1, 2, 3, 4}, 2, 2);
    Tensor b = tensor(new float[] {1, 0, 0, 1}, 2, 2);
    Tensor c = tensor(new float[] {10, 20, 30, 40}, 2, 2);
    Tensor bias = tensor(new float[] {-28, 100}, 2);
    Gemm gemm = Gemm.of(a, b).alpha(2).plus(0.5f, c).bias(bias);
    // 2·[1 2; 3 4] + ½·[10 20; 30 40] + [−28 100]
    assertArrayEquals(new float[] {-21, 114, -7, 128}, values(scope.gemm(gemm)));
    assertArrayEquals(
        new float[] {0, 114, 0, 128}, values(scope.gemm(gemm.activation(Activation.RELU))));
    assertArrayEquals(new float[] {7, 14, 21, 28}, values(scope.gemm(gemm.bias(null))));
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F32", "F16", "BF16"})
  void addendAndBiasMayBeOfAnyFloatType(DType dtype) {
    Tensor a = tensor(new float[] {1, 2}, 2, 1);
    Tensor b = tensor(new float[] {1, 2}, 1, 2);
    Tensor c = scope.convert(tensor(new float[] {1, 2, 3, 4}, 2, 2), dtype);
    Tensor bias = scope.convert(tensor(new float[] {0.5f, -0.5f}, 2), dtype);
    Tensor d = scope.gemm(Gemm.of(a, b).plus(1, c).bias(bias).output(dtype));
    assertEquals(dtype, d.dtype());
    assertArrayEquals(new float[] {2.5f, 3.5f, 5.5f, 7.5f}, values(d));
  }

  @Test
  void alphaZeroReadsNeitherOperandAndBetaZeroNotC() {
    float nan = Float.NaN;
    Tensor bad = tensor(new float[] {nan, nan, nan, nan}, 2, 2);
    Tensor good = tensor(new float[] {1, 2, 3, 4}, 2, 2);
    assertArrayEquals(
        new float[] {2, 4, 6, 8}, values(scope.gemm(Gemm.of(bad, bad).alpha(0).plus(2, good))));
    assertArrayEquals(
        new float[] {7, 10, 15, 22}, values(scope.gemm(Gemm.of(good, good).plus(0, bad))));
    assertArrayEquals(
        new float[] {nan, nan, nan, nan}, values(scope.gemm(Gemm.of(good, good).plus(1, bad))));
    assertArrayEquals(new float[] {nan, nan, nan, nan}, values(scope.gemm(Gemm.of(bad, good))));
  }

  @Test
  void emptyKGivesTheEpilogueOfZero() {
    Tensor a = tensor(new float[0], 2, 0);
    Tensor b = tensor(new float[0], 0, 3);
    Tensor bias = tensor(new float[] {1, 2, 3}, 3);
    assertArrayEquals(new float[] {1, 2, 3, 1, 2, 3}, values(scope.gemm(Gemm.of(a, b).bias(bias))));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "2,2,3|2,3,2|2,2,2",
        "2,2,3|3,2|2,2,2",
        "2,3|2,3,2|2,2,2",
        "2,2,3|1,3,2|2,2,2",
        "3,1,2,3|2,3,2|3,2,2,2",
        "0,2,3|3,2|0,2,2"
      })
  void batchesAreBroadcast(String dimsA, String dimsB, String dimsD) {
    Shape shapeA = shape(dimsA);
    Shape shapeB = shape(dimsB);
    Shape shapeD = shape(dimsD);
    float[] a = integers((int) shapeA.elements(), 3);
    float[] b = integers((int) shapeB.elements(), 4);
    Tensor d = scope.gemm(Gemm.of(tensor(a, shapeA.dims()), tensor(b, shapeB.dims())));
    assertEquals(shapeD, d.shape());
    float[] actual = values(d);
    for (int batch = 0; batch < shapeD.batch(); batch++) {
      int atA = matrix(shapeA, shapeD, batch) * 6;
      int atB = matrix(shapeB, shapeD, batch) * 6;
      assertArrayEquals(
          product(
              Arrays.copyOfRange(a, atA, atA + 6), Arrays.copyOfRange(b, atB, atB + 6), 2, 3, 2),
          Arrays.copyOfRange(actual, batch * 4, batch * 4 + 4));
    }
  }

  /** Which matrix of {@code operand} is used for matrix {@code batch} of the result. */
  private static int matrix(Shape operand, Shape result, int batch) {
    int index = 0;
    int rest = batch;
    int stride = 1;
    for (int i = 3; i <= result.rank(); i++) {
      int at = rest % (int) result.dim(-i);
      rest /= (int) result.dim(-i);
      if (i <= operand.rank() && operand.dim(-i) != 1) {
        index += at * stride;
        stride *= (int) operand.dim(-i);
      }
    }
    return index;
  }

  private static Shape shape(String dims) {
    return Shape.of(Arrays.stream(dims.split(",", -1)).mapToLong(Long::parseLong).toArray());
  }

  @Test
  void batchesMayBeStridedViews() {
    float[] x = integers(2 * 3 * 4, 5);
    // Attention's head split: [sequence, heads, width] seen as [heads, sequence, width].
    Tensor heads = tensor(x, 3, 2, 4).transposed(0, 1);
    float[] d = values(scope.gemm(Gemm.of(heads, heads.transposed())));
    for (int h = 0; h < 2; h++) {
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          float sum = 0;
          for (int k = 0; k < 4; k++) {
            sum += x[(i * 2 + h) * 4 + k] * x[(j * 2 + h) * 4 + k];
          }
          assertEquals(sum, d[(h * 3 + i) * 3 + j]);
        }
      }
    }
  }

  @Test
  void formatsMayDifferAndScalesApply() {
    float[] a = {1, -2, 3, 0.5f, 6, -4};
    float[] b = {2, 1, 0, -1, 4, 3};
    Tensor left = scope.quantize(tensor(a, 2, 3), QuantSpec.of(DType.F4_E2M1));
    Tensor right =
        scope.quantize(tensor(b, 3, 2), QuantSpec.of(DType.F8_E4M3).scaling(Scaling.columns()));
    float[] x = values(scope.dequantize(left));
    float[] w = values(scope.dequantize(right));
    double[] expected = new double[4];
    for (int i = 0; i < 4; i++) {
      for (int k = 0; k < 3; k++) {
        expected[i] += (double) x[i / 2 * 3 + k] * w[k * 2 + i % 2];
      }
    }
    assertClose(expected, values(scope.gemm(Gemm.of(left, right))));
  }

  @Test
  void outputIsRoundedOrQuantizedOnce() {
    Tensor a = tensor(random(1, 6), 2, 3);
    Tensor b = tensor(random(2, 12), 3, 4);
    Tensor exact = scope.gemm(Gemm.of(a, b));
    assertArrayEquals(
        values(scope.convert(exact, DType.BF16)),
        values(scope.gemm(Gemm.of(a, b).output(DType.BF16))));
    for (QuantSpec spec :
        List.of(
            QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()),
            QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()),
            QuantSpec.of(DType.F8_E5M2).rounding(Rounding.stochastic(4)),
            QuantSpec.of(DType.F16).rounding(Rounding.TOWARD_ZERO))) {
      HostTensor expected = scope.download(scope.quantize(exact, spec));
      HostTensor actual = scope.download(scope.gemm(Gemm.of(a, b).output(spec)));
      assertEquals(-1, expected.data().mismatch(actual.data()), spec.toString());
      assertEquals(-1, expected.scales().mismatch(actual.scales()), spec.toString());
      assertEquals(expected.globalScale(), actual.globalScale(), spec.toString());
    }
  }

  @Test
  void amaxIsThatOfTheValuesBeforeRounding() {
    Tensor a = tensor(new float[] {257, 1}, 2, 1);
    Tensor b = tensor(new float[] {-1, 0}, 1, 2);
    Tensor amax = tensor(new float[] {-1}, 1);
    scope.gemm(Gemm.of(a, b).output(DType.BF16).amax(amax));
    assertEquals(257f, values(amax)[0]);
    scope.gemm(Gemm.of(a, b).output(QuantSpec.of(DType.I8)).amax(amax));
    assertEquals(257f, values(amax)[0]);
    scope.gemm(Gemm.of(tensor(new float[] {Float.NaN}, 1, 1), b).amax(amax));
    assertTrue(Float.isNaN(values(amax)[0]));
    scope.gemm(Gemm.of(tensor(new float[0], 0, 1), b).amax(amax));
    assertEquals(0f, values(amax)[0]);
  }

  @Test
  void groupedProductsMayDifferInShapeAndFormat() {
    Tensor a = tensor(integers(6, 1), 2, 3);
    Tensor b = scope.convert(tensor(integers(12, 2), 3, 4), DType.F8_E5M2);
    List<Tensor> results = scope.gemms(List.of(Gemm.of(a, b), Gemm.of(b, b.transposed())));
    assertArrayEquals(values(scope.gemm(Gemm.of(a, b))), values(results.get(0)));
    assertEquals(Shape.of(3, 3), results.get(1).shape());
    assertEquals(List.of(), scope.gemms(List.of()));
  }

  @Test
  void dotAccumulatesAnyFormats() {
    Tensor a = tensor(new float[] {1, 2, 3}, 3);
    assertEquals(14f, scope.dot(a, scope.convert(a, DType.F8_E4M3)));
    assertEquals(14f, backend.dot(scope.quantize(a, QuantSpec.of(DType.F4_E2M1)), a));
    assertEquals(0f, scope.dot(tensor(new float[0], 0), tensor(new float[0], 0)));
    assertTrue(Float.isNaN(scope.dot(tensor(new float[] {Float.NaN}, 1), tensor(new float[1], 1))));
    Tensor huge = tensor(new float[] {Float.MAX_VALUE, Float.MAX_VALUE}, 2);
    assertEquals(Float.POSITIVE_INFINITY, scope.dot(huge, huge));
  }

  @Test
  void gemvIsTheProductWithAColumn() {
    float[] a = integers(15, 6);
    float[] x = integers(5, 7);
    Tensor matrix = tensor(a, 3, 5);
    assertArrayEquals(product(a, x, 3, 5, 1), values(scope.gemv(matrix, tensor(x, 5))));
    assertArrayEquals(
        product(turned(a, 3, 5), integers(3, 8), 5, 3, 1),
        values(scope.gemv(matrix.transposed(), tensor(integers(3, 8), 3))));
    assertArrayEquals(
        new float[3], values(scope.gemv(tensor(new float[0], 3, 0), tensor(new float[0], 0))));
    assertEquals(0, values(scope.gemv(tensor(new float[0], 0, 2), tensor(new float[2], 2))).length);
  }

  @Test
  void refusesOperandsThatDoNotFit() {
    Tensor a = tensor(new float[6], 2, 3);
    Tensor vector = tensor(new float[3], 3);
    assertRefused("b", () -> scope.gemm(Gemm.of(a, a)));
    assertRefused("a", () -> scope.gemm(Gemm.of(vector, a)));
    assertRefused("b", () -> scope.gemm(Gemm.of(a, vector)));
    assertRefused(
        "b",
        () -> scope.gemm(Gemm.of(tensor(new float[12], 2, 2, 3), tensor(new float[18], 3, 3, 2))));
    Gemm square = Gemm.of(a, a.transposed());
    assertRefused("c", () -> scope.gemm(square.plus(1, a)));
    assertRefused("c", () -> scope.gemm(square.plus(1, null)));
    assertRefused("bias", () -> scope.gemm(square.bias(vector)));
    assertRefused("amax", () -> scope.gemm(square.amax(vector)));
    assertRefused(
        "amax", () -> scope.gemm(square.amax(scope.convert(tensor(new float[1], 1), DType.F16))));
    Tensor one = tensor(new float[1], 1, 1);
    Gemm ones = Gemm.of(tensor(new float[1], 1, 1), tensor(new float[1], 1, 1));
    assertRefused("amax", () -> scope.gemm(Gemm.of(one, one).amax(one)));
    assertRefused("amax", () -> scope.gemm(ones.plus(1, one).amax(one)));
    assertRefused("amax", () -> scope.gemm(ones.bias(one.reshape(1)).amax(one)));
    assertRefused("a", () -> scope.dot(a, vector));
    assertRefused("b", () -> scope.dot(vector, tensor(new float[4], 4)));
    assertRefused("a", () -> scope.gemv(vector, vector));
    assertRefused("x", () -> scope.gemv(a, tensor(new float[2], 2)));
  }

  @Test
  void refusesTypesThatProductsLack() {
    Tensor a = tensor(new float[4], 2, 2);
    Tensor exponents = scope.convert(a, DType.F8_E8M0);
    assertUnsupported(() -> scope.gemm(Gemm.of(a, exponents)), "GEMM", "F8_E8M0", "reference");
    assertUnsupported(() -> scope.gemm(Gemm.of(a, a).output(DType.I32)), "GEMM", "I32");
    Tensor scaled = scope.quantize(a, QuantSpec.of(DType.I8));
    assertUnsupported(() -> scope.gemm(Gemm.of(a, a).plus(1, scaled)), "c", "I8");
    assertUnsupported(() -> scope.dot(ints(1), ints(1)), "DOT", "I32");
  }
}
