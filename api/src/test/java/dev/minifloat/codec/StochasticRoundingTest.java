package dev.minifloat.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Stochastic rounding: the magnitude grows for r &lt; ⌊2^32 · discarded fraction⌋. */
class StochasticRoundingTest {
  private static final Rounding STOCHASTIC = Rounding.stochastic(7);

  /** Of the 2^32 equally likely r, exactly 2^32 · fraction grow: the mean is the value itself. */
  @ParameterizedTest
  @CsvSource({
    "F8_E4M3, 1.03125, 38, 40000000", // ¼ of the way from 1 to 1.125
    "F8_E4M3, 1.0625, 38, 80000000",
    "F8_E4M3, 447.99999237060546875, 7D, FFFFFC00", // 2^-22 of a gap below 448
    "F8_E4M3, 0.0009765625, 00, 80000000", // half the smallest subnormal
    "F8_E5M2, 1.0625, 3C, 40000000",
    "F4_E2M1, 5.5, 6, C0000000",
    "F4_E2M1, 0.125, 0, 40000000",
    "F16, 1.000000059604644775390625, 3C00, 00040000", // 2^-24: 2^-14 of a gap
    "BF16, 1.00000011920928955078125, 3F80, 00010000",
    "I8, 2.75, 2, C0000000",
    "I4, 6.5, 6, 80000000"
  })
  void growsForExactlyTheFractionOfAllDraws(
      DType dtype, double value, String lowCode, String growing) {
    int low = Integer.parseInt(lowCode.strip(), 16);
    int threshold = Integer.parseUnsignedInt(growing.strip(), 16);
    assertEquals(low + 1, magnitude(dtype, value, 0));
    assertEquals(low + 1, magnitude(dtype, value, threshold - 1));
    assertEquals(low, magnitude(dtype, value, threshold));
    assertEquals(low, magnitude(dtype, value, -1));
    int sign = dtype.isInteger() ? 0 : 1 << (dtype.bits() - 1);
    if (!dtype.isInteger()) {
      assertEquals(sign | (low + 1), magnitude(dtype, -value, threshold - 1));
      assertEquals(sign | low, magnitude(dtype, -value, threshold));
    } else {
      assertEquals(-low - 1, Codec.decode(dtype, magnitude(dtype, -value, threshold - 1)));
      assertEquals(-low, Codec.decode(dtype, magnitude(dtype, -value, threshold)));
    }
  }

  @Test
  void fractionBelowTwoToTheMinus32NeverGrows() {
    assertEquals(0x38, magnitude(DType.F8_E4M3, 1 + 0x1p-36, 0));
    assertEquals(0x39, magnitude(DType.F8_E4M3, 1 + 0x1p-35, 0));
    assertEquals(0x38, magnitude(DType.F8_E4M3, 1 + 0x1p-35, 1));
    assertEquals(0, magnitude(DType.F8_E4M3, Double.MIN_VALUE, 0));
    assertEquals(0, magnitude(DType.F8_E4M3, 0x1p-42, 0));
    assertEquals(1, magnitude(DType.F8_E4M3, 0x1p-41, 0));
  }

  @Test
  void exactValuesStay() {
    for (int code = 0; code < 0x7F; code++) {
      double value = Codec.decode(DType.F8_E4M3, code);
      assertEquals(code, magnitude(DType.F8_E4M3, value, 0));
      assertEquals(code, magnitude(DType.F8_E4M3, value, -1));
    }
  }

  @Test
  void drawsPhiloxAtTheElementsIndex() {
    long seed = 0xC0FFEEL;
    for (long index = 0; index < 1000; index++) {
      int expected =
          Codec.encodeWithBits(
              DType.F8_E4M3, 1.05, STOCHASTIC, Overflow.SATURATE, Philox.bits(seed, index));
      assertEquals(
          expected,
          Codec.encode(DType.F8_E4M3, 1.05, Rounding.stochastic(seed), Overflow.SATURATE, index));
    }
  }

  @Test
  void meanOfManyElementsIsTheValue() {
    int n = 1 << 16;
    double value = 1.03;
    double sum = 0;
    for (int i = 0; i < n; i++) {
      int code = Codec.encode(DType.F8_E4M3, value, Rounding.stochastic(3), Overflow.SATURATE, i);
      sum += Codec.decode(DType.F8_E4M3, code);
    }
    // Draws of 1 or 1.125 with probability p: standard deviation of the mean, times six.
    double p = (value - 1) / 0.125;
    double bound = 6 * 0.125 * Math.sqrt(p * (1 - p) / n);
    assertTrue(Math.abs(sum / n - value) <= bound, () -> "mean off by more than " + bound);
  }

  private static int magnitude(DType dtype, double value, int random) {
    return Codec.encodeWithBits(dtype, value, STOCHASTIC, Overflow.SATURATE, random);
  }
}
