package dev.minifloat.cpu.internal.dot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.cpu.internal.ProductsOracle;
import dev.minifloat.cpu.internal.runtime.Cpu;
import dev.minifloat.cpu.internal.runtime.Species;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Dot products straight from memory: their vectors, tails and specials, and what a call costs. */
class DotTest {
  private static final List<DType> TYPES =
      List.of(DType.F32, DType.F16, DType.BF16, DType.F8_E4M3, DType.F8_E5M2, DType.I8);

  private static int[] codes(Random random, DType dtype, int n, boolean finite) {
    int[] codes = new int[n];
    for (int i = 0; i < n; i++) {
      do {
        codes[i] = random.nextInt() & dtype.codeMask();
      } while (finite && !Double.isFinite(Codec.decodeDouble(dtype, codes[i])));
    }
    return codes;
  }

  private static HostTensor tensor(Arena arena, DType dtype, int[] codes) {
    HostTensor host = HostTensor.allocate(arena, dtype, Shape.of(codes.length), Scaling.none());
    for (int i = 0; i < codes.length; i++) {
      PackedElements.set(dtype, host.data(), i, codes[i]);
    }
    return host;
  }

  /** Codes of all magnitudes, subnormals among them; F32 and BF16 only where sums stay finite. */
  @Test
  void everyPairOfSmallFormatsTakesEveryFiniteCode() {
    Random random = new Random(11);
    List<DType> small = List.of(DType.F16, DType.F8_E4M3, DType.F8_E5M2, DType.I8);
    try (Arena arena = Arena.ofConfined();
        VectorBackend backend = VectorBackend.threads(1)) {
      for (DType left : small) {
        for (DType right : small) {
          for (int n : new int[] {1, 31, 64, 65, 127, 300, 2048, 4100, 70_001}) {
            HostTensor a = tensor(arena, left, codes(random, left, n, true));
            HostTensor b = tensor(arena, right, codes(random, right, n, true));
            try (Scope scope = backend.scope()) {
              float actual = backend.dot(scope.upload(a), scope.upload(b));
              ProductsOracle.Sum.of(
                      ProductsOracle.values(a), 0, 1, ProductsOracle.values(b), 0, 1, n)
                  .check(actual, left + " · " + right + ", n = " + n);
            }
          }
        }
      }
    }
  }

  /** Around the lengths at which other kernels, or more calls of one, take over. */
  @Test
  void longOperandsOfWideFormatsAreMultipliedWhole() {
    Random random = new Random(12);
    int brief = DotFused.BRIEF;
    try (Arena arena = Arena.ofConfined();
        VectorBackend backend = VectorBackend.threads(1)) {
      for (DType dtype : List.of(DType.BF16, DType.F32, DType.F16)) {
        for (int n :
            new int[] {
              brief - 1, brief, brief + 1, brief + 191, DotFused.MOST, DotFused.MOST + 1, 140_003
            }) {
          HostTensor a = ProductsOracle.random(arena, random, dtype, Scaling.none(), n);
          HostTensor b = ProductsOracle.random(arena, random, dtype, Scaling.none(), n);
          try (Scope scope = backend.scope()) {
            float actual = backend.dot(scope.upload(a), scope.upload(b));
            ProductsOracle.Sum.of(ProductsOracle.values(a), 0, 1, ProductsOracle.values(b), 0, 1, n)
                .check(actual, dtype + ", n = " + n);
          }
        }
      }
    }
  }

  /** One special value among ones, at places that fall to the vectors, and to what they leave. */
  @Test
  void specialsCountWhereverTheyAre() {
    try (Arena arena = Arena.ofConfined();
        VectorBackend backend = VectorBackend.threads(1);
        Scope scope = backend.scope()) {
      float[] values = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY};
      for (DType left : TYPES) {
        for (DType right : TYPES) {
          int n = 331;
          int[] ones = new int[n];
          Arrays.fill(ones, Codec.encode(right, 1));
          Tensor y = scope.upload(tensor(arena, right, ones));
          for (float value : values) {
            boolean has = Float.isNaN(value) ? left.hasNaN() : left.hasInfinity();
            for (int at = 0; has && at < n; at += 15) {
              int[] codes = new int[n];
              codes[at] =
                  Float.isNaN(value)
                      ? Codec.nanCode(left)
                      : Codec.encode(left, value, Rounding.NEAREST_EVEN, Overflow.IEEE, 0);
              Tensor x = scope.upload(tensor(arena, left, codes));
              String what = left + " · " + right + ", " + value + " at " + at;
              assertEquals(value, backend.dot(x, y), what);
              assertEquals(value, backend.dot(y, x), what);
            }
          }
        }
      }
    }
  }

  @Tag("allocation")
  @Test
  void callsAllocateNothing() {
    // Long ones first: what their loops leave to be compiled is worst.
    callsAllocateNothing(20_000);
    callsAllocateNothing(3000);
  }

  private static void callsAllocateNothing(int n) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Random random = new Random(7);
    try (Arena arena = Arena.ofConfined();
        VectorBackend single = VectorBackend.threads(1);
        Scope scope = single.scope()) {
      for (DType left : TYPES) {
        for (DType right : TYPES) {
          if (!isReadStraight(left, right)) {
            continue;
          }
          Tensor a = scope.upload(ProductsOracle.random(arena, random, left, Scaling.none(), n));
          Tensor b = scope.upload(ProductsOracle.random(arena, random, right, Scaling.none(), n));
          long least = Long.MAX_VALUE;
          // Interpreted and half-compiled code puts vectors on the heap.
          for (int round = 0; round < 300_000 && least > 0; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            single.dot(a, b);
            single.dot(a, b);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
          }
          assertEquals(0, least, left + " · " + right + ", n = " + n);
        }
      }
    }
  }

  private static boolean isReadStraight(DType a, DType b) {
    return switch (a) {
      case F32, F16, BF16 -> b.bits() >= 16;
      case I8 -> b == a;
      default -> b.isFloat() && b.bits() == 8 && Species.BITS == 512 && Cpu.permutesBytes();
    };
  }

  @Test
  void operandsClosedMeanwhileGiveTheSumOrAnException() throws Exception {
    float[] ones = new float[5000];
    Arrays.fill(ones, 1);
    try (ExecutorService worker = Executors.newSingleThreadExecutor()) {
      for (int round = 0; round < 100; round++) {
        VectorBackend backend = VectorBackend.threads(1);
        Tensor x = backend.upload(HostTensor.of(ones));
        Future<Integer> sums =
            worker.submit(
                () -> {
                  int done = 0;
                  try {
                    for (; ; done++) {
                      assertEquals(5000f, backend.dot(x, x));
                    }
                  } catch (IllegalStateException e) {
                    assertTrue(e.getMessage().contains("closed"), e.getMessage());
                    return done;
                  }
                });
        if (round % 2 == 0) {
          x.close();
          // Takes the same memory, and fills it with something else.
          backend.upload(HostTensor.of(new float[5000]));
        } else {
          backend.close();
        }
        assertTrue(sums.get() >= 0);
        backend.close();
      }
    }
  }
}
