package dev.minifloat.cuda.sim.internal.exec;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/** %f, %e, %g and %a: exact values, rounded to nearest, ties to even, as glibc prints them. */
final class FloatText {
  private static final int DEFAULT_PRECISION = 6;
  private static final int HEX_DIGITS = 13;

  private FloatText() {}

  static String of(double value, char conversion, FormatFlags flags) {
    boolean negative = Double.doubleToRawLongBits(value) < 0;
    double magnitude = Math.abs(value);
    boolean finite = Double.isFinite(value);
    char kind = Character.toLowerCase(conversion);
    String prefix = flags.sign(negative);
    String digits;
    if (!finite) {
      digits = Double.isNaN(value) ? "nan" : "inf";
    } else if (kind == 'a') {
      prefix += "0x";
      digits = hexadecimal(magnitude, flags);
    } else {
      int precision = flags.precision < 0 ? DEFAULT_PRECISION : flags.precision;
      digits =
          switch (kind) {
            case 'f' -> fixed(magnitude, precision, flags.alternate());
            case 'e' -> scientific(magnitude, precision, flags.alternate());
            default -> general(magnitude, Math.max(precision, 1), flags.alternate());
          };
    }
    String text = flags.number(prefix, digits, finite);
    return Character.isUpperCase(conversion) ? text.toUpperCase(Locale.ROOT) : text;
  }

  private static String fixed(double value, int precision, boolean point) {
    String text = new BigDecimal(value).setScale(precision, RoundingMode.HALF_EVEN).toPlainString();
    return precision == 0 && point ? text + "." : text;
  }

  /** The decimal exponent after rounding to so many digits. */
  private static BigDecimal rounded(double value, int digits) {
    return new BigDecimal(value).round(new MathContext(digits, RoundingMode.HALF_EVEN));
  }

  private static int exponent(BigDecimal value) {
    return value.signum() == 0 ? 0 : value.precision() - value.scale() - 1;
  }

  private static String scientific(double value, int precision, boolean point) {
    BigDecimal decimal = rounded(value, precision + 1);
    int exponent = exponent(decimal);
    String digits = decimal.unscaledValue().toString();
    digits += "0".repeat(Math.max(0, precision + 1 - digits.length()));
    String fraction = digits.substring(1, precision + 1);
    String dot = precision > 0 || point ? "." : "";
    String size = Math.abs(exponent) < 10 ? "0" + Math.abs(exponent) : "" + Math.abs(exponent);
    return digits.charAt(0) + dot + fraction + "e" + (exponent < 0 ? "-" : "+") + size;
  }

  private static String general(double value, int precision, boolean keepZeros) {
    int exponent = exponent(rounded(value, precision));
    boolean large = exponent < -4 || exponent >= precision;
    String text =
        large
            ? scientific(value, precision - 1, keepZeros)
            : fixed(value, precision - 1 - exponent, keepZeros);
    if (keepZeros || text.indexOf('.') < 0) {
      return text;
    }
    int end = large ? text.indexOf('e') : text.length();
    return text.substring(0, end).replaceAll("\\.?0+$", "") + text.substring(end);
  }

  /**
   * Hexadecimal digits of a double, its 0x apart.
   *
   * <pre>
   *   bits 62–52          bits 51–0
   *   exponent + 1023     13 digits after the point; before it 1, or 0 if the exponent is 0
   * </pre>
   */
  private static String hexadecimal(double value, FormatFlags flags) {
    long bits = Double.doubleToRawLongBits(value);
    int biased = (int) (bits >>> 52);
    // Before the point one digit, which rounding may make a 2.
    long digits = (bits & (1L << 52) - 1) | (biased == 0 ? 0 : 1L << 52);
    int precision = flags.precision;
    if (precision >= 0 && precision < HEX_DIGITS) {
      int dropped = 4 * (HEX_DIGITS - precision);
      long half = 1L << (dropped - 1);
      long odd = digits >>> dropped & 1;
      digits = (digits + half - 1 + odd) >>> dropped << dropped;
    }
    String fraction = Long.toHexString(digits & (1L << 52) - 1);
    fraction = "0".repeat(HEX_DIGITS - fraction.length()) + fraction;
    if (precision < 0) {
      fraction = fraction.replaceAll("0+$", "");
    } else if (precision < HEX_DIGITS) {
      fraction = fraction.substring(0, precision);
    } else {
      fraction += "0".repeat(precision - HEX_DIGITS);
    }
    int exponent = value == 0 ? 0 : biased == 0 ? -1022 : biased - 1023;
    String dot = fraction.isEmpty() && !flags.alternate() ? "" : ".";
    return (digits >>> 52) + dot + fraction + "p" + (exponent < 0 ? "" : "+") + exponent;
  }
}
