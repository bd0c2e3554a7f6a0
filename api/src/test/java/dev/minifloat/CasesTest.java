package dev.minifloat;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.codec.Scales;
import dev.minifloat.reference.ReferenceBackend;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Inputs that are known to have gone wrong elsewhere, each with the right answer. */
class CasesTest {
  private static final Overflow IEEE = Overflow.IEEE;
  private static final Overflow SAT = Overflow.SATURATE;

  private static String encode(DType dtype, double value, Overflow overflow) {
    int code = Codec.encode(dtype, value, Rounding.NEAREST_EVEN, overflow, 0);
    return ("%0" + Math.ceilDiv(dtype.bits(), 4) + "X").formatted(code);
  }

  private static float bits(String hex) {
    return Float.intBitsToFloat(Integer.parseUnsignedInt(hex, 16));
  }

  @Nested
  class E4m3Overflow {
    @ParameterizedTest
    @CsvSource({
      "448, 7E, 7E",
      "448.5, 7E, 7E",
      "464, 7E, 7E",
      "0x1.D00002p8, 7F, 7E",
      "465, 7F, 7E",
      "480, 7F, 7E",
      "1000, 7F, 7E",
      "Infinity, 7F, 7E",
      "-Infinity, FF, FE",
      "256, 78, 78",
      "272, 78, 78",
      "288, 79, 79",
      "400, 7C, 7C",
      "432, 7E, 7E"
    })
    void givesTheCodesOfBothModes(String value, String ieee, String saturated) {
      assertEquals(ieee, encode(DType.F8_E4M3, Float.parseFloat(value), IEEE));
      assertEquals(saturated, encode(DType.F8_E4M3, Float.parseFloat(value), SAT));
    }
  }

  @Nested
  class E5m2 {
    @ParameterizedTest
    @CsvSource({
      "57344, 7B, 7B",
      "61439.996, 7B, 7B",
      "61440, 7C, 7B",
      "65504, 7C, 7B",
      "1.125, 3C, 3C",
      "1.625, 3E, 3E",
      "0x1p-16, 01, 01",
      "0x1p-17, 00, 00",
      "-0.0, 80, 80"
    })
    void givesTheCodesOfBothModes(String value, String ieee, String saturated) {
      assertEquals(ieee, encode(DType.F8_E5M2, Float.parseFloat(value), IEEE));
      assertEquals(saturated, encode(DType.F8_E5M2, Float.parseFloat(value), SAT));
    }

    @Test
    void negativeNaNKeepsItsSign() {
      for (Overflow overflow : Overflow.values()) {
        assertEquals("FF", encode(DType.F8_E4M3, bits("FFC00000"), overflow));
        assertEquals("FE", encode(DType.F8_E5M2, bits("FFC00000"), overflow));
      }
    }
  }

  @Nested
  class OneRounding {
    @Test
    void e4m3IsNotReachedThroughBf16() {
      assertEquals("3B", encode(DType.F8_E4M3, 1.31640625, SAT));
      int bf16 = Codec.encode(DType.BF16, 1.31640625);
      assertEquals("3A", encode(DType.F8_E4M3, Codec.decode(DType.BF16, bf16), SAT));
    }

    @Test
    void f16IsNotReachedFromF64ThroughF32() {
      double aboveTie = 1 + 0x1p-11 + 0x1p-40;
      assertEquals("3C01", encode(DType.F16, aboveTie, IEEE));
      assertEquals("3C00", encode(DType.F16, (float) aboveTie, IEEE));
      double aboveHalfOfTheLeast = Math.nextUp(0x1p-25);
      assertEquals("0001", encode(DType.F16, aboveHalfOfTheLeast, IEEE));
      assertEquals("0000", encode(DType.F16, (float) aboveHalfOfTheLeast, IEEE));
    }
  }

  @Nested
  class Halves {
    @Test
    void bf16OfANaNStaysANaN() {
      assertEquals("7FC0", encode(DType.BF16, bits("7F800001"), IEEE));
      assertEquals("7FC0", encode(DType.BF16, bits("7FFFFFFF"), IEEE));
    }

    @ParameterizedTest
    @CsvSource({
      "33000000, 0000",
      "33000001, 0001",
      "387FE000, 0400",
      "477FEFFF, 7BFF",
      "477FF000, 7C00"
    })
    void f16RoundsAtItsEdges(String input, String code) {
      assertEquals(code, encode(DType.F16, bits(input), IEEE));
    }

    @Test
    void f16SignallingNaNDecodesToTheSameBitsBeforeAndAfterCompilation() {
      int first = Float.floatToRawIntBits(Codec.decode(DType.F16, 0x7C01));
      assertEquals(0x7FC00000, first);
      // Enough for the compiler to take over.
      for (int i = 0; i < 200_000; i++) {
        if (Float.floatToRawIntBits(Codec.decode(DType.F16, 0x7C01 + (i & 0x1FF))) != first) {
          assertEquals(first, Float.floatToRawIntBits(Codec.decode(DType.F16, 0x7C01)));
        }
      }
    }

    @Test
    void twoElementsOfF16AreFourBytes() {
      try (Arena arena = Arena.ofConfined();
          Backend backend = new ReferenceBackend();
          Scope scope = backend.scope()) {
        HostTensor x = HostTensor.of(new float[] {1, 2});
        assertEquals(
            4, scope.download(scope.convert(scope.upload(x), DType.F16)).data().byteSize());
        assertEquals(
            4,
            BlockQuantizer.convert(arena, x, DType.F16, Rounding.NEAREST_EVEN, IEEE)
                .data()
                .byteSize());
      }
    }
  }

  @Nested
  class Decoding {
    @Test
    void e4m3HasOneNaNOfEachSign() {
      assertTrue(Float.isNaN(Codec.decode(DType.F8_E4M3, 0x7F)));
      assertTrue(Float.isNaN(Codec.decode(DType.F8_E4M3, 0xFF)));
      for (int code = 0x78; code <= 0x7E; code++) {
        assertEquals(256f + 32 * (code - 0x78), Codec.decode(DType.F8_E4M3, code));
      }
    }

    @Test
    void e5m2HasInfinitiesAndNaNs() {
      assertEquals(Float.POSITIVE_INFINITY, Codec.decode(DType.F8_E5M2, 0x7C));
      assertEquals(Float.NEGATIVE_INFINITY, Codec.decode(DType.F8_E5M2, 0xFC));
      for (int code = 0x7D; code <= 0x7F; code++) {
        assertTrue(Float.isNaN(Codec.decode(DType.F8_E5M2, code)));
      }
    }

    @ParameterizedTest
    @CsvSource({"0, 0.0", "1, 0.5", "8, -0.0", "9, -0.5"})
    void e2m1SmallestCodes(int code, float value) {
      assertEquals(value, Codec.decode(DType.F4_E2M1, code));
    }

    @ParameterizedTest
    @CsvSource({
      "0.25, 0",
      "0.75, 2",
      "1.25, 2",
      "1.75, 4",
      "2.5, 4",
      "3.5, 6",
      "5, 6",
      "5.0000005, 7",
      "7, 7",
      "Infinity, 7"
    })
    void e2m1TiesGoToEvenCodes(float value, String code) {
      assertEquals(code, encode(DType.F4_E2M1, value, SAT));
    }
  }

  @Nested
  class E8m0 {
    @Test
    void codeZeroIsASubnormalThatIsNotFlushed() {
      float least = Codec.decode(DType.F8_E8M0, 0);
      assertEquals(0x00400000, Float.floatToRawIntBits(least));
      assertEquals(0x1p-127f, least * 1.0f);
    }

    @Test
    void codeFfIsNaN() {
      assertTrue(Float.isNaN(Codec.decode(DType.F8_E8M0, 0xFF)));
    }

    @Test
    void reciprocalOfTheLargestIsTheLeast() {
      assertEquals(0x1p-127f, 1 / Codec.decode(DType.F8_E8M0, 0xFE));
    }
  }

  @Nested
  class ScaleCases {
    @ParameterizedTest
    @CsvSource({"F8_E4M3, 1x128", "F8_E4M3, mx", "F4_E2M1, mx", "F4_E2M1, nvfp4"})
    void zeroBlockHasAFiniteScaleAndZeros(DType dtype, String scaling) {
      try (Arena arena = Arena.ofConfined()) {
        QuantSpec spec = QuantSpec.of(dtype).scaling(Scaling.parse(scaling));
        HostTensor q = BlockQuantizer.quantize(arena, HostTensor.of(new float[128]), spec);
        assertTrue(Float.isFinite(q.scale(0)));
        assertArrayEquals(new float[128], q.toFloats());
      }
    }

    /** amax 2688 · g is the most that a block can have; beyond it the scale stays 7E. */
    @Test
    void e4m3ScaleNeverBecomesTheNaNCode() {
      assertEquals(0x7E, Scales.nvfp4Block(2688, 1));
      assertEquals(0x7E, Scales.nvfp4Block(Math.nextUp(2688f), 1));
      assertEquals(0x7E, Scales.nvfp4Block(3000, 1));
      assertEquals(0x7E, Scales.nvfp4Block(1e9f, 1));
      try (Arena arena = Arena.ofConfined()) {
        // g is rounded, so that the quotient of the largest block may come out above 448.
        SplittableRandom random = new SplittableRandom(17);
        for (int i = 0; i < 1000; i++) {
          HostTensor x = HostTensor.of(new float[] {(float) random.nextDouble(1e-3, 1e3)});
          QuantSpec spec = QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4());
          HostTensor q = BlockQuantizer.quantize(arena, x, spec);
          assertEquals(0x7E, PackedElements.get(DType.F8_E4M3, q.scales(), 0));
        }
      }
    }

    @Test
    void mxRulesOnAmax150() {
      assertEquals(126, Scales.mx(DType.F8_E4M3, 150, MxScaleRule.FLOOR));
      assertEquals(126, Scales.mx(DType.F8_E4M3, 150, MxScaleRule.RCEIL));
      assertEquals(127, Scales.mx(DType.F8_E4M3, 150, MxScaleRule.CEIL));
    }

    @Test
    void mxRulesRightAbove448() {
      assertEquals(128, Scales.mx(DType.F8_E4M3, bits("43E00001"), MxScaleRule.RCEIL));
      assertEquals(127, Scales.mx(DType.F8_E4M3, bits("43E00001"), MxScaleRule.FLOOR));
    }
  }

  @Nested
  class Products {
    @Test
    void zeroProductLeavesCAsItIs() {
      try (Backend backend = new ReferenceBackend();
          Scope scope = backend.scope()) {
        for (DType dtype : new DType[] {DType.F8_E4M3, DType.F16, DType.F32}) {
          Tensor a = scope.convert(scope.upload(HostTensor.of(new float[6], 2, 3)), dtype);
          Tensor b = scope.convert(scope.upload(HostTensor.of(new float[6], 3, 2)), dtype);
          float[] addend = new float[4];
          Arrays.fill(addend, bits("3F800200"));
          Tensor c = scope.upload(HostTensor.of(addend, 2, 2));
          assertArrayEquals(
              addend, scope.download(scope.gemm(Gemm.of(a, b).plus(1, c))).toFloats());
        }
      }
    }

    @ParameterizedTest
    @CsvSource({"63, 15, 5", "63, 17, 5", "63, 200, 5", "1, 200, 1", "3, 1, 7"})
    void oddSizesWithRowScalesAndRaggedBlocks(int m, int k, int n) {
      SplittableRandom random = new SplittableRandom(18);
      try (Backend backend = new ReferenceBackend();
          Scope scope = backend.scope()) {
        for (String scaling : new String[] {"rows", "16x128", "mx"}) {
          QuantSpec spec = QuantSpec.of(DType.F8_E4M3).scaling(Scaling.parse(scaling));
          Tensor a = scope.quantize(scope.upload(random(random, m, k)), spec);
          Tensor w = scope.quantize(scope.upload(random(random, n, k)), spec);
          HostTensor left = scope.download(a);
          HostTensor right = scope.download(w);
          float[] d = scope.download(scope.gemm(Gemm.of(a, w.transposed()))).toFloats();
          for (int i = 0; i < d.length; i++) {
            double sum = 0;
            double size = 0;
            for (int j = 0; j < k; j++) {
              double term =
                  (double) left.get((long) (i / n) * k + j) * right.get((long) (i % n) * k + j);
              sum += term;
              size += Math.abs(term);
            }
            double gamma = (k + 4) * 0x1p-24 / (1 - (k + 4) * 0x1p-24);
            assertEquals(sum, d[i], gamma * size + k * 0x1p-149);
          }
        }
      }
    }

    @Test
    void sumPast65504OfF16StaysFinite() {
      // 160000 + 160000 + 500 + 500: the first partial sum is past F16's 65504 already.
      float[] a = {400, 400, 10, 100};
      float[] b = {400, 400, 50, 5};
      try (Backend backend = new ReferenceBackend();
          Scope scope = backend.scope()) {
        Tensor x = scope.convert(scope.upload(HostTensor.of(a, 1, 4)), DType.F16);
        Tensor y = scope.convert(scope.upload(HostTensor.of(b, 4, 1)), DType.F16);
        assertEquals(321_000f, scope.download(scope.gemm(Gemm.of(x, y))).get(0));
        assertEquals(321_000f, scope.dot(x.reshape(4), y.reshape(4)));
        assertEquals(321_000f, scope.download(scope.gemv(x, y.reshape(4))).get(0));
        // Only the output's own type may overflow.
        Tensor half = scope.gemm(Gemm.of(x, y).output(DType.F16));
        assertEquals(Float.POSITIVE_INFINITY, scope.download(half).get(0));
      }
    }

    private HostTensor random(SplittableRandom random, int rows, int columns) {
      float[] values = new float[rows * columns];
      for (int i = 0; i < values.length; i++) {
        values[i] = (float) random.nextDouble(-2, 2);
      }
      return HostTensor.of(values, rows, columns);
    }
  }

  @Nested
  class Resources {
    enum Threads {
      PLATFORM,
      VIRTUAL;

      ExecutorService executor() {
        return switch (this) {
          case PLATFORM -> Executors.newSingleThreadExecutor();
          case VIRTUAL -> Executors.newVirtualThreadPerTaskExecutor();
        };
      }
    }

    @ParameterizedTest
    @EnumSource(Threads.class)
    void tensorOfOneThreadIsUsedAndClosedOnAnother(Threads threads)
        throws InterruptedException, ExecutionException {
      try (ReferenceBackend backend = new ReferenceBackend();
          ExecutorService other = threads.executor()) {
        Tensor x = backend.upload(HostTensor.of(new float[] {3, 4}));
        assertEquals(25f, other.submit(() -> backend.dot(x, x)).get());
        Tensor y = other.submit(() -> backend.convert(x, DType.BF16)).get();
        assertEquals(4f, backend.amax(y));
        other.submit(y::close).get();
        Refusals.assertClosed(() -> backend.amax(y));
        x.close();
        assertEquals(0, backend.liveTensors());
      }
    }

    @Test
    void closingTwiceIsFine() {
      ReferenceBackend backend = new ReferenceBackend();
      Scope scope = backend.scope();
      Tensor x = scope.upload(HostTensor.of(new float[] {1}));
      x.close();
      x.close();
      scope.close();
      scope.close();
      x.close();
      backend.close();
      backend.close();
      x.close();
      scope.close();
      assertTrue(x.isClosed());
    }

    @Test
    void failingTwiceFailsTheSameWay() {
      String first = failure();
      assertEquals(first, failure());
    }

    private String failure() {
      try (Backend backend = Backends.open("nowhere")) {
        return backend.name();
      } catch (IllegalArgumentException e) {
        return e.getMessage();
      }
    }
  }
}
