package dev.minifloat.cpu.internal.gemv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.cpu.internal.ProductsOracle;
import dev.minifloat.cpu.internal.ProductsOracle.Sum;
import dev.minifloat.cpu.internal.runtime.Species;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Matrices, four rows at a time, times three to sixteen vectors. */
class GemvSquareTest {
  private static final int MOST = GemvKernel.MOST_VECTORS;

  private static VectorBackend backend;

  @BeforeAll
  static void open() {
    backend = VectorBackend.threads(2);
  }

  @AfterAll
  static void close() {
    backend.close();
  }

  /** x wᵀ. */
  private static float[] product(Scope scope, Tensor x, Tensor w) {
    return scope.download(scope.gemm(Gemm.of(x, w.transposed()).output(DType.F32))).toFloats();
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F32", "BF16", "F16", "F8_E4M3"})
  void everyDepthAndNumberOfRowsIsWithinTheBound(DType dtype) {
    Random random = new Random(dtype.bits());
    int[] depths = {1, 15, 16, 17, 31, 33, 64, 95, 257, 1023, 1025, 2047, 2048, 2051, 4133};
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (int depth : depths) {
        for (int vectors :
            depth < GemvKernel.LONG ? new int[] {3, 4} : new int[] {3, 4, 5, 9, MOST}) {
          int rows = Math.max(vectors, 3 + random.nextInt(20));
          HostTensor w = ProductsOracle.random(arena, random, dtype, Scaling.none(), rows, depth);
          HostTensor x =
              ProductsOracle.random(arena, random, DType.F32, Scaling.none(), vectors, depth);
          float[] out = product(scope, scope.upload(x), scope.upload(w));
          double[] left = ProductsOracle.values(x);
          double[] right = ProductsOracle.values(w);
          for (int i = 0; i < out.length; i++) {
            String what = dtype + " " + vectors + "x" + rows + "x" + depth + " at " + i;
            Sum.of(left, i / rows * depth, 1, right, i % rows * depth, 1, depth)
                .check(out[i], what);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F32", "BF16", "F16", "F8_E4M3"})
  void neitherOtherVectorsNorOtherRowsChangeASum(DType dtype) {
    Random random = new Random(11);
    int rows = 39;
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (int depth : new int[] {300, 2048, 4999}) {
        HostTensor w = ProductsOracle.random(arena, random, dtype, Scaling.none(), rows, depth);
        HostTensor x =
            ProductsOracle.random(arena, random, DType.BF16, Scaling.none(), MOST, depth);
        Tensor matrix = scope.upload(w);
        Tensor all = scope.upload(x);
        float[] whole = product(scope, all, matrix);
        for (int vectors = 3; vectors <= MOST; vectors++) {
          // Rows from any on: what was the second of four becomes the first, or stands alone.
          int from = vectors;
          int count = Math.max(vectors, 17);
          Tensor some = matrix.slice(0, from, from + count);
          float[] out = product(scope, all.slice(0, 0, vectors), some);
          for (int v = 0; v < vectors; v++) {
            float[] expected = Arrays.copyOfRange(whole, v * rows + from, v * rows + from + count);
            float[] found = Arrays.copyOfRange(out, v * count, (v + 1) * count);
            assertArrayEquals(expected, found, dtype + " K " + depth + ", " + vectors + " vectors");
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F32", "BF16", "F16", "F8_E4M3"})
  void anyNumberOfThreadsGivesTheSameBits(DType dtype) {
    Random random = new Random(6);
    try (Arena arena = Arena.ofConfined()) {
      HostTensor w = ProductsOracle.random(arena, random, dtype, Scaling.none(), 1302, 813);
      HostTensor x = ProductsOracle.random(arena, random, DType.F32, Scaling.none(), 6, 813);
      float[] expected = null;
      for (int threads = 1; threads <= 3; threads++) {
        try (VectorBackend some = VectorBackend.threads(threads);
            Scope scope = some.scope()) {
          float[] out = product(scope, scope.upload(x), scope.upload(w));
          expected = expected == null ? out : expected;
          assertArrayEquals(expected, out, dtype + " with threads " + threads);
        }
      }
    }
  }

  /**
   * At the start, in the middle and in what is left of K; rows and vectors beside it stay finite.
   */
  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F32", "BF16"})
  void infinitiesAndNansStayInTheirRowAndVector(DType dtype) {
    int rows = 7;
    int vectors = 5;
    int depth = 2 * 300 + 1;
    for (int k : new int[] {0, 1, 300, depth - 1}) {
      for (float value : new float[] {Float.POSITIVE_INFINITY, Float.NaN}) {
        for (int row = 0; row < rows; row++) {
          checkNotFinite(dtype, rows, vectors, depth, row, k, value);
        }
      }
    }
  }

  private static void checkNotFinite(
      DType dtype, int rows, int vectors, int depth, int row, int k, float value) {
    float[] w = new float[rows * depth];
    Arrays.fill(w, 1);
    w[row * depth + k] = value;
    float[] x = new float[vectors * depth];
    Arrays.fill(x, 1);
    // A zero times an infinity is a NaN.
    x[2 * depth + k] = 0;
    x[3 * depth + k] = -1;
    try (Scope scope = backend.scope()) {
      Tensor matrix = scope.upload(HostTensor.of(w, rows, depth));
      Tensor converted = dtype == DType.F32 ? matrix : scope.convert(matrix, dtype);
      float[] out = product(scope, scope.upload(HostTensor.of(x, vectors, depth)), converted);
      for (int v = 0; v < vectors; v++) {
        float factor = x[v * depth + k];
        for (int r = 0; r < rows; r++) {
          float expected = r == row ? value * factor : depth - 1 + factor;
          assertEquals(expected, out[v * rows + r], dtype + " row " + r + ", vector " + v);
        }
      }
    }
  }

  @Tag("allocation")
  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F32", "BF16"})
  void compiledKernelsAllocateNothing(DType dtype) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (Arena arena = Arena.ofShared()) {
      GemvSquare square = GemvTile.square(dtype);
      int turns = 50;
      long rowBytes = (long) turns * Species.LANES * Integer.BYTES + 2;
      MemorySegment w = arena.allocate(4 * rowBytes, 64);
      MemorySegment x = arena.allocate(2L * turns * Species.LANES * 4 * 4, 64);
      w.set(PackedElements.INT, 0, 0x3F803F80);
      float[] lanes = new float[4 * 5 * Species.LANES];
      long least = Long.MAX_VALUE;
      for (int round = 0; round < 20_000 && least > 0; round++) {
        long before = threads.getCurrentThreadAllocatedBytes();
        square.multiply(w, 0, rowBytes, x, 0, turns, lanes, 0, 5 * Species.LANES);
        least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
      }
      assertEquals(0, least, dtype.toString());
    }
  }
}
