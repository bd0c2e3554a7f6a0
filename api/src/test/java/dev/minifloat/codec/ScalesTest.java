package dev.minifloat.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.MxScaleRule;
import java.math.BigDecimal;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Scales derived by hand, and properties that define each rule. */
class ScalesTest {
  private static final float NAN = Float.NaN;
  private static final float INF = Float.POSITIVE_INFINITY;
  private static final int E4M3_NAN = 0x7F;
  private static final int E8M0_NAN = 0xFF;

  @Nested
  class F32 {
    @ParameterizedTest
    @CsvSource({
      "F8_E4M3, 448, 1",
      "F8_E4M3, 1, 0x1.24924ap-9", // 1/448 = 0x1.249249249…p-9
      "F8_E5M2, 57344, 1",
      "F6_E2M3, 7.5, 1",
      "F6_E3M2, 14, 0.5",
      "F4_E2M1, 3, 0.5",
      "I8, 127, 1",
      "I4, 1, 0x1.24924ap-3",
      "F8_E4M3, 0x1.FFFFFEp127, 0x1.249248p119", // (2 − 2^-23)·2^127 / 448
      "F8_E4M3, 0, 1",
      "F8_E4M3, 0x1p-149, 0x1p-149", // the quotient underflows
      "F4_E2M1, 0x1p-147, 0x1p-149", // 4/6 of the least float rounds to it
      "F4_E2M1, 0x1.8p-147, 0x1p-149"
    })
    void isAmaxOverTheLargestValue(DType dtype, String amax, String scale) {
      assertEquals(Float.valueOf(scale), Scales.f32(dtype, Float.valueOf(amax)));
    }

    @Test
    void notANumberForInfinityAndNaN() {
      assertEquals(0x7FC00000, Float.floatToRawIntBits(Scales.f32(DType.F8_E4M3, INF)));
      assertEquals(0x7FC00000, Float.floatToRawIntBits(Scales.f32(DType.F8_E4M3, NAN)));
      assertEquals(
          0x7FC00000,
          Float.floatToRawIntBits(Scales.f32(DType.I8, Float.intBitsToFloat(0x7F800001))));
    }

    /** Whatever the amax, no quotient of the block is infinite. */
    @ParameterizedTest
    @EnumSource(
        value = DType.class,
        names = {"F8_E4M3", "F8_E5M2", "F6_E2M3", "F6_E3M2", "F4_E2M1", "I8", "I4"})
    void quotientsStayFinite(DType dtype) {
      SplittableRandom random = new SplittableRandom(4);
      for (int i = 0; i < 200_000; i++) {
        int bits = i < 100_000 ? i + 1 : 1 + random.nextInt(0x7F7FFFFF);
        float amax = Float.intBitsToFloat(bits);
        float scale = Scales.f32(dtype, amax);
        assertTrue(scale > 0 && amax / scale < INF, () -> dtype + " of " + amax);
      }
    }
  }

  @Nested
  class Mx {
    /** Codes: 127 + exponent of the scale. */
    @ParameterizedTest
    @CsvSource({
      // amax 150 = 1.17·2^7; E4M3 has emax 8 and max 448 = 1.75·2^8
      "F8_E4M3, 150, 126, 127, 126, 126",
      "F8_E4M3, 128, 126, 126, 126, 126",
      "F8_E4M3, 448, 127, 128, 127, 127",
      "F8_E4M3, 449, 127, 128, 128, 127",
      // EVEN adds half an ulp of a 3-bit significand: from 1.9375 on it carries
      "F8_E4M3, 479.99997, 127, 128, 128, 127",
      "F8_E4M3, 480, 127, 128, 128, 127",
      "F8_E4M3, 495.99997, 127, 128, 128, 127",
      "F8_E4M3, 496, 127, 128, 128, 128",
      "F8_E5M2, 57344, 127, 128, 127, 127",
      "F8_E5M2, 61440, 127, 128, 128, 128",
      "F6_E2M3, 7.5, 127, 128, 127, 127",
      "F6_E2M3, 7.75, 127, 128, 128, 128",
      "F6_E3M2, 28, 127, 128, 127, 127",
      "F6_E3M2, 30, 127, 128, 128, 128",
      "F4_E2M1, 6, 127, 128, 127, 127",
      "F4_E2M1, 6.5, 127, 128, 128, 127",
      "F4_E2M1, 7, 127, 128, 128, 128",
      "F4_E2M1, 1, 125, 125, 125, 125",
      // the ends: FLT_MAX carries in EVEN past the largest float, subnormals clamp at 2^-127
      "F4_E2M1, 0x1.FFFFFEp127, 252, 253, 253, 253",
      "F8_E4M3, 0x1.FFFFFEp127, 246, 247, 247, 247",
      "F8_E5M2, 0x1p-149, 0, 0, 0, 0",
      "F4_E2M1, 0x1p-124, 1, 1, 1, 1",
      "F4_E2M1, 0x1p-125, 0, 0, 0, 0",
      "F4_E2M1, 0x1.000002p-125, 0, 1, 0, 0",
      "F4_E2M1, 0x1.8p-125, 0, 1, 0, 0",
      // the F32 quotient rounds to 2^-127, or to the next float
      "F4_E2M1, 0x1.800002p-125, 0, 1, 0, 0",
      "F4_E2M1, 0x1.80000Cp-125, 0, 1, 1, 0",
      "F4_E2M1, 0x1.Cp-125, 0, 1, 1, 1",
      "F4_E2M1, 0x1p-140, 0, 0, 0, 0"
    })
    void followsEachRule(DType dtype, String text, int floor, int ceil, int rceil, int even) {
      float amax = Float.parseFloat(text);
      assertEquals(floor, Scales.mx(dtype, amax, MxScaleRule.FLOOR), "FLOOR");
      assertEquals(ceil, Scales.mx(dtype, amax, MxScaleRule.CEIL), "CEIL");
      assertEquals(rceil, Scales.mx(dtype, amax, MxScaleRule.RCEIL), "RCEIL");
      assertEquals(even, Scales.mx(dtype, amax, MxScaleRule.EVEN), "EVEN");
    }

    @ParameterizedTest
    @EnumSource(MxScaleRule.class)
    void zeroAndNaN(MxScaleRule rule) {
      assertEquals(0, Scales.mx(DType.F8_E4M3, 0, rule));
      assertEquals(E8M0_NAN, Scales.mx(DType.F8_E4M3, INF, rule));
      assertEquals(E8M0_NAN, Scales.mx(DType.F8_E4M3, NAN, rule));
    }

    @ParameterizedTest
    @EnumSource(
        value = DType.class,
        names = {"F8_E4M3", "F8_E5M2", "F6_E2M3", "F6_E3M2", "F4_E2M1"})
    void rceilIsTheLeastScaleThatHoldsTheRoundedQuotient(DType dtype) {
      SplittableRandom random = new SplittableRandom(5);
      for (int i = 0; i < 20_000; i++) {
        float amax = Float.intBitsToFloat(1 + random.nextInt(0x7F7FFFFF));
        double quotient = amax / (float) dtype.max();
        double scale = Math.scalb(1.0, Scales.mx(dtype, amax, MxScaleRule.RCEIL) - 127);
        assertTrue(quotient <= scale, () -> dtype + " of " + amax);
        assertTrue(scale == 0x1p-127 || quotient > scale / 2, () -> dtype + " of " + amax);
      }
    }

    @ParameterizedTest
    @EnumSource(
        value = DType.class,
        names = {"F8_E4M3", "F8_E5M2", "F6_E2M3", "F6_E3M2", "F4_E2M1"})
    void floorBringsAmaxIntoTheTopBinade(DType dtype) {
      double top = Math.scalb(1.0, dtype.maxExponent());
      SplittableRandom random = new SplittableRandom(6);
      for (int i = 0; i < 20_000; i++) {
        // Away from the lower clamp.
        float amax = Float.intBitsToFloat((40 << 23) + random.nextInt(0x7F800000 - (40 << 23)));
        double scaled = amax / Math.scalb(1.0, Scales.mx(dtype, amax, MxScaleRule.FLOOR) - 127);
        assertTrue(scaled >= top && scaled < 2 * top, () -> dtype + " of " + amax);
      }
    }
  }

  @Nested
  class NvFp4 {
    @ParameterizedTest
    @CsvSource({
      "2688, 1",
      "1, 0x1.861862p-12", // 1/2688 = 0x1.86186186…p-12
      "0, 1",
      "0x1p-149, 0x1p-149",
      "0x1.FFFFFEp127, 0x1.86186p116"
    })
    void tensorScaleIsAmaxOver2688(String amax, String scale) {
      assertEquals(Float.valueOf(scale), Scales.nvfp4Global(Float.valueOf(amax)));
    }

    @ParameterizedTest
    @CsvSource({
      "2688, 1, 7E", // 448
      "6, 1, 38", // 1
      "6.5625, 1, 39", // 1.09375 rounds to 1.125
      "6.375, 1, 38", // 1.0625 is a tie: to even
      "3000, 1, 7E", // 500 saturates, it is not the NaN code
      "1e30, 1, 7E",
      "0, 1, 00",
      "0.01171875, 1, 01", // 2^-9, the smallest subnormal
      "0.005859375, 1, 01", // half of it would round to 0
      "1e-30, 1, 01"
    })
    void blockScaleIsRoundedToE4m3(float amax, float global, String code) {
      assertEquals(Integer.parseInt(code, 16), Scales.nvfp4Block(amax, global));
    }

    @Test
    void notANumberForInfinityAndNaN() {
      assertEquals(E4M3_NAN, Scales.nvfp4Block(INF, 1));
      assertEquals(E4M3_NAN, Scales.nvfp4Block(NAN, 1));
      assertEquals(E4M3_NAN, Scales.nvfp4Block(1, NAN));
      assertEquals(E4M3_NAN, Scales.nvfp4Block(0, NAN));
      assertTrue(Float.isNaN(Scales.nvfp4Global(INF)));
      assertTrue(Float.isNaN(Scales.nvfp4Global(NAN)));
    }

    /** With g the least float, s·g rounds to 0 up to s = 0.5, a tie to even. */
    @Test
    void tinyTensorScaleTakesTheLeastBlockScaleThatKeepsQuotientsFinite() {
      float least = Float.MIN_VALUE;
      int code = Scales.nvfp4Block(least, least);
      assertEquals(0x31, code);
      assertEquals(least, Codec.decode(DType.F8_E4M3, code) * least);
      assertEquals(0f, Codec.decode(DType.F8_E4M3, code - 1) * least);
    }

    @Test
    void hopelessTensorScaleEndsAtTheLargestBlockScale() {
      assertEquals(0x7E, Scales.nvfp4Block(Float.MAX_VALUE, Float.MIN_VALUE));
    }

    @Test
    void quotientsStayFiniteForEachTensorScale() {
      SplittableRandom random = new SplittableRandom(8);
      for (int i = 0; i < 200_000; i++) {
        float whole = Float.intBitsToFloat(1 + (i < 50_000 ? i : random.nextInt(0x7F7FFFFF)));
        float global = Scales.nvfp4Global(whole);
        // A block's amax is at most the tensor's.
        int bits = 1 + random.nextInt(Float.floatToRawIntBits(whole));
        float block = Float.intBitsToFloat(bits);
        int code = Scales.nvfp4Block(block, global);
        float scale = Codec.decode(DType.F8_E4M3, code) * global;
        assertTrue(code >= 1 && code <= 0x7E, () -> whole + ", " + block);
        assertTrue(block / scale < INF, () -> whole + ", " + block);
      }
    }
  }

  /** The one F32 division is correctly rounded: against decimal arithmetic. */
  @Test
  void f32QuotientIsCorrectlyRounded() {
    SplittableRandom random = new SplittableRandom(9);
    for (int i = 0; i < 20_000; i++) {
      float amax = Float.intBitsToFloat((20 << 23) + random.nextInt(0x7F800000 - (20 << 23)));
      float scale = Scales.f32(DType.F8_E4M3, amax);
      BigDecimal exact = new BigDecimal(amax);
      BigDecimal error = new BigDecimal(scale).multiply(new BigDecimal(448)).subtract(exact).abs();
      BigDecimal half = new BigDecimal(Math.ulp(scale)).multiply(new BigDecimal(224));
      assertTrue(error.compareTo(half) <= 0, () -> "amax " + amax);
    }
  }
}
