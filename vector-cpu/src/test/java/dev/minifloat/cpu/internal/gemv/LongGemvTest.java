package dev.minifloat.cpu.internal.gemv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.VectorBackend;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Products with vectors longer than what is held decoded. */
class LongGemvTest {
  private static final int K = (1 << 22) + 67;

  private static HostTensor integers(Arena arena, DType dtype, Scaling scaling, long... dims) {
    HostTensor host = HostTensor.allocate(arena, dtype, Shape.of(dims), scaling);
    SplittableRandom random = new SplittableRandom(dims[0]);
    for (long i = 0; i < host.data().byteSize(); i++) {
      host.data().set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
    }
    for (long i = 0; i < host.scales().byteSize(); i++) {
      host.scales().set(ValueLayout.JAVA_BYTE, i, (byte) (127 + i % 3));
    }
    return host;
  }

  @Test
  void gemvIsExactWhereItsSumsAreAndTheSameForAnyNumberOfThreads() {
    try (Arena arena = Arena.ofShared()) {
      // Sums of small integers below 2^24 have no rounding in any order.
      HostTensor a = HostTensor.allocate(arena, DType.I4, Shape.of(3, K), Scaling.none());
      HostTensor x = HostTensor.allocate(arena, DType.I4, Shape.of(K), Scaling.none());
      SplittableRandom random = new SplittableRandom(5);
      long[] sums = new long[3];
      for (int k = 0; k < K; k++) {
        int factor = random.nextInt(-2, 3);
        PackedElements.set(DType.I4, x.data(), k, factor & 15);
        for (int row = 0; row < 3; row++) {
          int value = random.nextInt(-1, 2);
          PackedElements.set(DType.I4, a.data(), (long) row * K + k, value & 15);
          sums[row] += (long) factor * value;
        }
      }
      float[] expected = {sums[0], sums[1], sums[2]};
      for (int threads = 1; threads <= 3; threads++) {
        try (VectorBackend backend = VectorBackend.threads(threads);
            Scope scope = backend.scope()) {
          Tensor product = scope.gemv(scope.upload(a), scope.upload(x));
          assertArrayEquals(expected, scope.download(product).toFloats());
        }
      }
    }
  }

  @Test
  void aStackOfFewRowsIsWithinTheBoundWhateverTheOrderOfItsColumns() {
    try (Arena arena = Arena.ofShared();
        VectorBackend backend = VectorBackend.threads(2);
        Scope scope = backend.scope()) {
      int k = (1 << 21) + 35;
      HostTensor a = integers(arena, DType.F4_E2M1, Scaling.none(), 2, 3, k);
      HostTensor b = integers(arena, DType.F4_E2M1, Scaling.mx(), 2, 2, k);
      Tensor right = scope.upload(b).transposed();
      Tensor left = scope.upload(a);
      Tensor d = scope.gemm(Gemm.of(left, right).alpha(0.5f));
      assertEquals(Shape.of(2, 3, 2), d.shape());
      float[] actual = scope.download(d).toFloats();
      for (int i = 0; i < actual.length; i++) {
        long from = i / 2 * (long) k;
        long to = (i / 6 * 2 + i % 2) * (long) k;
        double sum = 0;
        double magnitude = 0;
        for (int j = 0; j < k; j++) {
          double product = (double) a.get(from + j) * b.get(to + j);
          sum += product;
          magnitude += Math.abs(product);
        }
        double u = (k + 4) * 0x1p-24;
        assertTrue(Math.abs(actual[i] - 0.5 * sum) <= 0.5 * u / (1 - u) * magnitude, "at " + i);
      }
    }
  }
}
