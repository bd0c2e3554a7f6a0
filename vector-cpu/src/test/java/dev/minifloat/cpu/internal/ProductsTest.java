package dev.minifloat.cpu.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.cpu.internal.ProductsOracle.Format;
import dev.minifloat.cpu.internal.ProductsOracle.Sum;
import dev.minifloat.cpu.internal.runtime.Species;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ProductsTest {
  private static final int V = Species.LANES;

  private static final int[] SIZES = {
    0, 1, 2, 3, V - 1, V, V + 1, 2 * V + 3, 4 * V - 1, 4 * V, 4 * V + 1, 63, 127, 200, 509, 2049,
    4099
  };

  private static VectorBackend backend;

  @BeforeAll
  static void open() {
    backend = VectorBackend.threads(2);
  }

  @AfterAll
  static void close() {
    backend.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"F8_E8M0", "I32"})
  void dotIsWithinTheBoundForEveryPairOfFormats(DType left) {
    Random random = new Random(left.bits());
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (DType right : ProductsOracle.TYPES) {
        for (int n : SIZES) {
          HostTensor a = ProductsOracle.random(arena, random, left, Scaling.none(), n);
          HostTensor b = ProductsOracle.random(arena, random, right, Scaling.none(), n);
          float actual = backend.dot(scope.upload(a), scope.upload(b));
          dotOracle(a, b).check(actual, left + " · " + right + ", n = " + n);
        }
      }
    }
  }

  private static Sum dotOracle(HostTensor a, HostTensor b) {
    int n = (int) a.shape().elements();
    return Sum.of(ProductsOracle.values(a), 0, 1, ProductsOracle.values(b), 0, 1, n);
  }

  @Test
  void dotAppliesTheScalesOfBothOperands() {
    Random random = new Random(1);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (int i = 0; i < 400; i++) {
        Format left = Format.draw(random);
        Format right = Format.draw(random);
        int n = SIZES[random.nextInt(SIZES.length)];
        HostTensor a = ProductsOracle.random(arena, random, left.dtype(), left.scaling(), n);
        HostTensor b = ProductsOracle.random(arena, random, right.dtype(), right.scaling(), n);
        float actual = backend.dot(scope.upload(a), scope.upload(b));
        dotOracle(a, b).check(actual, left + " · " + right + ", n = " + n);
      }
    }
  }

  @Test
  void dotReadsSlicesThatStartAnywhere() {
    Random random = new Random(2);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (DType dtype : ProductsOracle.TYPES) {
        HostTensor a = ProductsOracle.random(arena, random, dtype, Scaling.none(), 701);
        HostTensor b = ProductsOracle.random(arena, random, DType.F32, Scaling.none(), 701);
        double[] left = ProductsOracle.values(a);
        double[] right = ProductsOracle.values(b);
        Tensor x = scope.upload(a);
        Tensor y = scope.upload(b);
        for (int i = 0; i < 20; i++) {
          int from = random.nextInt(300);
          int at = random.nextInt(300);
          int n = random.nextInt(400);
          float same = backend.dot(x.slice(0, from, from + n), x.slice(0, at, at + n));
          Sum.of(left, from, 1, left, at, 1, n).check(same, dtype + " with itself");
          float mixed = backend.dot(x.slice(0, from, from + n), y.slice(0, at, at + n));
          Sum.of(left, from, 1, right, at, 1, n).check(mixed, dtype + " with F32");
        }
      }
    }
  }

  @Test
  void dotReadsColumns() {
    Random random = new Random(3);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      HostTensor a =
          ProductsOracle.random(arena, random, DType.F8_E4M3, Scaling.block(3, 7), 50, 20);
      HostTensor b = ProductsOracle.random(arena, random, DType.F16, Scaling.none(), 50);
      double[] left = ProductsOracle.values(a);
      double[] right = ProductsOracle.values(b);
      Tensor columns = scope.upload(a).transposed();
      Tensor y = scope.upload(b);
      for (int column = 0; column < 20; column++) {
        Tensor sliced = columns.slice(0, column, column + 1);
        // A 1 × 50 view whose elements have gaps can't be reshaped, so gemv stands in for dot.
        float actual = scope.download(scope.gemv(sliced, y)).get(0);
        Sum.of(left, column, 20, right, 0, 1, 50).check(actual, "column " + column);
      }
    }
  }

  /** Matrix of every code on a diagonal: row r has code r in column r % 128, all else zero. */
  private static HostTensor everyCode(Arena arena, DType dtype) {
    int codes = 1 << dtype.bits();
    HostTensor all = HostTensor.allocate(arena, dtype, Shape.of(codes, 128), Scaling.none());
    for (int code = 0; code < codes; code++) {
      PackedElements.set(dtype, all.data(), code * 128L + code % 128, code);
    }
    return all;
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F16", "BF16", "F8_E4M3", "F8_E5M2", "F6_E2M3", "F6_E3M2", "F4_E2M1", "I8", "I4"})
  void everyCodeCountsForItsExactValue(DType dtype) {
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      HostTensor all = everyCode(arena, dtype);
      HostTensor ones = HostTensor.allocate(arena, dtype, Shape.of(128), Scaling.none());
      float[] floatOnes = new float[128];
      for (int i = 0; i < 128; i++) {
        PackedElements.set(dtype, ones.data(), i, Codec.encode(dtype, 1));
        floatOnes[i] = 1;
      }
      Tensor rows = scope.upload(all);
      Tensor same = scope.upload(ones);
      float[] products = scope.download(scope.gemv(rows, same)).toFloats();
      float[] mixed =
          scope.download(scope.gemv(rows, scope.upload(HostTensor.of(floatOnes)))).toFloats();
      int step = dtype.bits() == 16 ? 7 : 1;
      for (int code = 0; code < products.length; code++) {
        float expected = 0f + Codec.decode(dtype, code);
        assertEquals(expected, products[code], "gemv of code " + code);
        assertEquals(expected, mixed[code], "gemv of code " + code + " with F32");
        if (code % step == 0) {
          Tensor row = rows.slice(0, code, code + 1).reshape(128);
          assertEquals(expected, backend.dot(row, same), "dot of code " + code);
          assertEquals(expected, backend.dot(same, row), "dot with code " + code);
        }
      }
    }
  }

  @Test
  void dotOfInfinitiesAndNaNsFollowsIeee() {
    try (Scope scope = backend.scope()) {
      for (int at : new int[] {0, 5, 63, 64, 99}) {
        float[] inf = new float[100];
        float[] one = new float[100];
        Arrays.fill(one, 1);
        inf[at] = Float.NEGATIVE_INFINITY;
        Tensor x = scope.upload(HostTensor.of(inf));
        Tensor y = scope.upload(HostTensor.of(one));
        for (DType dtype : new DType[] {DType.F32, DType.BF16, DType.F16}) {
          Tensor a = dtype == DType.F32 ? x : scope.convert(x, dtype);
          Tensor b = dtype == DType.F32 ? y : scope.convert(y, dtype);
          assertEquals(Float.NEGATIVE_INFINITY, backend.dot(a, b), dtype + " Inf at " + at);
          assertEquals(Float.POSITIVE_INFINITY, backend.dot(a, a), dtype + " Inf² at " + at);
          Tensor zero =
              scope.upload(
                  HostTensor.allocate(Arena.ofAuto(), dtype, Shape.of(100), Scaling.none()));
          assertTrue(Float.isNaN(backend.dot(a, zero)), dtype + " Inf · 0 at " + at);
        }
      }
    }
  }

  @Test
  void gemvIsWithinTheBound() {
    Random random = new Random(4);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      int[] extents = {0, 1, 2, 3, 5, 17, 64, 65, 130};
      for (int i = 0; i < 250; i++) {
        Format left = Format.draw(random);
        Format right = Format.draw(random);
        boolean turned = random.nextBoolean();
        int rows = extents[random.nextInt(extents.length)];
        int depth = SIZES[random.nextInt(SIZES.length - 3)];
        long[] dims = turned ? new long[] {depth, rows} : new long[] {rows, depth};
        HostTensor a = ProductsOracle.random(arena, random, left.dtype(), left.scaling(), dims);
        HostTensor x = ProductsOracle.random(arena, random, right.dtype(), right.scaling(), depth);
        Tensor matrix = scope.upload(a);
        Tensor view = turned ? matrix.transposed() : matrix;
        float[] out = scope.download(scope.gemv(view, scope.upload(x))).toFloats();
        double[] w = ProductsOracle.values(a);
        double[] v = ProductsOracle.values(x);
        for (int r = 0; r < rows; r++) {
          Sum expected =
              turned ? Sum.of(w, r, rows, v, 0, 1, depth) : Sum.of(w, r * depth, 1, v, 0, 1, depth);
          expected.check(out[r], left + " · " + right + " row " + r + " turned " + turned);
        }
      }
    }
  }

  @Test
  void longRowsAndManyRowsAreWithinTheBound() {
    Random random = new Random(5);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (long[] dims : new long[][] {{3, 40_001}, {2_003, 37}}) {
        HostTensor a = ProductsOracle.random(arena, random, DType.BF16, Scaling.none(), dims);
        HostTensor x = ProductsOracle.random(arena, random, DType.F32, Scaling.none(), dims[1]);
        HostTensor z = ProductsOracle.random(arena, random, DType.F32, Scaling.none(), dims[0]);
        double[] w = ProductsOracle.values(a);
        double[] u = ProductsOracle.values(x);
        Tensor matrix = scope.upload(a);
        float[] out = scope.download(scope.gemv(matrix, scope.upload(x))).toFloats();
        float[] turned =
            scope.download(scope.gemv(matrix.transposed(), scope.upload(z))).toFloats();
        int rows = (int) dims[0];
        int depth = (int) dims[1];
        for (int r = 0; r < rows; r++) {
          Sum.of(w, r * depth, 1, u, 0, 1, depth).check(out[r], "row " + r);
        }
        double[] v = ProductsOracle.values(z);
        for (int c = 0; c < depth; c++) {
          Sum.of(w, c, depth, v, 0, 1, rows).check(turned[c], "column " + c);
        }
      }
    }
  }

  @Test
  void gemvHasTheSameBitsForAnyNumberOfThreads() {
    Random random = new Random(6);
    try (Arena arena = Arena.ofConfined()) {
      for (boolean turned : new boolean[] {false, true}) {
        for (DType dtype : new DType[] {DType.F32, DType.BF16, DType.F8_E4M3, DType.F4_E2M1}) {
          HostTensor a = ProductsOracle.random(arena, random, dtype, Scaling.none(), 601, 601);
          HostTensor x = ProductsOracle.random(arena, random, DType.F32, Scaling.none(), 601);
          float[] expected = null;
          for (int threads = 1; threads <= 3; threads++) {
            try (VectorBackend some = VectorBackend.threads(threads);
                Scope scope = some.scope()) {
              Tensor matrix = scope.upload(a);
              Tensor view = turned ? matrix.transposed() : matrix;
              float[] out = scope.download(scope.gemv(view, scope.upload(x))).toFloats();
              if (expected == null) {
                expected = out;
              }
              assertArrayEquals(expected, out, dtype + " with threads " + threads);
            }
          }
        }
      }
    }
  }

  @Tag("allocation")
  @Test
  void compiledDotsAllocateNoVectors() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Random random = new Random(7);
    try (Arena arena = Arena.ofConfined();
        VectorBackend single = VectorBackend.threads(1);
        Scope scope = single.scope()) {
      int n = 1 << 14;
      for (DType[] pair :
          new DType[][] {
            {DType.F32, DType.F32},
            {DType.BF16, DType.BF16},
            {DType.F16, DType.F16},
            {DType.F8_E4M3, DType.F8_E4M3},
            {DType.F8_E5M2, DType.F8_E5M2},
            {DType.I8, DType.I8},
            {DType.F4_E2M1, DType.F32}
          }) {
        Tensor a = scope.upload(ProductsOracle.random(arena, random, pair[0], Scaling.none(), n));
        Tensor b = scope.upload(ProductsOracle.random(arena, random, pair[1], Scaling.none(), n));
        long least = Long.MAX_VALUE;
        // Interpreted and half-compiled code boxes vectors: 90 kilobytes or more for these.
        for (int round = 0; round < 40_000 && least > 20_000; round++) {
          long before = threads.getCurrentThreadAllocatedBytes();
          single.dot(a, b);
          least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertTrue(least <= 20_000, pair[0] + " · " + pair[1] + ": " + least + " bytes a call");
      }
    }
  }
}
