package dev.minifloat.cuda.sim.internal.numeric;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** Arithmetic on the bits of F64 numbers (PTX ISA, "Floating Point Instructions"). */
public final class F64 {
  private F64() {}

  public static double of(long bits) {
    return Double.longBitsToDouble(bits);
  }

  public static long bits(double value) {
    return Double.doubleToRawLongBits(value);
  }

  public static long add(long a, long b, Rounding rounding) {
    double sum = of(a) + of(b);
    if (rounding == Rounding.NEAREST_EVEN || !isFinite(of(a), of(b), 0)) {
      return bits(sum);
    }
    return sum(new BigDecimal(of(a)), new BigDecimal(of(b)), of(a), of(b), rounding);
  }

  public static long multiply(long a, long b, Rounding rounding) {
    double product = of(a) * of(b);
    if (rounding == Rounding.NEAREST_EVEN || !isFinite(of(a), of(b), 0) || isZero(a, b)) {
      return bits(product);
    }
    return bits(Exact.round(new BigDecimal(of(a)).multiply(new BigDecimal(of(b))), rounding));
  }

  public static long multiplyAdd(long a, long b, long c, Rounding rounding) {
    double nearest = Math.fma(of(a), of(b), of(c));
    if (rounding == Rounding.NEAREST_EVEN || !isFinite(of(a), of(b), of(c))) {
      return bits(nearest);
    }
    BigDecimal product = new BigDecimal(of(a)).multiply(new BigDecimal(of(b)));
    double signed =
        Math.copySign(product.signum() == 0 ? 0.0 : 1.0, of(a)) * Math.copySign(1, of(b));
    return sum(product, new BigDecimal(of(c)), signed, of(c), rounding);
  }

  /** A sum of exact parts; a and b give the signs of zeros. */
  private static long sum(BigDecimal x, BigDecimal y, double a, double b, Rounding rounding) {
    BigDecimal exact = x.add(y);
    if (exact.signum() != 0) {
      return bits(Exact.round(exact, rounding));
    }
    boolean aMinus = bits(a) < 0;
    boolean bMinus = bits(b) < 0;
    boolean bothZero = x.signum() == 0;
    boolean minus = (bothZero && aMinus == bMinus) ? aMinus : rounding == Rounding.DOWN;
    return minus ? bits(-0.0) : 0;
  }

  public static long divide(long a, long b, Rounding rounding) {
    double quotient = of(a) / of(b);
    if (rounding == Rounding.NEAREST_EVEN || !isFinite(of(a), of(b), 0) || isZero(a, b)) {
      return bits(quotient);
    }
    BigDecimal x = new BigDecimal(of(a));
    BigDecimal y = new BigDecimal(of(b));
    // Enough digits that a double's half-way points are told apart, and a sticky digit after them.
    BigDecimal cut = x.divide(y, new MathContext(800, RoundingMode.DOWN));
    if (cut.multiply(y).compareTo(x) != 0) {
      cut = sticky(cut);
    }
    return bits(Exact.round(cut, rounding));
  }

  public static long sqrt(long a, Rounding rounding) {
    double root = Math.sqrt(of(a));
    if (rounding == Rounding.NEAREST_EVEN || !(of(a) > 0) || Double.isInfinite(root)) {
      return bits(root);
    }
    BigDecimal exact = new BigDecimal(of(a));
    BigDecimal cut = exact.sqrt(new MathContext(400, RoundingMode.DOWN));
    if (cut.multiply(cut).compareTo(exact) != 0) {
      cut = sticky(cut);
    }
    return bits(Exact.round(cut, rounding));
  }

  /** A number that was cut off, with a digit after its last that says so. */
  private static BigDecimal sticky(BigDecimal cut) {
    BigDecimal digit = BigDecimal.ONE.movePointLeft(cut.scale() + 1);
    return cut.signum() < 0 ? cut.subtract(digit) : cut.add(digit);
  }

  private static boolean isFinite(double a, double b, double c) {
    return Double.isFinite(a) && Double.isFinite(b) && Double.isFinite(c);
  }

  private static boolean isZero(long a, long b) {
    return of(a) == 0 || of(b) == 0;
  }
}
