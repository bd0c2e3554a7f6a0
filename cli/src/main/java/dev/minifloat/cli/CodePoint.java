package dev.minifloat.cli;

import dev.minifloat.DType;
import dev.minifloat.codec.Codec;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.Optional;

/**
 * One code of a format, and where it lies among the others.
 *
 * @param dtype the format
 * @param code the bits of an element
 */
record CodePoint(DType dtype, int code) {
  private static final int MOST_DIGITS = 40;

  /** 2^n says more than its digits. */
  private static final int MOST_DIGITS_OF_A_POWER = 20;

  /** What a code stands for. */
  enum Kind {
    /** A number with a full significand, or an integer. */
    NORMAL,
    /** A number without the hidden bit. */
    SUBNORMAL,
    /** +0 or −0. */
    ZERO,
    /** +Inf or −Inf. */
    INFINITY,
    /** Not a number. */
    NAN
  }

  /** Keeps the bits that the format has. */
  CodePoint {
    code &= dtype.codeMask();
  }

  /** What the code stands for. */
  Kind kind() {
    double value = value();
    if (Double.isNaN(value)) {
      return Kind.NAN;
    }
    if (Double.isInfinite(value)) {
      return Kind.INFINITY;
    }
    if (value == 0) {
      return Kind.ZERO;
    }
    return Math.abs(value) < dtype.minNormal() ? Kind.SUBNORMAL : Kind.NORMAL;
  }

  /** The value, exactly. */
  double value() {
    return Codec.decodeDouble(dtype, code);
  }

  /** Whether the sign bit is set. */
  boolean isNegative() {
    return dtype.isSigned() && (code >>> (dtype.bits() - 1) & 1) != 0;
  }

  /** The exponent field; 0 for integers. */
  int exponentField() {
    return dtype.isInteger()
        ? 0
        : code >>> dtype.mantissaBits() & ((1 << dtype.exponentBits()) - 1);
  }

  /** The stored significand; 0 for integers. */
  int mantissaField() {
    return code & ((1 << dtype.mantissaBits()) - 1);
  }

  /** The code as its format's number of hex digits. */
  String hex() {
    int digits = (dtype.bits() + 3) / 4;
    return "0x" + String.format(Locale.ROOT, "%0" + digits + "X", Integer.toUnsignedLong(code));
  }

  /** The code in binary, sign, exponent and mantissa apart. */
  String binary() {
    String bits =
        String.format("%" + dtype.bits() + "s", Integer.toBinaryString(code)).replace(' ', '0');
    if (dtype.isInteger() || dtype == DType.F8_E8M0) {
      return bits;
    }
    int mantissa = bits.length() - dtype.mantissaBits();
    return bits.substring(0, 1)
        + " "
        + bits.substring(1, mantissa)
        + " "
        + bits.substring(mantissa);
  }

  /** The distance to the next value away from zero, as if the format had no end. */
  Optional<Double> ulp() {
    return switch (kind()) {
      case NAN, INFINITY -> Optional.empty();
      case ZERO, SUBNORMAL, NORMAL -> {
        if (dtype.isInteger()) {
          yield Optional.of(1.0);
        }
        if (dtype == DType.F8_E8M0) {
          yield Optional.of(value());
        }
        int exponent = Math.max(exponentField(), 1) - dtype.bias() - dtype.mantissaBits();
        yield Optional.of(Math.scalb(1.0, exponent));
      }
    };
  }

  /** The nearest code of a smaller value. */
  Optional<CodePoint> below() {
    return neighbour(-1);
  }

  /** The nearest code of a greater value. */
  Optional<CodePoint> above() {
    return neighbour(1);
  }

  private Optional<CodePoint> neighbour(int step) {
    if (kind() == Kind.NAN) {
      return Optional.empty();
    }
    if (dtype.isInteger()) {
      double value = value() + step;
      boolean inside = value >= -dtype.max() - 1 && value <= dtype.max();
      return Optional.of(new CodePoint(dtype, (int) (long) value)).filter(_ -> inside);
    }
    // Magnitudes count upwards from zero in every format; the sign mirrors them.
    long last = Codec.maxCode(dtype) + (dtype.hasInfinity() ? 1L : 0L);
    long magnitude = code & (dtype.isSigned() ? dtype.codeMask() >>> 1 : dtype.codeMask());
    long rank = (isNegative() ? -magnitude : magnitude) + step;
    if (Math.abs(rank) > last || (rank < 0 && !dtype.isSigned())) {
      return Optional.empty();
    }
    int sign = rank < 0 ? 1 << (dtype.bits() - 1) : 0;
    return Optional.of(new CodePoint(dtype, (int) Math.abs(rank) | sign));
  }

  /** The value in decimal, to the last digit. */
  String decimal() {
    return decimal(value());
  }

  /** The value as people can read it: see {@link #shown(double)}. */
  String shown() {
    return shown(value());
  }

  /**
   * A double in decimal, to the last digit unless {@link #isLong those are many}: then as a power
   * of two or a hexadecimal float, and roughly in decimal: {@code 2^-127 ≈ 5.877e-39}.
   */
  static String shown(double value) {
    if (!isLong(value)) {
      return decimal(value);
    }
    String exact =
        isPowerOfTwo(value)
            ? (value < 0 ? "-2^" : "2^") + Math.getExponent(value)
            : Double.toHexString(value);
    return exact + String.format(Locale.ROOT, " ≈ %.3e", value);
  }

  /** Whether nobody would read all digits of a double. */
  static boolean isLong(double value) {
    return Double.isFinite(value)
        && new BigDecimal(value).stripTrailingZeros().precision()
            > (isPowerOfTwo(value) ? MOST_DIGITS_OF_A_POWER : MOST_DIGITS);
  }

  /** Whether a double is normal and has no bit but the hidden one. */
  private static boolean isPowerOfTwo(double value) {
    return Math.abs(value) >= Double.MIN_NORMAL
        && (Double.doubleToRawLongBits(value) & 0xF_FFFF_FFFF_FFFFL) == 0;
  }

  /** A double in decimal, to the last digit. */
  static String decimal(double value) {
    if (Double.isNaN(value)) {
      return "NaN";
    }
    if (Double.isInfinite(value)) {
      return value > 0 ? "+Inf" : "-Inf";
    }
    if (value == 0) {
      return 1 / value < 0 ? "-0" : "0";
    }
    BigDecimal exact = new BigDecimal(value).stripTrailingZeros();
    // Powers of ten are written out as long as that is shorter to read.
    return exact.scale() < 0 && exact.precision() - exact.scale() <= 16
        ? exact.toPlainString()
        : exact.toString();
  }
}
