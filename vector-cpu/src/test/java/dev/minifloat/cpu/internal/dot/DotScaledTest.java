package dev.minifloat.cpu.internal.dot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.cpu.internal.ProductsOracle;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Dot products of operands with one scale, and of blocks of E2M1, each with a scale. */
class DotScaledTest {
  private static final List<Scaling> BLOCKS = List.of(Scaling.mx(), Scaling.nvfp4());

  private static final List<Integer> SIZES =
      List.of(1, 16, 127, 128, 129, 160, 255, 256, 300, 2048 + 40, 33_000);

  /** Any codes; scales by block. */
  private static HostTensor blocks(
      Arena arena, Random random, Scaling scaling, int n, float global, IntUnaryOperator scales) {
    HostTensor x = HostTensor.allocate(arena, DType.F4_E2M1, Shape.of(n), scaling, global);
    for (int i = 0; i < n; i++) {
      PackedElements.set(DType.F4_E2M1, x.data(), i, random.nextInt(16));
    }
    for (int i = 0; i < x.grid().scales(); i++) {
      x.scales().set(ValueLayout.JAVA_BYTE, i, (byte) scales.applyAsInt(i));
    }
    return x;
  }

  private static void check(VectorBackend backend, HostTensor a, HostTensor b, String what) {
    try (Scope scope = backend.scope()) {
      float actual = backend.dot(scope.upload(a), scope.upload(b));
      int n = (int) a.shape().elements();
      ProductsOracle.Sum.of(ProductsOracle.values(a), 0, 1, ProductsOracle.values(b), 0, 1, n)
          .check(actual, what + ", n = " + n);
    }
  }

  @Test
  void blocksTakeEveryCodeAndUsualScales() {
    Random random = new Random(3);
    try (Arena arena = Arena.ofConfined();
        VectorBackend backend = VectorBackend.threads(1)) {
      for (int n : SIZES) {
        HostTensor a = blocks(arena, random, Scaling.mx(), n, 1, i -> 100 + random.nextInt(40));
        HostTensor b = blocks(arena, random, Scaling.mx(), n, 1, i -> 110 + random.nextInt(40));
        check(backend, a, b, "MX");
        // Every E4M3 scale of either sign but NaN; subnormal ones often.
        IntUnaryOperator scales =
            i -> (random.nextBoolean() ? random.nextInt(127) : random.nextInt(9)) | (i % 2) << 7;
        HostTensor x = blocks(arena, random, Scaling.nvfp4(), n, 0x1.3p-9f, scales);
        HostTensor y = blocks(arena, random, Scaling.nvfp4(), n, -0x1.8p5f, scales);
        check(backend, x, y, "NVFP4");
        check(backend, a, x, "MX · NVFP4");
      }
    }
  }

  /** Where the product of two scales is not a number of F32, or so small a one that it rounds. */
  @Test
  void blocksTakeExtremeScales() {
    Random random = new Random(4);
    try (Arena arena = Arena.ofConfined();
        VectorBackend backend = VectorBackend.threads(1)) {
      for (int n : List.of(128, 160, 640)) {
        for (int low : List.of(0, 40, 64, 100)) {
          HostTensor a = blocks(arena, random, Scaling.mx(), n, 1, i -> i % 3 == 0 ? low : 64);
          HostTensor b = blocks(arena, random, Scaling.mx(), n, 1, i -> i % 2 == 0 ? low : 65);
          check(backend, a, b, "small MX scales, " + low);
        }
        HostTensor big = blocks(arena, random, Scaling.mx(), n, 1, i -> 240);
        HostTensor small = blocks(arena, random, Scaling.mx(), n, 1, i -> i % 2);
        check(backend, big, small, "large MX scales with small ones");
        for (float global : new float[] {0, 0x1p-120f, 0x1p-149f, 0x1p100f}) {
          HostTensor x = blocks(arena, random, Scaling.nvfp4(), n, global, i -> 8 + i % 20);
          HostTensor y = blocks(arena, random, Scaling.nvfp4(), n, 0x1p-3f, i -> 8 + i % 20);
          check(backend, x, y, "NVFP4, " + global);
        }
      }
    }
  }

  @Test
  void zeroBlocksCountForNothing() {
    Random random = new Random(5);
    try (Arena arena = Arena.ofConfined();
        VectorBackend backend = VectorBackend.threads(1)) {
      int n = 1024;
      HostTensor a = blocks(arena, random, Scaling.mx(), n, 1, i -> i % 4 == 1 ? 0 : 120);
      HostTensor b = blocks(arena, random, Scaling.mx(), n, 1, i -> 121);
      for (int i = 0; i < n; i++) {
        if (i / 32 % 4 == 1) {
          PackedElements.set(DType.F4_E2M1, a.data(), i, 8 * (i & 1));
        }
      }
      check(backend, a, b, "MX with zero blocks");
      check(backend, b, a, "MX with zero blocks");
    }
  }

  @Test
  void nanScalesGiveNan() {
    Random random = new Random(6);
    try (Arena arena = Arena.ofConfined();
        VectorBackend backend = VectorBackend.threads(1);
        Scope scope = backend.scope()) {
      int n = 640;
      for (Scaling scaling : BLOCKS) {
        int one = scaling.equals(Scaling.mx()) ? 127 : 0x38;
        int nan = scaling.equals(Scaling.mx()) ? 0xFF : 0x7F;
        Tensor b = scope.upload(blocks(arena, random, scaling, n, 1, i -> one));
        for (int at = 0; at < n / 32; at += 3) {
          int block = at;
          Tensor a =
              scope.upload(blocks(arena, random, scaling, n, 1, i -> i == block ? nan : one));
          assertEquals(Float.NaN, backend.dot(a, b), scaling + ", NaN in block " + at);
          assertEquals(Float.NaN, backend.dot(b, a), scaling + ", NaN in block " + at);
        }
      }
    }
  }

  @Test
  void partsOfBlocksAndOfRowsAreTaken() {
    Random random = new Random(7);
    try (Arena arena = Arena.ofConfined();
        VectorBackend backend = VectorBackend.threads(1);
        Scope scope = backend.scope()) {
      for (Scaling scaling : BLOCKS) {
        for (int columns : new int[] {640, 650}) {
          HostTensor host =
              ProductsOracle.random(arena, random, DType.F4_E2M1, scaling, 3, columns);
          double[] values = ProductsOracle.values(host);
          Tensor x = scope.upload(host);
          for (int from : new int[] {0, 16, 32, 33, 320}) {
            int n = columns - from;
            Tensor a = x.slice(0, 2, 3).reshape(columns).slice(0, from, columns);
            Tensor b = x.slice(0, 1, 2).reshape(columns).slice(0, 0, n);
            ProductsOracle.Sum.of(values, 2 * columns + from, 1, values, columns, 1, n)
                .check(backend.dot(a, b), scaling + " of rows of " + columns + " from " + from);
          }
        }
      }
    }
  }

  @Test
  void oneScaleMultipliesTheSum() {
    Random random = new Random(8);
    List<DType> types = List.of(DType.F8_E4M3, DType.F8_E5M2, DType.I8);
    try (Arena arena = Arena.ofConfined();
        VectorBackend backend = VectorBackend.threads(1);
        Scope scope = backend.scope()) {
      for (DType left : types) {
        for (DType right : types) {
          for (int n : SIZES) {
            HostTensor a = ProductsOracle.random(arena, random, left, Scaling.tensor(), n);
            HostTensor b = ProductsOracle.random(arena, random, right, Scaling.rows(), n);
            HostTensor c = ProductsOracle.random(arena, random, right, Scaling.none(), n);
            check(backend, a, b, left + " · " + right);
            check(backend, a, c, left + " · unscaled " + right);
            for (float scale : new float[] {0, -3, 0x1p-140f, 0x1p100f}) {
              a.scales().set(ValueLayout.JAVA_FLOAT_UNALIGNED, 0, scale);
              b.scales().set(ValueLayout.JAVA_FLOAT_UNALIGNED, 0, 0x1p-20f);
              check(backend, a, b, left + " · " + right + ", " + scale);
            }
            a.scales().set(ValueLayout.JAVA_FLOAT_UNALIGNED, 0, Float.NaN);
            assertTrue(Float.isNaN(backend.dot(scope.upload(a), scope.upload(c))));
          }
        }
      }
    }
  }

  /** Infinity times elements of both signs, or times zero, is not what it is times their sum. */
  @Test
  void infiniteScalesMultiplyElements() {
    try (Arena arena = Arena.ofConfined();
        VectorBackend backend = VectorBackend.threads(1);
        Scope scope = backend.scope()) {
      HostTensor x = HostTensor.allocate(arena, DType.I8, Shape.of(200), Scaling.tensor());
      x.scales().set(ValueLayout.JAVA_FLOAT_UNALIGNED, 0, Float.POSITIVE_INFINITY);
      x.data().fill((byte) 2);
      HostTensor y = HostTensor.allocate(arena, DType.I8, Shape.of(200), Scaling.none());
      y.data().fill((byte) 3);
      Tensor a = scope.upload(x);
      assertEquals(Float.POSITIVE_INFINITY, backend.dot(a, scope.upload(y)));
      y.data().set(ValueLayout.JAVA_BYTE, 7, (byte) -1);
      assertEquals(Float.NaN, backend.dot(a, scope.upload(y)));
    }
  }

  /** Bytes of two calls; interpreted and half-compiled code puts vectors on the heap. */
  private static long leastGarbage(VectorBackend backend, Tensor a, Tensor b) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 100_000 && least > 0; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      backend.dot(a, b);
      backend.dot(a, b);
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }

  @Tag("allocation")
  @Test
  void callsAllocateNothing() {
    Random random = new Random(9);
    try (Arena arena = Arena.ofConfined();
        VectorBackend backend = VectorBackend.threads(1);
        Scope scope = backend.scope()) {
      int n = 3000;
      for (DType dtype : List.of(DType.F4_E2M1, DType.F8_E4M3, DType.I8)) {
        for (Scaling scaling : List.of(Scaling.tensor(), Scaling.mx(), Scaling.nvfp4())) {
          if (!scaling.isValidFor(dtype)) {
            continue;
          }
          Tensor a = scope.upload(ProductsOracle.random(arena, random, dtype, scaling, n));
          Tensor b = scope.upload(ProductsOracle.random(arena, random, dtype, scaling, n));
          assertEquals(0, leastGarbage(backend, a, b), dtype + " scaled by " + scaling);
          Tensor halves =
              scope.upload(ProductsOracle.random(arena, random, DType.F16, Scaling.none(), n));
          assertEquals(0, leastGarbage(backend, a, halves), dtype + " " + scaling + ", F16");
        }
      }
    }
  }
}
