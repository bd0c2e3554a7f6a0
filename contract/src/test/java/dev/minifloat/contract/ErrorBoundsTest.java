package dev.minifloat.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import java.math.BigDecimal;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ErrorBoundsTest {
  @Test
  void gammaIsTheFormula() {
    assertEquals(5 * 0x1p-24 / (1 - 5 * 0x1p-24), ErrorBounds.gamma(5));
    assertThrows(IllegalArgumentException.class, () -> ErrorBounds.gamma(1 << 24));
  }

  @Test
  void exactSumLosesNothingThatABigDecimalKeeps() {
    SplittableRandom random = new SplittableRandom(1);
    for (int round = 0; round < 50; round++) {
      ExactSum sum = new ExactSum();
      BigDecimal exact = BigDecimal.ZERO;
      BigDecimal magnitude = BigDecimal.ZERO;
      for (int i = 0; i < 500; i++) {
        double a = random.nextDouble(-1, 1) * Math.scalb(1.0, random.nextInt(40));
        double b = random.nextDouble(-1, 1) * Math.scalb(1.0, random.nextInt(40));
        sum.add(a, b);
        BigDecimal product = new BigDecimal(a).multiply(new BigDecimal(b));
        exact = exact.add(product);
        magnitude = magnitude.add(product.abs());
      }
      double off = exact.subtract(new BigDecimal(sum.value())).abs().doubleValue();
      // The sum is returned as a double: half an ulp of it, and next to nothing else.
      assertTrue(off <= Math.ulp(sum.value()), () -> "off by " + off);
      assertEquals(magnitude.doubleValue(), sum.magnitude(), magnitude.doubleValue() * 1e-12);
    }
  }

  /** The worst order, one after the other, stays within the bound; a narrower sum does not. */
  @Test
  void sequentialF32SumsStayWithinTheBoundAndBf16SumsDoNot() {
    float[] a = Data.spread(1, 4099, 2);
    float[] b = a.clone();
    ExactSum exact = new ExactSum();
    float sum = 0;
    float narrow = 0;
    for (int i = 0; i < a.length; i++) {
      exact.add(a[i], b[i]);
      sum += a[i] * b[i];
      narrow = Float.intBitsToFloat(Float.floatToRawIntBits(narrow + a[i] * b[i]) & 0xFFFF0000);
    }
    double bound = ErrorBounds.accumulation(a.length, exact.magnitude());
    assertTrue(ErrorBounds.admits(DType.F32, exact.value(), bound, sum));
    assertFalse(ErrorBounds.admits(DType.F32, exact.value(), bound, narrow));
  }

  @Test
  void admitsTakesTheRoundedNeighboursAndNoMore() {
    assertTrue(ErrorBounds.admits(DType.F8_E4M3, 1.05, 0.02, 1));
    assertTrue(ErrorBounds.admits(DType.F8_E4M3, 1.05, 0.02, 1.125));
    assertFalse(ErrorBounds.admits(DType.F8_E4M3, 1.05, 0.02, 0.9375));
    assertFalse(ErrorBounds.admits(DType.F8_E4M3, 1.05, 0.001, 1.125));
    assertTrue(ErrorBounds.admits(DType.F16, 65519, 2, Double.POSITIVE_INFINITY));
    assertFalse(ErrorBounds.admits(DType.F32, 1, 1e-3, Double.NaN));
    assertTrue(ErrorBounds.admits(DType.F32, Double.NaN, 0, Double.NaN));
  }

  @Test
  void slopesOfActivationsAreBelowTheBoundsFactor() {
    for (Activation activation : Activation.values()) {
      for (double x = -12; x < 12; x += 1e-3) {
        double rise =
            ScalarFunctions.activation(activation, x + 1e-6)
                - ScalarFunctions.activation(activation, x);
        assertTrue(Math.abs(rise) <= 1.13e-6 + 1e-12, activation + " at " + x);
      }
    }
  }
}
