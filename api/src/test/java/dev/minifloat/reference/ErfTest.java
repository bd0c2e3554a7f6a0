package dev.minifloat.reference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.MathContext;
import org.junit.jupiter.api.Test;

/** erfc against its Taylor series in decimal arithmetic of enough digits. */
class ErfTest {
  /** The series' terms reach e^(x²), 10^290 at 26; erfc(26) is 10^-296. */
  private static final MathContext DIGITS = new MathContext(640);

  private static final BigDecimal TWO_OVER_ROOT_PI =
      BigDecimal.TWO.divide(pi().sqrt(DIGITS), DIGITS);

  /** Machin: π = 16 arctan(1/5) − 4 arctan(1/239). */
  private static BigDecimal pi() {
    return arctanOfReciprocal(5)
        .multiply(BigDecimal.valueOf(16))
        .subtract(arctanOfReciprocal(239).multiply(BigDecimal.valueOf(4)));
  }

  private static BigDecimal arctanOfReciprocal(int n) {
    BigDecimal square = BigDecimal.valueOf((long) n * n);
    BigDecimal power = BigDecimal.ONE.divide(BigDecimal.valueOf(n), DIGITS);
    BigDecimal sum = power;
    BigDecimal end = BigDecimal.ONE.movePointLeft(DIGITS.getPrecision());
    for (int k = 1; power.compareTo(end) > 0; k++) {
      power = power.divide(square, DIGITS);
      BigDecimal term = power.divide(BigDecimal.valueOf(2L * k + 1), DIGITS);
      sum = k % 2 == 0 ? sum.add(term, DIGITS) : sum.subtract(term, DIGITS);
    }
    return sum;
  }

  private static BigDecimal erfc(double x) {
    BigDecimal exact = new BigDecimal(x);
    BigDecimal square = exact.multiply(exact);
    BigDecimal power = exact;
    BigDecimal sum = exact;
    BigDecimal end = BigDecimal.ONE.movePointLeft(DIGITS.getPrecision() - 300);
    for (int n = 1; power.abs().compareTo(end) > 0; n++) {
      power = power.multiply(square, DIGITS).divide(BigDecimal.valueOf(-n), DIGITS);
      sum = sum.add(power.divide(BigDecimal.valueOf(2L * n + 1), DIGITS), DIGITS);
    }
    return BigDecimal.ONE.subtract(sum.multiply(TWO_OVER_ROOT_PI, DIGITS));
  }

  @Test
  void isWithin1e14OfTheSeries() {
    double[] points = {
      1e-300, 0.1, 0.49999, 0.5, 0.7, 1.3, 2.2, 2.4999, 2.5, Math.PI, 5.3, 8.9, 15.3, 26
    };
    for (double x : points) {
      BigDecimal exact = erfc(x);
      within(exact, Erf.erfc(x), x);
      within(BigDecimal.TWO.subtract(exact), Erf.erfc(-x), -x);
    }
  }

  private static void within(BigDecimal exact, double actual, double x) {
    BigDecimal error =
        new BigDecimal(actual).subtract(exact).divide(exact, MathContext.DECIMAL64).abs();
    assertTrue(error.doubleValue() <= 1e-14, () -> "erfc(" + x + "): relative error " + error);
  }

  @Test
  void ends() {
    assertEquals(1.0, Erf.erfc(0.0));
    assertEquals(1.0, Erf.erfc(-0.0));
    assertEquals(0.0, Erf.erfc(Double.POSITIVE_INFINITY));
    assertEquals(2.0, Erf.erfc(Double.NEGATIVE_INFINITY));
    assertEquals(0.0, Erf.erfc(45));
    assertEquals(2.0, Erf.erfc(-45));
    assertTrue(Double.isNaN(Erf.erfc(Double.NaN)));
  }
}
