package dev.minifloat.cpu.internal.gemv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.cpu.internal.ProductsOracle;
import dev.minifloat.cpu.internal.ProductsOracle.Sum;
import dev.minifloat.cpu.internal.runtime.Species;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Matrices, whose rows are dense, times one or a few vectors. */
class GemvTest {
  private static final int[] DEPTHS = {1, 31, 33, 127, 128, 160, 512, 640, 1025, 2880, 4097};
  private static final int ROWS = 5;

  private static final List<Scaling> SCALINGS =
      List.of(
          Scaling.none(),
          Scaling.tensor(),
          Scaling.rows(),
          Scaling.columns(),
          Scaling.block(3, 7),
          Scaling.block(2, 48),
          Scaling.block(1, 128),
          Scaling.block(128, 128),
          Scaling.mx(),
          Scaling.nvfp4());

  private static VectorBackend backend;

  @BeforeAll
  static void open() {
    backend = VectorBackend.threads(2);
  }

  @AfterAll
  static void close() {
    backend.close();
  }

  private static void check(
      float[] out, HostTensor a, HostTensor x, int rows, int depth, String what) {
    double[] w = ProductsOracle.values(a);
    double[] v = ProductsOracle.values(x);
    for (int r = 0; r < rows; r++) {
      Sum.of(w, r * depth, 1, v, 0, 1, depth).check(out[r], what + " row " + r);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"F8_E8M0", "I32"})
  void everyScalingIsWithinTheBoundAtEveryDepth(DType dtype) {
    Random random = new Random(dtype.bits());
    DType[] activations = {DType.F32, DType.BF16, DType.F16};
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (Scaling scaling : SCALINGS) {
        if (!scaling.isValidFor(dtype)) {
          continue;
        }
        for (int depth : DEPTHS) {
          DType other = activations[random.nextInt(activations.length)];
          HostTensor a = ProductsOracle.random(arena, random, dtype, scaling, ROWS, depth);
          HostTensor x = ProductsOracle.random(arena, random, other, Scaling.none(), depth);
          float[] out = scope.download(scope.gemv(scope.upload(a), scope.upload(x))).toFloats();
          check(out, a, x, ROWS, depth, dtype + " " + scaling + " · " + other + " K " + depth);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F32", "BF16", "F16", "F8_E4M3", "F4_E2M1", "I8"})
  void aFewVectorsAreWithinTheBound(DType dtype) {
    Random random = new Random(dtype.bits());
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (Scaling scaling : List.of(Scaling.none(), Scaling.rows(), Scaling.mx())) {
        if (!scaling.isValidFor(dtype)) {
          continue;
        }
        for (int vectors = 1; vectors <= 8; vectors++) {
          int depth = 300 + random.nextInt(900);
          HostTensor w = ProductsOracle.random(arena, random, dtype, scaling, 37, depth);
          HostTensor x =
              ProductsOracle.random(arena, random, DType.BF16, Scaling.none(), vectors, depth);
          Tensor d =
              scope.gemm(Gemm.of(scope.upload(x), scope.upload(w).transposed()).output(DType.F32));
          float[] out = scope.download(d).toFloats();
          double[] left = ProductsOracle.values(x);
          double[] right = ProductsOracle.values(w);
          for (int i = 0; i < out.length; i++) {
            Sum.of(left, i / 37 * depth, 1, right, i % 37 * depth, 1, depth)
                .check(out[i], dtype + " " + scaling + " " + vectors + " vectors at " + i);
          }
        }
      }
    }
  }

  @Test
  void slicesOfScaledMatricesFindTheirScales() {
    Random random = new Random(3);
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (DType dtype : new DType[] {DType.F8_E4M3, DType.F4_E2M1, DType.I8}) {
        for (Scaling scaling : SCALINGS) {
          if (!scaling.isValidFor(dtype)) {
            continue;
          }
          HostTensor host = ProductsOracle.random(arena, random, dtype, scaling, 2, 9, 1024);
          double[] w = ProductsOracle.values(host);
          Tensor whole = scope.upload(host);
          for (int from : new int[] {0, 1, 32, 48, 128, 160}) {
            int depth = 700;
            HostTensor x =
                ProductsOracle.random(arena, random, DType.F32, Scaling.none(), depth, 1);
            Tensor part = whole.slice(2, from, from + depth).slice(1, 2, 8);
            float[] out = scope.download(scope.gemm(Gemm.of(part, scope.upload(x)))).toFloats();
            double[] v = ProductsOracle.values(x);
            for (int i = 0; i < out.length; i++) {
              int at = (i / 6 * 9 + 2 + i % 6) * 1024 + from;
              Sum.of(w, at, 1, v, 0, 1, depth)
                  .check(out[i], dtype + " " + scaling + " from " + from + " at " + i);
            }
          }
        }
      }
    }
  }

  /** An MX matrix of E2M1 elements, all with one code, each block with a scale of its own. */
  private static HostTensor blocks(Arena arena, int code, int... scales) {
    int depth = 32 * scales.length;
    HostTensor host = HostTensor.allocate(arena, DType.F4_E2M1, Shape.of(1, depth), Scaling.mx());
    for (int k = 0; k < depth; k++) {
      PackedElements.set(DType.F4_E2M1, host.data(), k, code);
    }
    for (int i = 0; i < scales.length; i++) {
      host.scales().set(ValueLayout.JAVA_BYTE, i, (byte) scales[i]);
    }
    return host;
  }

  private static float product(Scope scope, HostTensor a, float x) {
    float[] values = new float[(int) a.shape().columns()];
    Arrays.fill(values, x);
    return scope.download(scope.gemv(scope.upload(a), scope.upload(HostTensor.of(values)))).get(0);
  }

  @Test
  void scalesAtTheEndsOfTheirRangeCount() {
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      int[] least = new int[16];
      assertEquals(512 * 0x1p-127f, product(scope, blocks(arena, 2, least), 1));
      int[] most = new int[16];
      Arrays.fill(most, 0xFE);
      assertEquals(512 * 0x1p117f, product(scope, blocks(arena, 2, most), 0x1p-10f));
      int[] nan = new int[16];
      nan[9] = 0xFF;
      assertEquals(Float.NaN, product(scope, blocks(arena, 0, nan), 1));
    }
  }

  @Test
  void activationsThatOverflowOrVanishOnlyWithoutTheScaleCountInFull() {
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      int[] small = new int[16];
      Arrays.fill(small, 127 - 20);
      assertEquals(512 * 6 * 0x1p107f, product(scope, blocks(arena, 7, small), 0x1p127f));
      int[] large = new int[16];
      Arrays.fill(large, 127 + 100);
      float tiny = 0x1.234p-137f;
      assertEquals(512 * (0.5f * 0x1p100f * tiny), product(scope, blocks(arena, 1, large), tiny));
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"F8_E8M0", "I32"})
  void anyNumberOfThreadsGivesTheSameBits(DType dtype) {
    Random random = new Random(6);
    try (Arena arena = Arena.ofConfined()) {
      Scaling scaling = Scaling.mx().isValidFor(dtype) ? Scaling.mx() : Scaling.none();
      HostTensor a = ProductsOracle.random(arena, random, dtype, scaling, 1301, 813);
      HostTensor x = ProductsOracle.random(arena, random, DType.F32, Scaling.none(), 813);
      float[] expected = null;
      for (int threads = 1; threads <= 3; threads++) {
        try (VectorBackend some = VectorBackend.threads(threads);
            Scope scope = some.scope()) {
          float[] out = scope.download(scope.gemv(scope.upload(a), scope.upload(x))).toFloats();
          expected = expected == null ? out : expected;
          assertArrayEquals(expected, out, dtype + " with threads " + threads);
        }
      }
    }
  }

  /** Sizes of groups for which there is a kernel of four rows. */
  private static List<Integer> groups(DType dtype) {
    return Stream.of(0, 16, 32)
        .filter(group -> GemvFormat.exists(dtype, group, 1))
        .filter(group -> GemvFormat.quads(dtype, group) != null)
        .toList();
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F32", "BF16", "F16", "F8_E4M3", "F8_E5M2", "F4_E2M1", "I4"})
  void fourRowsTogetherGiveTheBitsOfEachAlone(DType dtype) {
    int step = GemvFormat.step(dtype);
    for (int group : groups(dtype)) {
      for (int steps : new int[] {1, 2, 3, 7, 16, 131}) {
        String what = dtype + " groups of " + group + ", steps " + steps;
        checkFourRows(dtype, group, step, steps, what);
      }
    }
  }

  private static void checkFourRows(DType dtype, int group, int step, int steps, String what) {
    try (Arena arena = Arena.ofShared()) {
      // Rows are not neighbours, and begin at an odd place.
      long rowBytes = (long) (steps * step + 3) * dtype.bits() / 8;
      long at = 5L * dtype.bits() / 8;
      int first = 2;
      MemorySegment w = arena.allocate(at + 4 * rowBytes);
      Random random = new Random(steps);
      for (long i = 0; i < w.byteSize() / 2; i++) {
        // Any BF16, and so any F32, but infinities and NaNs.
        w.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) (random.nextInt(0x7000) << 1 & 0xBFFF));
      }
      for (long i = 0; isByteFloat(dtype) && i < w.byteSize(); i++) {
        // In some steps a zero or subnormal, or two.
        int magnitude = random.nextInt(200) == 0 ? random.nextInt(4) : 8 + random.nextInt(0x70);
        w.set(ValueLayout.JAVA_BYTE, i, (byte) (magnitude | random.nextInt(2) << 7));
      }
      MemorySegment x = arena.allocate(4L * step * (first + steps), 64);
      for (long i = 0; i < x.byteSize() / 4; i++) {
        x.setAtIndex(ValueLayout.JAVA_FLOAT, i, random.nextFloat() - 0.5f);
      }
      int rowScales = group == 0 ? 0 : steps * step / group + 1;
      float[] scales = floats(random, 4 * rowScales + Species.LANES);
      float[] alone = floats(random, 4 * Species.LANES);
      float[] together = alone.clone();
      GemvRows one = GemvFormat.kernel(dtype, group, 1);
      for (int r = 0; r < 4; r++) {
        int to = r * Species.LANES;
        int scale = r * rowScales;
        long from = at + r * rowBytes;
        one.multiply(w, from, rowBytes, steps, x, first, 0, scales, scale, rowScales, alone, to, 0);
      }
      GemvFormat.quads(dtype, group)
          .multiply(w, at, rowBytes, steps, x, first, 0, scales, 0, rowScales, together, 0, 0);
      assertArrayEquals(alone, together, what);
    }
  }

  private static boolean isByteFloat(DType dtype) {
    return dtype == DType.F8_E4M3 || dtype == DType.F8_E5M2;
  }

  private static float[] floats(Random random, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = random.nextFloat();
    }
    return values;
  }

  @Tag("allocation")
  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F32", "BF16", "F16", "F8_E4M3", "F8_E5M2", "F4_E2M1", "I4"})
  void fourRowsTogetherAllocateNothing(DType dtype) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (Arena arena = Arena.ofShared()) {
      int depth = 2048;
      long rowBytes = (long) depth * dtype.bits() / 8;
      MemorySegment w = arena.allocate(64 + 4 * rowBytes, 64);
      Random random = new Random(17);
      for (long i = 0; i < w.byteSize(); i++) {
        // Of 8-bit floats some steps have codes that are not simple, and some have not.
        w.set(ValueLayout.JAVA_BYTE, i, (byte) (random.nextInt(100) == 0 ? 0 : 0x35));
      }
      MemorySegment x = arena.allocate(4L * depth, 64);
      float[] sums = new float[4 * Species.LANES];
      float[] scales = new float[4 * depth / 16 + Species.LANES];
      int steps = depth / GemvFormat.step(dtype);
      for (int group : groups(dtype)) {
        GemvRows kernel = GemvFormat.quads(dtype, group);
        int pitch = group == 0 ? 0 : depth / group;
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 20_000 && least > 0; round++) {
          long before = threads.getCurrentThreadAllocatedBytes();
          kernel.multiply(w, 64, rowBytes, steps, x, 0, 0, scales, 0, pitch, sums, 0, 0);
          least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least, dtype + " groups of " + group);
      }
    }
  }

  /** Each F16 alone in a row, so that the sum is one product, rounded once. */
  @Test
  void everyF16CountsExactlyWithActivationsOfAnySize() {
    int depth = 128;
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      HostTensor w =
          HostTensor.allocate(arena, DType.F16, Shape.of(1 << 16, depth), Scaling.none());
      for (int code = 0; code < 1 << 16; code++) {
        w.data().setAtIndex(PackedElements.SHORT, (long) code * depth + code % depth, (short) code);
      }
      Tensor matrix = scope.upload(w);
      for (float factor : new float[] {1, -3, 0x1p-100f, 0x1p-140f, 0x1p100f}) {
        float[] x = new float[depth];
        Arrays.fill(x, factor);
        float[] out =
            scope.download(scope.gemv(matrix, scope.upload(HostTensor.of(x, depth)))).toFloats();
        for (int code = 0; code < 1 << 16; code++) {
          float expected = Float.float16ToFloat((short) code) * factor + 0f;
          assertEquals(expected, out[code], () -> "times " + factor);
        }
      }
    }
  }

  /** Each code among codes of 1 that meet zeros, so that the sum is one product. */
  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F8_E4M3", "F8_E5M2"})
  void everyByteFloatCountsExactlyWhereverItIs(DType dtype) {
    int codes = 1 << Byte.SIZE;
    int depth = 9000;
    try (Arena arena = Arena.ofConfined();
        Scope scope = backend.scope()) {
      for (int place : new int[] {0, 1, 2, 3, 63, 64, 4095, 4096, 8191, 8192, 8999}) {
        HostTensor w = HostTensor.allocate(arena, dtype, Shape.of(codes, depth), Scaling.none());
        w.data().fill((byte) (dtype == DType.F8_E4M3 ? 0x38 : 0x3C));
        for (int code = 0; code < codes; code++) {
          w.data().set(ValueLayout.JAVA_BYTE, (long) code * depth + place, (byte) code);
        }
        float[] x = new float[depth];
        x[place] = -3;
        double[] values = ProductsOracle.values(w);
        float[] out =
            scope
                .download(scope.gemv(scope.upload(w), scope.upload(HostTensor.of(x, depth))))
                .toFloats();
        for (int code = 0; code < codes; code++) {
          float expected = (float) (values[code * depth + place] * -3 + 0.0);
          assertEquals(expected, out[code], "code " + code + " at " + place);
        }
      }
    }
  }

  /** Operands are described by objects that calls share, one after the other. */
  @Test
  void whatWasMultipliedBeforeDoesNotMatter() {
    Random random = new Random(9);
    try (VectorBackend backend = VectorBackend.threads(1);
        Arena arena = Arena.ofShared();
        Scope scope = backend.scope()) {
      Tensor w =
          scope.upload(
              ProductsOracle.random(arena, random, DType.F8_E4M3, Scaling.rows(), 64, 100));
      Tensor x = scope.upload(ProductsOracle.random(arena, random, DType.F32, Scaling.none(), 100));
      Tensor a =
          scope.upload(ProductsOracle.random(arena, random, DType.F32, Scaling.none(), 2, 5, 64));
      Tensor b =
          scope.upload(ProductsOracle.random(arena, random, DType.F32, Scaling.none(), 2, 64, 3));
      float[] before = scope.download(scope.gemv(w, x)).toFloats();
      scope.gemm(Gemm.of(a, b));
      assertArrayEquals(before, scope.download(scope.gemv(w, x)).toFloats());
    }
  }

  /** Bytes that multiplying a block of rows once allocates: nothing, once it is compiled. */
  @Tag("allocation")
  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F32", "BF16", "F16", "F8_E4M3", "F8_E5M2", "F4_E2M1", "I8", "I4"})
  void compiledKernelsAllocateNothing(DType dtype) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (Arena arena = Arena.ofShared()) {
      int depth = 2048;
      int steps = depth / GemvFormat.step(dtype);
      MemorySegment w = arena.allocate((long) depth * dtype.bits() / 8, 64);
      MemorySegment x = arena.allocate(4L * 4 * depth, 64);
      float[] factors = new float[depth];
      float[] sums = new float[4 * Species.LANES];
      for (int group = 0; group <= 32; group += 16) {
        for (int vectors = 1; vectors <= 4; vectors *= 2) {
          if (!GemvFormat.exists(dtype, group, vectors)) {
            continue;
          }
          GemvRows kernel = GemvFormat.kernel(dtype, group, vectors);
          // Codes that kernels take with care, and others.
          for (byte code : new byte[] {0, 0x3A}) {
            w.fill(code);
            long least = Long.MAX_VALUE;
            for (int round = 0; round < 20_000 && least > 0; round++) {
              long before = threads.getCurrentThreadAllocatedBytes();
              kernel.multiply(
                  w, 0, 0, steps, x, 0, 4L * depth, factors, 0, 0, sums, 0, Species.LANES);
              least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(
                0, least, dtype + " groups of " + group + ", vectors " + vectors + ": " + code);
          }
        }
      }
    }
  }
}
