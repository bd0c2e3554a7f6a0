package dev.minifloat.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A product of a size and scaling that other stacks got wrong beyond their first tiles. */
class LargeGemmTest {
  private static final int M = 8352;
  private static final int N = 1536;
  private static final int K = 4096;

  @Test
  void rowScaledFp8OfManyTilesIsRightInSampledRows() {
    Random random = new Random(12);
    QuantSpec spec = QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows());
    try (VectorBackend backend = new VectorBackend();
        Scope scope = backend.scope()) {
      Tensor a = scope.quantize(scope.upload(rowsOfUnlikeSizes(random, M)), spec);
      Tensor b = scope.quantize(scope.upload(rowsOfUnlikeSizes(random, N)), spec);
      Tensor d = scope.gemm(Gemm.of(a, b.transposed()));
      assertEquals(Shape.of(M, N), d.shape());
      float[] weights = scope.download(scope.dequantize(b)).toFloats();
      for (int row : new int[] {0, 1, 12, 4095, 4096, 6143, 8191, 8192, 8350, M - 1}) {
        float[] left = scope.download(scope.dequantize(a.slice(0, row, row + 1))).toFloats();
        float[] sums = scope.download(d.slice(0, row, row + 1)).toFloats();
        checkRow(row, left, weights, sums);
      }
    }
  }

  /** Rows whose magnitudes differ, so that the scale of another row would show. */
  private static HostTensor rowsOfUnlikeSizes(Random random, int rows) {
    float[] values = new float[rows * K];
    for (int row = 0; row < rows; row++) {
      float size = Math.scalb(1f, row % 13 - 6);
      for (int k = 0; k < K; k++) {
        values[row * K + k] = size * (random.nextFloat() - 0.5f);
      }
    }
    return HostTensor.of(values, rows, K);
  }

  /** The contract's bound: γ·Σ|a·b| + K·2^-149, and as much again in F64 for this sum itself. */
  private static void checkRow(int row, float[] left, float[] weights, float[] sums) {
    double unit = 0x1p-24 * (K + 4);
    double gamma = unit / (1 - unit) + 0x1p-53 * K;
    for (int column = 0; column < N; column++) {
      double sum = 0;
      double size = 0;
      for (int k = 0; k < K; k++) {
        double product = (double) left[k] * weights[column * K + k];
        sum += product;
        size += Math.abs(product);
      }
      double bound = gamma * size + K * 0x1p-149;
      double error = Math.abs(sums[column] - sum);
      assertTrue(error <= bound, row + ", " + column + ": off by " + error + ", allowed " + bound);
    }
  }
}
