package dev.minifloat.reference;

import static dev.minifloat.Refusals.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Attention;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import org.junit.jupiter.api.Test;

class ReferenceAttentionTest extends OnReference {
  private Tensor random(long seed, long... dims) {
    return tensor(random(seed, (int) Shape.of(dims).elements()), dims);
  }

  @Test
  void weighsValuesByTheSoftmaxOfScores() {
    // Scores 0 and ln 3, so weights ¼ and ¾.
    Tensor q = tensor(new float[] {(float) Math.log(3), 1}, 1, 1, 2);
    Tensor k = tensor(new float[] {0, 0, 1, 0}, 1, 2, 2);
    Tensor v = tensor(new float[] {4, 8, 0, 16}, 1, 2, 2);
    float[] y = values(scope.attention(Attention.of(q, k, v).scale(1)));
    assertClose(new double[] {1, 14}, y);
  }

  @Test
  void isWhatProductsAndSoftmaxGive() {
    Tensor q = random(1, 2, 3, 5, 4);
    Tensor k = random(2, 2, 3, 7, 4);
    Tensor v = random(3, 2, 3, 7, 4);
    Tensor lengths = ints(7, 3);
    Tensor scores = scope.gemm(Gemm.of(q, k.transposed()));
    Tensor weights = scope.softmax(Softmax.of(scores).scale(0.5f).lengths(lengths).causal(true));
    float[] expected = values(scope.gemm(Gemm.of(weights, v)));
    Tensor y = scope.attention(Attention.of(q, k, v).lengths(lengths).causal(true));
    assertArrayEquals(expected, values(y), 1e-6f);
  }

  @Test
  void headsOfAGroupReadOneKeyHead() {
    Tensor q = random(1, 1, 6, 2, 4);
    Tensor k = random(2, 1, 2, 3, 4);
    Tensor v = random(3, 1, 2, 3, 4);
    Tensor all = scope.attention(Attention.of(q, k, v));
    for (int head = 0; head < 6; head++) {
      Tensor one =
          scope.attention(
              Attention.of(
                  q.slice(1, head, head + 1),
                  k.slice(1, head / 3, head / 3 + 1),
                  v.slice(1, head / 3, head / 3 + 1)));
      assertArrayEquals(values(one), values(all.slice(1, head, head + 1)), "head " + head);
    }
  }

  @Test
  void lastQueryOfACausalOneSeesEveryKey() {
    Tensor k = random(1, 1, 3, 2);
    Tensor v = tensor(new float[] {1, 0, 2, 0, 4, 0}, 1, 3, 2);
    Tensor q = tensor(new float[8], 1, 4, 2);
    // Weights are even, so the mean of what is seen: nothing, one, two, three keys.
    float[] y = values(scope.attention(Attention.of(q, k, v).causal(true)));
    assertClose(new double[] {0, 0, 1, 0, 1.5, 0, 7 / 3.0, 0}, y);
  }

  @Test
  void resultHasTheHeadsOfAQuerySideBySide() {
    Tensor q = random(1, 2, 3, 5, 4);
    Tensor y = scope.attention(Attention.of(q, q, q));
    assertEquals(Shape.of(2, 3, 5, 4), y.shape());
    assertFalse(y.isView());
    assertTrue(y.transposed(1, 2).isContiguous());
    assertEquals(Shape.of(10, 12), y.transposed(-3, -2).reshape(10, 12).shape());
    Tensor flat =
        scope.attention(Attention.of(q.slice(0, 1, 2).reshape(3, 5, 4), second(q), second(q)));
    assertEquals(Shape.of(3, 5, 4), flat.shape());
    assertArrayEquals(values(y.slice(0, 1, 2)), values(flat));
    y.close();
    assertTrue(y.isClosed());
  }

  private static Tensor second(Tensor x) {
    return x.slice(0, 1, 2).reshape(3, 5, 4);
  }

  @Test
  void readsAnFp8CacheWithScalesOfRows() {
    Tensor q = random(1, 1, 2, 3, 8);
    QuantSpec rows = QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows());
    Tensor k = scope.quantize(random(2, 1, 2, 5, 8), rows);
    Tensor v =
        scope.quantize(
            random(3, 1, 2, 5, 8), QuantSpec.of(DType.F8_E4M3).scaling(Scaling.tensor()));
    float[] expected =
        values(scope.attention(Attention.of(q, scope.dequantize(k), scope.dequantize(v))));
    assertArrayEquals(expected, values(scope.attention(Attention.of(q, k, v))));
    Tensor half = scope.attention(Attention.of(q, k, v).output(DType.BF16));
    assertEquals(DType.BF16, half.dtype());
  }

  @Test
  void takesExtentsOfZero() {
    assertEquals(0, values(attend(0, 2, 3, 4)).length);
    assertEquals(0, values(attend(2, 0, 3, 4)).length);
    assertEquals(0, values(attend(2, 2, 0, 4)).length);
    assertArrayEquals(new float[2 * 2 * 3 * 4], values(attend(2, 2, 3, 0)));
  }

  private Tensor attend(int batch, int heads, int queries, int keys) {
    Tensor k = random(2, batch, heads, keys, 4);
    return scope.attention(Attention.of(random(1, batch, heads, queries, 4), k, k));
  }

  @Test
  void refusesWhatDoesNotFit() {
    Tensor q = random(1, 2, 4, 3, 8);
    Tensor k = random(2, 2, 2, 5, 8);
    assertRefused("q", () -> scope.attention(Attention.of(tensor(new float[8], 8), k, k)));
    assertRefused("q", () -> scope.attention(Attention.of(q.reshape(24, 8), k, k)));
    assertRefused("q", () -> scope.attention(Attention.of(wide(), wide(), wide())));
    assertRefused("k", () -> scope.attention(Attention.of(q, k.slice(0, 0, 1), k)));
    assertRefused("k", () -> scope.attention(Attention.of(q, k.slice(3, 0, 7), k)));
    assertRefused("k", () -> scope.attention(Attention.of(q.slice(1, 0, 3), k, k)));
    assertRefused("k", () -> scope.attention(Attention.of(q, k.slice(1, 0, 0), k)));
    assertRefused("k", () -> scope.attention(Attention.of(q, half(k), half(k))));
    assertRefused("v", () -> scope.attention(Attention.of(q, k, half(k))));
    assertRefused("v", () -> scope.attention(Attention.of(q, k, k.slice(2, 0, 4))));
    assertRefused("lengths", () -> scope.attention(Attention.of(q, k, k).lengths(ints(1, 6))));
    assertRefused("lengths", () -> scope.attention(Attention.of(q, k, k).lengths(ints(1))));
    assertRefused("output", () -> scope.attention(Attention.of(q, k, k).output(DType.I8)));
    assertRefused("scale", () -> Attention.of(q, k, k).scale(Float.NaN));
  }

  private Tensor wide() {
    return scope.upload(HostTensor.of(new float[257], 1, 1, 257));
  }

  private Tensor half(Tensor x) {
    return scope.convert(x, DType.F16);
  }
}
