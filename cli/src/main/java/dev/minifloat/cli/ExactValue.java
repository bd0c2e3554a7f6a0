package dev.minifloat.cli;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number as someone wrote it, without any rounding.
 *
 * @param negative its sign, which zeros and NaNs have too
 * @param kind whether it is a number
 * @param magnitude |value|, for numbers; otherwise zero
 */
record ExactValue(boolean negative, Kind kind, BigDecimal magnitude) {
  /** Whether there is a magnitude. */
  enum Kind {
    /** A number. */
    FINITE,
    /** An infinity. */
    INFINITE,
    /** Not a number. */
    NAN
  }

  private static final Pattern HEX =
      Pattern.compile("0x([0-9a-f]*)(?:\\.([0-9a-f]*))?p([+-]?[0-9]{1,9})");

  private static final Pattern DECIMAL = Pattern.compile("[0-9.]+(?:e[+-]?[0-9]+)?");

  /** No format comes near; numbers beyond would only cost time. */
  private static final int LARGEST_EXPONENT = 10_000;

  private static final int LONGEST = 20_000;

  /**
   * Reads a decimal ({@code -1.5e-3}), a hexadecimal float ({@code 0x1.8p3}), {@code inf} or {@code
   * nan}, with or without a sign; case ignored.
   *
   * @throws IllegalArgumentException if it is none of them, or beyond 10^±10000
   */
  static ExactValue parse(String text) {
    String lower = text.strip().toLowerCase(Locale.ROOT);
    boolean negative = lower.startsWith("-");
    String unsigned = negative || lower.startsWith("+") ? lower.substring(1) : lower;
    return switch (unsigned) {
      case "inf", "infinity" -> new ExactValue(negative, Kind.INFINITE, BigDecimal.ZERO);
      case "nan" -> new ExactValue(negative, Kind.NAN, BigDecimal.ZERO);
      default -> new ExactValue(negative, Kind.FINITE, magnitude(text, unsigned));
    };
  }

  private static BigDecimal magnitude(String text, String unsigned) {
    if (unsigned.length() <= LONGEST) {
      Matcher hex = HEX.matcher(unsigned);
      Optional<BigDecimal> value = hex.matches() ? ofHex(hex) : ofDecimal(unsigned);
      if (value.isPresent()) {
        return value.get();
      }
    }
    throw new IllegalArgumentException(
        "\""
            + text
            + "\" is neither a number up to 10^±10000 (1.5, -2e-3, 0x1.8p3), nor inf, nan, or a"
            + " code such as 0x7E");
  }

  private static Optional<BigDecimal> ofDecimal(String unsigned) {
    // BigDecimal takes another sign, and the digits of every script.
    if (!DECIMAL.matcher(unsigned).matches()) {
      return Optional.empty();
    }
    try {
      BigDecimal value = new BigDecimal(unsigned);
      long exponent = (long) value.precision() - value.scale();
      return value.signum() == 0
          ? Optional.of(BigDecimal.ZERO)
          : Optional.of(value).filter(_ -> Math.abs(exponent) <= LARGEST_EXPONENT);
    } catch (NumberFormatException _) {
      return Optional.empty();
    }
  }

  private static Optional<BigDecimal> ofHex(Matcher hex) {
    String fraction = hex.group(2) == null ? "" : hex.group(2);
    String digits = hex.group(1) + fraction;
    int exponent = Integer.parseInt(hex.group(3));
    if (digits.isEmpty() || Math.abs(exponent) > LARGEST_EXPONENT) {
      return Optional.empty();
    }
    BigDecimal whole = new BigDecimal(new BigInteger(digits, 16));
    int power = exponent - 4 * fraction.length();
    BigDecimal two = BigDecimal.TWO;
    // 2^-n has a finite decimal expansion, so the division is exact.
    return Optional.of(power >= 0 ? whole.multiply(two.pow(power)) : whole.divide(two.pow(-power)));
  }

  /** Whether some double has exactly this value. */
  boolean isDouble() {
    if (kind != Kind.FINITE) {
      return true;
    }
    double nearest = magnitude.doubleValue();
    return Double.isFinite(nearest) && new BigDecimal(nearest).compareTo(magnitude) == 0;
  }

  /** The nearest double. */
  double nearestDouble() {
    double unsigned =
        switch (kind) {
          case FINITE -> magnitude.doubleValue();
          case INFINITE -> Double.POSITIVE_INFINITY;
          case NAN -> Double.NaN;
        };
    return withSign(unsigned);
  }

  /**
   * A double that rounds to every narrower format as the value itself does: where the value is no
   * double it is cut off and the last bit set ("round to odd"). All formats here have at least two
   * bits less than a double, so that bit is never more than a reminder that something was cut off.
   */
  double oddDouble() {
    if (kind != Kind.FINITE || isDouble()) {
      return nearestDouble();
    }
    double near = magnitude.doubleValue();
    double below =
        Double.isInfinite(near) || new BigDecimal(near).compareTo(magnitude) > 0
            ? Math.nextDown(near)
            : near;
    return withSign(Double.longBitsToDouble(Double.doubleToRawLongBits(below) | 1));
  }

  private double withSign(double unsigned) {
    long bits = Double.doubleToRawLongBits(unsigned) & Long.MAX_VALUE;
    return Double.longBitsToDouble(negative ? bits | Long.MIN_VALUE : bits);
  }

  @Override
  public String toString() {
    String unsigned =
        switch (kind) {
          case FINITE -> magnitude.signum() == 0 ? "0" : magnitude.stripTrailingZeros().toString();
          case INFINITE -> "inf";
          case NAN -> "nan";
        };
    return negative ? "-" + unsigned : unsigned;
  }
}
