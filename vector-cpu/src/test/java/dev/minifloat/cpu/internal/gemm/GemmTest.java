package dev.minifloat.cpu.internal.gemm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.minifloat.Activation;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.Codec;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.cpu.internal.ProductsOracle;
import dev.minifloat.cpu.internal.ProductsOracle.Format;
import dev.minifloat.cpu.internal.ProductsOracle.Sum;
import dev.minifloat.reference.ReferenceBackend;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GemmTest {
  private static final int[] ROWS = {1, 2, 4, 5, 11, 12, 13, 16, 63, 97};
  private static final int[] COLUMNS = {1, 2, 7, 15, 16, 17, 31, 32, 33, 64, 65, 130};
  private static final int[] DEPTHS = {1, 2, 3, 15, 16, 17, 64, 200, 255, 256, 257, 515, 2051};

  private static VectorBackend backend;

  @BeforeAll
  static void open() {
    backend = VectorBackend.threads(2);
  }

  @AfterAll
  static void close() {
    backend.close();
  }

  private static int draw(Random random, int[] values) {
    return values[random.nextInt(values.length)];
  }

  /** A matrix that may lie transposed in memory. */
  @SuppressWarnings("ArrayRecordComponent") // never compared, hashed or printed
  private record Operand(HostTensor host, boolean turned, double[] values) {
    static Operand random(
        Arena arena, Random random, Format format, boolean turned, int rows, int columns) {
      long[] dims = turned ? new long[] {columns, rows} : new long[] {rows, columns};
      HostTensor host =
          ProductsOracle.random(arena, random, format.dtype(), format.scaling(), dims);
      return new Operand(host, turned, ProductsOracle.values(host));
    }

    Tensor upload(Scope scope) {
      Tensor tensor = scope.upload(host);
      return turned ? tensor.transposed() : tensor;
    }

    int rowStep() {
      return turned ? 1 : (int) host.shape().columns();
    }

    int columnStep() {
      return turned ? (int) host.shape().columns() : 1;
    }
  }

  private static Sum sum(Operand a, Operand b, int row, int column, int depth) {
    return Sum.of(
        a.values,
        row * a.rowStep(),
        a.columnStep(),
        b.values,
        column * b.columnStep(),
        b.rowStep(),
        depth);
  }

  private static void checkProduct(Operand a, Operand b, int m, int n, int k, String what) {
    try (Scope scope = backend.scope()) {
      Tensor product = scope.gemm(Gemm.of(a.upload(scope), b.upload(scope)));
      float[] d = scope.download(product).toFloats();
      for (int row = 0; row < m; row++) {
        for (int column = 0; column < n; column++) {
          sum(a, b, row, column, k).check(d[row * n + column], what + " at " + row + ", " + column);
        }
      }
    }
  }

  @Test
  void everyFormatScalingAndTranspositionIsWithinTheBound() {
    Random random = new Random(1);
    for (int i = 0; i < 300; i++) {
      try (Arena arena = Arena.ofConfined()) {
        int m = draw(random, ROWS);
        int n = draw(random, COLUMNS);
        int k = draw(random, DEPTHS);
        Format left = Format.draw(random);
        Format right = Format.draw(random);
        Operand a = Operand.random(arena, random, left, random.nextBoolean(), m, k);
        Operand b = Operand.random(arena, random, right, random.nextBoolean(), k, n);
        checkProduct(
            a,
            b,
            m,
            n,
            k,
            "%s%s · %s%s, %d × %d × %d"
                .formatted(left, a.turned ? "ᵀ" : "", right, b.turned ? "ᵀ" : "", m, n, k));
      }
    }
  }

  @Test
  void depthBeyondOneOuterBlockIsWithinTheBound() {
    Random random = new Random(2);
    try (Arena arena = Arena.ofConfined()) {
      Format e4m3 = new Format(DType.F8_E4M3, Scaling.block(64, 64));
      Format bf16 = new Format(DType.BF16, Scaling.none());
      for (int k : new int[] {4096, 4097, 9000}) {
        Operand a = Operand.random(arena, random, e4m3, false, 13, k);
        Operand b = Operand.random(arena, random, bf16, true, k, 35);
        checkProduct(a, b, 13, 35, k, "K = " + k);
      }
    }
  }

  @Test
  void severalOuterBlocksOfRowsAndColumnsAreWithinTheBound() {
    Random random = new Random(3);
    try (Arena arena = Arena.ofConfined()) {
      Format f16 = new Format(DType.F16, Scaling.none());
      Operand a = Operand.random(arena, random, f16, false, 1101, 4100);
      Operand b = Operand.random(arena, random, f16, true, 4100, 8);
      checkProduct(a, b, 1101, 8, 4100, "tall");
      Operand c = Operand.random(arena, random, f16, false, 7, 4100);
      Operand d = Operand.random(arena, random, f16, false, 4100, 1101);
      checkProduct(c, d, 7, 1101, 4100, "wide");
    }
  }

  @Test
  void stacksOfMatricesAreMultipliedOneByOneAndRepeatedWhereOneIsGiven() {
    Random random = new Random(4);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      long[][][] shapes = {
        {{3, 5, 20}, {3, 20, 9}},
        {{5, 20}, {3, 20, 9}},
        {{3, 5, 20}, {20, 9}},
        {{1, 5, 20}, {4, 20, 9}},
        {{2, 1, 13, 33}, {3, 33, 40}},
        {{2, 3, 13, 33}, {1, 3, 33, 40}},
        {{0, 5, 20}, {20, 9}},
        {{300, 2, 3}, {300, 3, 2}},
      };
      for (long[][] pair : shapes) {
        HostTensor a = ProductsOracle.random(arena, random, DType.F16, Scaling.none(), pair[0]);
        HostTensor b = ProductsOracle.random(arena, random, DType.F8_E5M2, Scaling.rows(), pair[1]);
        try (Backend reference = new ReferenceBackend();
            Scope exact = reference.scope()) {
          HostTensor expected =
              exact.download(exact.gemm(Gemm.of(exact.upload(a), exact.upload(b))));
          HostTensor actual = scope.download(scope.gemm(Gemm.of(scope.upload(a), scope.upload(b))));
          assertEquals(expected.shape(), actual.shape());
          // |a·b| is below 64 or so: 40 products are within 40 · 64 · 44 · 2^-24 of each other.
          assertArrayEquals(expected.toFloats(), actual.toFloats(), 40 * 64 * 44 * 0x1p-24f);
        }
      }
    }
  }

  @Test
  void slicedViewsOfAStackAreReadWhereTheyLie() {
    Random random = new Random(5);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope();
        Backend reference = new ReferenceBackend();
        Scope exact = reference.scope()) {
      // [batch, sequence, head, width] as attention sees it: heads are a batch, rows have gaps.
      HostTensor q = ProductsOracle.random(arena, random, DType.F32, Scaling.none(), 2, 9, 3, 17);
      HostTensor k = ProductsOracle.random(arena, random, DType.BF16, Scaling.none(), 2, 7, 3, 17);
      float[] expected = exact.download(scores(exact, q, k)).toFloats();
      float[] actual = scope.download(scores(scope, q, k)).toFloats();
      assertArrayEquals(expected, actual, 17 * 64 * 21 * 0x1p-24f);
    }
  }

  private static Tensor scores(Scope scope, HostTensor q, HostTensor k) {
    Tensor left = scope.upload(q).transposed(1, 2).slice(2, 1, 8);
    Tensor right = scope.upload(k).transposed(1, 2).slice(3, 0, 16);
    return scope.gemm(Gemm.of(left.slice(3, 1, 17), right.transposed()));
  }

  @Test
  void epilogueIsAppliedInOrder() {
    Random random = new Random(6);
    for (int i = 0; i < 120; i++) {
      try (Arena arena = Arena.ofConfined();
          Scope scope = backend.scope()) {
        int m = draw(random, ROWS);
        int n = draw(random, COLUMNS);
        int k = draw(random, DEPTHS);
        Format plain = new Format(DType.F32, Scaling.none());
        Operand a = Operand.random(arena, random, plain, false, m, k);
        Operand b = Operand.random(arena, random, plain, random.nextBoolean(), k, n);
        Operand c =
            Operand.random(
                arena, random, new Format(DType.BF16, Scaling.none()), random.nextBoolean(), m, n);
        HostTensor bias = ProductsOracle.random(arena, random, DType.F16, Scaling.none(), n);
        Activation activation = random.nextBoolean() ? Activation.RELU : Activation.NONE;
        DType output = new DType[] {DType.F32, DType.F16, DType.BF16}[random.nextInt(3)];
        Tensor amax = scope.upload(HostTensor.of(new float[1]));
        Gemm gemm =
            Gemm.of(a.upload(scope), b.upload(scope))
                .alpha(0.75f)
                .plus(-1.5f, c.upload(scope))
                .bias(scope.upload(bias))
                .activation(activation)
                .output(output)
                .amax(amax);
        HostTensor d = scope.download(scope.gemm(gemm));
        double largest = 0;
        double slack = 0;
        for (int row = 0; row < m; row++) {
          for (int column = 0; column < n; column++) {
            Sum sum = sum(a, b, row, column, k);
            double addend = -1.5 * c.values[row * c.rowStep() + column * c.columnStep()];
            double exact = 0.75 * sum.sum() + addend + bias.get(column);
            double parts = 0.75 * sum.magnitude() + Math.abs(addend) + Math.abs(bias.get(column));
            double expected = activation == Activation.RELU ? Math.max(exact, 0) : exact;
            double rounding = Math.scalb(1.0, -output.mantissaBits() - 1) * Math.abs(expected);
            double allowed = 0.75 * sum.bound() + 4 * 0x1p-24 * parts;
            largest = Math.max(largest, Math.abs(expected));
            slack = Math.max(slack, allowed);
            assertEquals(
                expected,
                d.get((long) row * n + column),
                allowed + 1.01 * rounding + output.minSubnormal(),
                "D[%d, %d] of %d × %d × %d in %s".formatted(row, column, m, n, k, output));
          }
        }
        assertEquals(largest, scope.download(amax).get(0), slack, "amax of the FP32 values");
      }
    }
  }

  @Test
  void addendGivesTheSameBitsWhateverItsTypeAndOrder() {
    Random random = new Random(13);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (int n : new int[] {1, 15, 16, 17, 33, 130, 515}) {
        int m = 13 + random.nextInt(20);
        Format plain = new Format(DType.F32, Scaling.none());
        Tensor x = Operand.random(arena, random, plain, false, m, 7).upload(scope);
        Tensor y = Operand.random(arena, random, plain, false, 7, n).upload(scope);
        HostTensor bf16 = bf16(arena, random, m, n + 3);
        Tensor narrow = scope.upload(bf16).slice(1, 2, n + 2);
        Tensor floats = scope.upload(floats(bf16, m, n + 3)).slice(1, 2, n + 2);
        Tensor turned = scope.copy(floats.transposed()).transposed();
        Tensor bias =
            scope.upload(ProductsOracle.random(arena, random, DType.F32, Scaling.none(), n));
        Gemm gemm = Gemm.of(x, y).alpha(0.75f).bias(bias);
        float[] expected = scope.download(scope.gemm(gemm.plus(-1.5f, narrow))).toFloats();
        for (Tensor c : new Tensor[] {floats, turned}) {
          float[] actual = scope.download(scope.gemm(gemm.plus(-1.5f, c))).toFloats();
          for (int i = 0; i < expected.length; i++) {
            assertEquals(
                Float.floatToRawIntBits(expected[i]),
                Float.floatToRawIntBits(actual[i]),
                "n " + n + " at " + i);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Activation.class)
  void everyActivationEndsTheEpilogue(Activation activation) {
    Random random = new Random(7);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      HostTensor a = ProductsOracle.random(arena, random, DType.F32, Scaling.none(), 37, 6);
      HostTensor b = ProductsOracle.random(arena, random, DType.F32, Scaling.none(), 6, 71);
      Tensor x = scope.upload(a);
      Tensor y = scope.upload(b);
      Tensor plain = scope.gemm(Gemm.of(x, y));
      float[] expected = scope.download(scope.activation(plain, activation)).toFloats();
      float[] actual = scope.download(scope.gemm(Gemm.of(x, y).activation(activation))).toFloats();
      assertArrayEquals(expected, actual);
    }
  }

  @Test
  void outputIsTheFloatResultRoundedOnce() {
    Random random = new Random(8);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      Tensor x =
          scope.upload(ProductsOracle.random(arena, random, DType.F32, Scaling.none(), 40, 300));
      Tensor y =
          scope.upload(ProductsOracle.random(arena, random, DType.F32, Scaling.none(), 300, 50));
      float[] exact = scope.download(scope.gemm(Gemm.of(x, y))).toFloats();
      for (DType dtype : new DType[] {DType.F16, DType.BF16}) {
        HostTensor rounded = scope.download(scope.gemm(Gemm.of(x, y).output(dtype)));
        for (int i = 0; i < exact.length; i++) {
          assertEquals(Codec.encode(dtype, exact[i]), rounded.code(i), dtype + " " + exact[i]);
        }
      }
    }
  }

  @Test
  void alphaZeroReadsNeitherFactorAndBetaZeroDoesNotReadC() {
    try (Scope scope = backend.scope()) {
      float[] nan = new float[400];
      Arrays.fill(nan, Float.NaN);
      float[] ones = new float[400];
      Arrays.fill(ones, 1);
      Tensor bad = scope.upload(HostTensor.of(nan, 20, 20));
      Tensor good = scope.upload(HostTensor.of(ones, 20, 20));
      float[] scaled =
          scope.download(scope.gemm(Gemm.of(bad, bad).alpha(0).plus(2, good))).toFloats();
      float[] product = scope.download(scope.gemm(Gemm.of(good, good).plus(0, bad))).toFloats();
      for (int i = 0; i < 400; i++) {
        assertEquals(2f, scaled[i]);
        assertEquals(20f, product[i]);
      }
    }
  }

  @Test
  void extentsOfZeroGiveEmptyOrZeroProducts() {
    try (Scope scope = backend.scope()) {
      for (int[] mnk : new int[][] {{0, 5, 5}, {5, 0, 5}, {0, 0, 0}, {5, 7, 0}, {1, 1, 0}}) {
        Tensor x = scope.upload(HostTensor.of(new float[mnk[0] * mnk[2]], mnk[0], mnk[2]));
        Tensor y = scope.upload(HostTensor.of(new float[mnk[2] * mnk[1]], mnk[2], mnk[1]));
        float[] ones = new float[mnk[1]];
        Arrays.fill(ones, 1);
        Tensor amax = scope.upload(HostTensor.of(new float[] {-1}));
        Gemm gemm = Gemm.of(x, y).bias(scope.upload(HostTensor.of(ones, mnk[1]))).amax(amax);
        float[] d = scope.download(scope.gemm(gemm)).toFloats();
        assertEquals(mnk[0] * mnk[1], d.length);
        for (float value : d) {
          assertEquals(1f, value);
        }
        assertEquals(d.length == 0 ? 0f : 1f, scope.download(amax).get(0));
      }
    }
  }

  @Test
  void infinitiesStayInTheirRowAndColumn() {
    try (Scope scope = backend.scope()) {
      for (int m : new int[] {1, 13, 29}) {
        int n = 37;
        int k = 19;
        float[] left = new float[m * k];
        float[] right = new float[k * n];
        Arrays.fill(left, 1);
        Arrays.fill(right, 1);
        left[(m - 1) * k + 3] = Float.POSITIVE_INFINITY;
        right[5 * n + n - 1] = Float.NaN;
        Tensor x = scope.upload(HostTensor.of(left, m, k));
        Tensor y = scope.upload(HostTensor.of(right, k, n));
        Tensor amax = scope.upload(HostTensor.of(new float[1]));
        float[] d = scope.download(scope.gemm(Gemm.of(x, y).amax(amax))).toFloats();
        for (int row = 0; row < m; row++) {
          for (int column = 0; column < n; column++) {
            float expected =
                column == n - 1 ? Float.NaN : row == m - 1 ? Float.POSITIVE_INFINITY : k;
            assertEquals(expected, d[row * n + column], row + ", " + column);
          }
        }
        assertTrue(Float.isNaN(scope.download(amax).get(0)), "amax sees the NaN");
      }
    }
  }

  @Test
  void bf16RowsGiveTheBitsOfTheirF32Values() {
    Random random = new Random(12);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (int k : new int[] {31, 32, 33, 64, 96, 256, 257, 288, 544}) {
        for (int n : new int[] {15, 16, 33, 65}) {
          int m = 17 + random.nextInt(20);
          HostTensor a = bf16(arena, random, m, k);
          HostTensor b = bf16(arena, random, n + 1, k);
          Tensor exact = product(scope, floats(a, m, k), floats(b, n + 1, k), n);
          float[] expected = scope.download(exact).toFloats();
          float[] actual = scope.download(product(scope, a, b, n)).toFloats();
          for (int i = 0; i < expected.length; i++) {
            assertEquals(
                Float.floatToRawIntBits(expected[i]),
                Float.floatToRawIntBits(actual[i]),
                "k " + k + ", n " + n + " at " + i);
          }
        }
      }
    }
  }

  /** A · Bᵀ of all rows of B but the first. */
  private static Tensor product(Scope scope, HostTensor a, HostTensor b, int n) {
    Tensor right = scope.upload(b).slice(0, 1, n + 1);
    return scope.gemm(Gemm.of(scope.upload(a), right.transposed()));
  }

  private static HostTensor floats(HostTensor x, int rows, int columns) {
    return HostTensor.of(x.toFloats(), rows, columns);
  }

  /** Any bits below 2^17, subnormals, zeros and here and there a NaN with a payload. */
  private static HostTensor bf16(Arena arena, Random random, int rows, int columns) {
    HostTensor x = HostTensor.allocate(arena, DType.BF16, Shape.of(rows, columns), Scaling.none());
    for (long i = 0; i < (long) rows * columns; i++) {
      int magnitude = random.nextInt(16) == 0 ? random.nextInt(0x80) : random.nextInt(0x4800);
      int bits = random.nextInt(1000) == 0 ? 0x7F81 : magnitude;
      int sign = random.nextBoolean() ? 0x8000 : 0;
      x.data().set(ValueLayout.JAVA_SHORT, 2 * i, (short) (sign | bits));
    }
    return x;
  }

  @Test
  void bitsDoNotDependOnTheNumberOfThreads() {
    Random random = new Random(9);
    try (Arena arena = Arena.ofConfined()) {
      for (int[] mnk : new int[][] {{3, 500, 300}, {70, 500, 300}, {200, 33, 4500}}) {
        Format e4m3 = new Format(DType.F8_E4M3, Scaling.rows());
        Operand a = Operand.random(arena, random, e4m3, false, mnk[0], mnk[2]);
        Operand b = Operand.random(arena, random, e4m3, true, mnk[2], mnk[1]);
        float[] expected = null;
        for (int threads = 1; threads <= 3; threads++) {
          try (VectorBackend some = VectorBackend.threads(threads);
              Scope scope = some.scope()) {
            Tensor product = scope.gemm(Gemm.of(a.upload(scope), b.upload(scope)));
            float[] d = scope.download(product).toFloats();
            if (expected == null) {
              expected = d;
            }
            assertArrayEquals(expected, d, "threads " + threads);
          }
        }
      }
    }
  }

  @Tag("allocation")
  @Test
  void allocationsOfACallDoNotGrowWithTheWork() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Random random = new Random(10);
    try (Arena arena = Arena.ofConfined();
        VectorBackend single = VectorBackend.threads(1);
        Scope scope = single.scope()) {
      for (DType dtype : new DType[] {DType.F32, DType.BF16, DType.F8_E4M3}) {
        for (int m : new int[] {1, 96}) {
          Tensor a =
              scope.upload(ProductsOracle.random(arena, random, dtype, Scaling.none(), m, 512));
          Tensor b =
              scope.upload(ProductsOracle.random(arena, random, dtype, Scaling.none(), 512, 512));
          long least = Long.MAX_VALUE;
          // Interpreted code boxes vectors; only what the compilers make of it counts.
          for (int i = 0; i < 5000 && least > 32_768; i++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            single.gemm(Gemm.of(a, b.transposed())).close();
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
          }
          assertTrue(least <= 32_768, dtype + ", M = " + m + ": " + least + " bytes a call");
        }
      }
    }
  }
}
