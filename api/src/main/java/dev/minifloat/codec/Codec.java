package dev.minifloat.codec;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;

/**
 * Exact encoding and decoding of single elements: the definition that every backend's conversions
 * are compared with.
 *
 * <p>A code is an element's bit pattern in the low {@link DType#bits()} bits of an int:
 *
 * <pre>
 *   sign | exponent (exponentBits) | trailing significand (mantissaBits)
 * </pre>
 *
 * {@link DType#F8_E8M0} has neither sign nor significand; integers are two's complement.
 */
public final class Codec {
  /** What every decoder gives for a NaN, under the NaN's sign. */
  public static final int CANONICAL_NAN = 0x7FC00000;

  private static final int DOUBLE_MANTISSA = 52;
  private static final long DOUBLE_HIDDEN = 1L << DOUBLE_MANTISSA;

  private Codec() {}

  /**
   * The value of a code: exact for all types but {@link DType#I32}, whose integers are rounded to
   * nearest even. NaN decodes to {@code sign | 7FC00000}.
   */
  public static float decode(DType dtype, int code) {
    if (dtype == DType.F32) {
      float value = Float.intBitsToFloat(code);
      return Float.isNaN(value) ? Float.intBitsToFloat((code & 0x80000000) | CANONICAL_NAN) : value;
    }
    if (dtype.isInteger()) {
      return signExtend(dtype, code);
    }
    if (dtype == DType.F8_E8M0) {
      int exponent = code & 0xFF;
      return exponent == 0xFF ? Float.NaN : Math.scalb(1f, exponent - 127);
    }
    int mantissaBits = dtype.mantissaBits();
    int magnitude = code & (dtype.codeMask() >>> 1);
    int sign = ((code >>> (dtype.bits() - 1)) & 1) << 31;
    if (isNaNMagnitude(dtype, magnitude)) {
      return Float.intBitsToFloat(sign | CANONICAL_NAN);
    }
    if (dtype.hasInfinity() && magnitude == infinityCode(dtype)) {
      return Float.intBitsToFloat(sign | 0x7F800000);
    }
    int exponent = magnitude >>> mantissaBits;
    int fraction = magnitude & ((1 << mantissaBits) - 1);
    int significand = exponent == 0 ? fraction : fraction | (1 << mantissaBits);
    // A significand of at most 11 bits and a power of two not below 2^-133: exact in F32.
    float value =
        Math.scalb((float) significand, Math.max(exponent, 1) - dtype.bias() - mantissaBits);
    return Float.intBitsToFloat(Float.floatToRawIntBits(value) | sign);
  }

  /** As {@link #decode}, exact for {@link DType#I32} too; a NaN keeps its sign. */
  public static double decodeDouble(DType dtype, int code) {
    if (dtype == DType.I32) {
      return code;
    }
    float value = decode(dtype, code);
    if (Float.isNaN(value)) {
      // Some processors widen every NaN to a positive one.
      long sign = (long) (Float.floatToRawIntBits(value) >>> 31) << 63;
      return Double.longBitsToDouble(sign | 0x7FF8000000000000L);
    }
    return value;
  }

  /** Encodes with nearest-even rounding and the format's default overflow. */
  public static int encode(DType dtype, double value) {
    return encode(dtype, value, Rounding.NEAREST_EVEN, Overflow.defaultFor(dtype), 0);
  }

  /**
   * Rounds a value to a format in one step.
   *
   * <p>NaN gives, under its sign, 7FC00000 (F32), 7E00 (F16), 7FC0 (BF16), 7F (E4M3), 7E (E5M2); FF
   * for E8M0. Formats without a NaN give, whatever its sign, +max (F6 and F4, as CUDA's headers do)
   * or 0 (integers). E8M0 encodes the magnitude; what is not above 2^-127 gives code 00.
   *
   * @param value any F64; an F32 is widened without loss
   * @param index row-major index of the element, read with stochastic rounding only
   * @return the code
   */
  public static int encode(
      DType dtype, double value, Rounding rounding, Overflow overflow, long index) {
    int random = rounding instanceof Rounding.Stochastic(long seed) ? Philox.bits(seed, index) : 0;
    return encodeWithBits(dtype, value, rounding, overflow, random);
  }

  /**
   * As {@link #encode}, with the random bits themselves: under stochastic rounding the magnitude
   * grows exactly if {@code random}, as an unsigned number, is less than ⌊2^32 · discarded fraction
   * of an ulp⌋.
   */
  public static int encodeWithBits(
      DType dtype, double value, Rounding rounding, Overflow overflow, int random) {
    if (dtype.isInteger()) {
      return encodeInteger(dtype, value, rounding, random);
    }
    long bits = Double.doubleToRawLongBits(value);
    boolean negative = bits < 0 && dtype.isSigned();
    int sign = negative ? 1 << (dtype.bits() - 1) : 0;
    if (Double.isNaN(value)) {
      return dtype.hasNaN() ? sign | nanCode(dtype) : nanCode(dtype);
    }
    double magnitude = Math.abs(value);
    if (magnitude == Double.POSITIVE_INFINITY) {
      return sign | overflowCode(dtype, overflow);
    }
    long code =
        dtype == DType.F8_E8M0
            ? roundPowerOfTwo(magnitude, rounding, random)
            : roundMagnitude(dtype, magnitude, negative, rounding, random);
    if (code <= maxCode(dtype)) {
      return sign | (int) code;
    }
    boolean towardZero =
        rounding.equals(Rounding.TOWARD_ZERO)
            || (negative && rounding.equals(Rounding.TOWARD_POSITIVE));
    return sign | (towardZero ? maxCode(dtype) : overflowCode(dtype, overflow));
  }

  /**
   * The code of a magnitude as if the format's exponent range had no end.
   *
   * <p>With q the exponent of an ulp at this magnitude (held at the subnormals' from there on
   * down), the kept part is ⌊magnitude / 2^q⌋; adding it to (steps above the subnormals) &lt;&lt;
   * mantissaBits gives the code of normals and subnormals alike, since the hidden bit carries into
   * the exponent field.
   */
  private static long roundMagnitude(
      DType dtype, double magnitude, boolean negative, Rounding rounding, int random) {
    if (magnitude == 0) {
      return 0;
    }
    long bits = Double.doubleToRawLongBits(magnitude);
    int field = (int) (bits >>> DOUBLE_MANTISSA);
    long significand = (bits & (DOUBLE_HIDDEN - 1)) | (field == 0 ? 0 : DOUBLE_HIDDEN);
    int exponent = Math.max(field, 1) - 1023;
    int lowest = 1 - dtype.bias();
    int held = Math.max(exponent, lowest);
    int discarded = DOUBLE_MANTISSA - dtype.mantissaBits() + (held - exponent);
    long kept = discarded > 63 ? 0 : significand >>> discarded;
    boolean up = roundsUp(significand, discarded, (kept & 1) != 0, negative, rounding, random);
    return kept + ((long) (held - lowest) << dtype.mantissaBits()) + (up ? 1 : 0);
  }

  private static long roundPowerOfTwo(double magnitude, Rounding rounding, int random) {
    if (magnitude <= 0x1p-127) {
      return 0;
    }
    long bits = Double.doubleToRawLongBits(magnitude);
    long code = (bits >>> DOUBLE_MANTISSA) - 1023 + 127;
    boolean odd = (code & 1) != 0;
    boolean up =
        roundsUp(bits & (DOUBLE_HIDDEN - 1), DOUBLE_MANTISSA, odd, false, rounding, random);
    return code + (up ? 1 : 0);
  }

  private static int encodeInteger(DType dtype, double value, Rounding rounding, int random) {
    if (Double.isNaN(value)) {
      return 0;
    }
    double low = Math.floor(value);
    double rounded =
        switch (rounding) {
          case Rounding.Mode.NEAREST_EVEN -> Math.rint(value);
          case Rounding.Mode.TOWARD_ZERO -> value < 0 ? Math.ceil(value) : low;
          case Rounding.Mode.TOWARD_POSITIVE -> Math.ceil(value);
          case Rounding.Stochastic _ -> {
            double magnitude = Math.abs(value);
            double whole = Math.floor(magnitude);
            long threshold = (long) ((magnitude - whole) * 0x1p32);
            double drawn = whole + (Integer.toUnsignedLong(random) < threshold ? 1 : 0);
            yield value < 0 ? -drawn : drawn;
          }
        };
    double max = dtype.max();
    return (int) Math.max(-max - 1, Math.min(max, rounded)) & dtype.codeMask();
  }

  /** Whether the magnitude grows, given the significand whose low {@code discarded} bits go. */
  private static boolean roundsUp(
      long significand,
      int discarded,
      boolean odd,
      boolean negative,
      Rounding rounding,
      int random) {
    // Past 63 bits everything is discarded and lies below half an ulp.
    long rest = discarded > 63 ? significand : significand & ((1L << discarded) - 1);
    if (rest == 0) {
      return false;
    }
    return switch (rounding) {
      case Rounding.Mode.NEAREST_EVEN -> {
        if (discarded > 63) {
          yield false;
        }
        long half = 1L << (discarded - 1);
        yield rest > half || (rest == half && odd);
      }
      case Rounding.Mode.TOWARD_ZERO -> false;
      case Rounding.Mode.TOWARD_POSITIVE -> !negative;
      case Rounding.Stochastic _ -> {
        long threshold =
            discarded <= 32
                ? rest << (32 - discarded)
                : discarded - 32 > 63 ? 0 : rest >>> (discarded - 32);
        yield Integer.toUnsignedLong(random) < threshold;
      }
    };
  }

  /** The code of positive infinity; only for formats that have it. */
  private static int infinityCode(DType dtype) {
    return ((1 << dtype.exponentBits()) - 1) << dtype.mantissaBits();
  }

  /** The code of the largest finite value. */
  public static int maxCode(DType dtype) {
    if (dtype == DType.F8_E8M0) {
      return 0xFE;
    }
    if (dtype.isInteger()) {
      return (int) dtype.max();
    }
    if (dtype.hasInfinity()) {
      return infinityCode(dtype) - 1;
    }
    int magnitudes = dtype.codeMask() >>> 1;
    return dtype.hasNaN() ? magnitudes - 1 : magnitudes;
  }

  /** The code of the canonical NaN, the largest value for formats without one, 0 for integers. */
  public static int nanCode(DType dtype) {
    return switch (dtype) {
      case F32 -> CANONICAL_NAN;
      case F16 -> 0x7E00;
      case BF16 -> 0x7FC0;
      case F8_E4M3 -> 0x7F;
      case F8_E5M2 -> 0x7E;
      case F8_E8M0 -> 0xFF;
      case F6_E2M3, F6_E3M2, F4_E2M1 -> maxCode(dtype);
      case I8, I4, I32 -> 0;
    };
  }

  /** Whether a code is a NaN of its format. */
  public static boolean isNaN(DType dtype, int code) {
    if (!dtype.hasNaN()) {
      return false;
    }
    return dtype == DType.F8_E8M0
        ? (code & 0xFF) == 0xFF
        : isNaNMagnitude(dtype, code & (dtype.codeMask() >>> 1));
  }

  private static boolean isNaNMagnitude(DType dtype, int magnitude) {
    return dtype.hasNaN() && magnitude > maxCode(dtype) + (dtype.hasInfinity() ? 1 : 0);
  }

  private static int overflowCode(DType dtype, Overflow overflow) {
    return switch (overflow) {
      case SATURATE -> maxCode(dtype);
      case IEEE -> dtype.hasInfinity() ? infinityCode(dtype) : nanCode(dtype);
    };
  }

  private static int signExtend(DType dtype, int code) {
    int unused = 32 - dtype.bits();
    return code << unused >> unused;
  }
}
