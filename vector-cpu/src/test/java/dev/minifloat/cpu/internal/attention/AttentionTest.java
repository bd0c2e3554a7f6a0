package dev.minifloat.cpu.internal.attention;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.minifloat.Attention;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.reference.ReferenceBackend;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AttentionTest {
  private static HostTensor random(long seed, long... dims) {
    int n = 1;
    for (long dim : dims) {
      n *= (int) dim;
    }
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[n];
    for (int i = 0; i < n; i++) {
      values[i] = (float) random.nextDouble(-2, 2);
    }
    return HostTensor.of(values, dims);
  }

  private static float[] attend(
      Backend backend,
      DType dtype,
      int heads,
      int keyHeads,
      int queries,
      int keys,
      int width,
      boolean causal) {
    try (Scope scope = backend.scope()) {
      Tensor q = scope.convert(scope.upload(random(1, 2, heads, queries, width)), dtype);
      Tensor k = scope.convert(scope.upload(random(2, 2, keyHeads, keys, width)), dtype);
      Tensor v = scope.convert(scope.upload(random(3, 2, keyHeads, keys, width)), dtype);
      Tensor lengths = scope.upload(HostTensor.of(new int[] {keys, keys / 2 + 1}, 2));
      Attention attention = Attention.of(q, k, v).causal(causal).lengths(lengths).output(DType.F32);
      return scope.download(scope.attention(attention)).toFloats();
    }
  }

  /** Sizes about a panel's queries, a block's keys and a chunk's, for both ways to compute. */
  @ParameterizedTest
  @CsvSource({
    "F32, 3, 3, 31, 191, 16, false",
    "F32, 2, 2, 33, 193, 36, true",
    "BF16, 4, 2, 300, 400, 24, true",
    "F16, 1, 1, 64, 192, 128, true",
    "F32, 1, 1, 513, 97, 8, false",
    "F32, 2, 2, 1, 1023, 64, false",
    "F32, 4, 2, 4, 1025, 48, true",
    "BF16, 8, 1, 1, 2500, 33, true",
    "F16, 2, 1, 3, 65, 256, true"
  })
  void isCloseToTheReference(
      DType dtype, int heads, int keyHeads, int queries, int keys, int width, boolean causal) {
    try (VectorBackend backend = VectorBackend.threads(2);
        ReferenceBackend reference = new ReferenceBackend()) {
      assertArrayEquals(
          attend(reference, dtype, heads, keyHeads, queries, keys, width, causal),
          attend(backend, dtype, heads, keyHeads, queries, keys, width, causal),
          4e-6f);
    }
  }

  @ParameterizedTest
  @CsvSource({"2, 2, 600, 500", "1, 1, 40, 700", "4, 2, 1, 3000", "4, 2, 3, 3000"})
  void threadsChangeNoBit(int heads, int keyHeads, int queries, int keys) {
    try (VectorBackend one = VectorBackend.threads(1);
        VectorBackend two = VectorBackend.threads(2);
        VectorBackend five = VectorBackend.threads(5)) {
      float[] expected = attend(one, DType.F32, heads, keyHeads, queries, keys, 32, true);
      assertArrayEquals(expected, attend(two, DType.F32, heads, keyHeads, queries, keys, 32, true));
      assertArrayEquals(
          expected, attend(five, DType.F32, heads, keyHeads, queries, keys, 32, true));
    }
  }

  /** A query's result does not depend on how many others are computed with it. */
  @Test
  void queriesAreIndependent() {
    try (VectorBackend backend = VectorBackend.threads(1);
        Scope scope = backend.scope()) {
      Tensor q = scope.upload(random(4, 1, 200, 32));
      Tensor k = scope.upload(random(5, 1, 450, 32));
      Tensor all = scope.attention(Attention.of(q, k, k));
      Tensor some = scope.attention(Attention.of(q.slice(1, 77, 150), k, k));
      assertArrayEquals(
          scope.download(all.slice(1, 77, 150)).toFloats(), scope.download(some).toFloats());
    }
  }
}
