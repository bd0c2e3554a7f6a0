package dev.minifloat.cuda.sim.internal.numeric;

/**
 * Binary floating point formats of 32 bits or fewer.
 *
 * <pre>
 *   sign | exponent (e bits, biased) | fraction (f bits)      value = ±1.fraction · 2^(exponent − bias)
 *                                                             exponent 0: ±0.fraction · 2^(1 − bias)
 * </pre>
 *
 * <p>F16, BF16, TF32, F32 and E5M2 have infinities and NaNs in their largest exponent (IEEE
 * 754-2019 §3.4, OCP 8-bit §5); E4M3 has NaN in the one code with all bits set; the others have
 * neither (OCP MX 1.0 §5.3).
 */
public enum FloatFormat {
  F32(8, 23, Specials.IEEE, 0x7FFF_FFFF),
  TF32(8, 10, Specials.IEEE, 0x3_FFFF),
  F16(5, 10, Specials.IEEE, 0x7FFF),
  BF16(8, 7, Specials.IEEE, 0x7FFF),
  E5M2(5, 2, Specials.IEEE, 0x7F),
  E4M3(4, 3, Specials.NAN_ONLY, 0x7F),
  E3M2(3, 2, Specials.NONE, 0x1F),
  E2M3(2, 3, Specials.NONE, 0x1F),
  E2M1(2, 1, Specials.NONE, 0x7);

  private enum Specials {
    IEEE,
    NAN_ONLY,
    NONE
  }

  private final int exponentBits;
  private final int fractionBits;
  private final int bias;
  private final Specials specials;
  private final int nan;
  private final int largest;

  FloatFormat(int exponentBits, int fractionBits, Specials specials, int nan) {
    this.exponentBits = exponentBits;
    this.fractionBits = fractionBits;
    this.bias = (1 << (exponentBits - 1)) - 1;
    this.specials = specials;
    this.nan = nan;
    int all = (1 << (exponentBits + fractionBits)) - 1;
    this.largest =
        switch (specials) {
          case IEEE -> all - (1 << fractionBits);
          case NAN_ONLY -> all - 1;
          case NONE -> all;
        };
  }

  /** Bits of a code. */
  public int bits() {
    return 1 + exponentBits + fractionBits;
  }

  public int fractionBits() {
    return fractionBits;
  }

  /** The exponent of its smallest normal number, which subnormals have too. */
  public int minExponent() {
    return 1 - bias;
  }

  /** The code of the NaN that instructions produce; of the largest number if there is no NaN. */
  public int nan() {
    return nan;
  }

  private int signBit() {
    return 1 << (exponentBits + fractionBits);
  }

  private int magnitudeMask() {
    return signBit() - 1;
  }

  public boolean isNan(int code) {
    int magnitude = code & magnitudeMask();
    return switch (specials) {
      case IEEE -> magnitude > largest + 1;
      case NAN_ONLY -> magnitude > largest;
      case NONE -> false;
    };
  }

  public boolean isInfinite(int code) {
    return specials == Specials.IEEE && (code & magnitudeMask()) == largest + 1;
  }

  /** Whether a code's number is below the normal ones, and not zero. */
  public boolean isSubnormal(int code) {
    int magnitude = code & magnitudeMask();
    return magnitude != 0 && magnitude >>> fractionBits == 0;
  }

  /** A code's number; every one is a double. */
  public double decode(int code) {
    double magnitude;
    if (isNan(code)) {
      return Double.NaN;
    }
    if (isInfinite(code)) {
      magnitude = Double.POSITIVE_INFINITY;
    } else {
      magnitude = Math.scalb((double) significand(code), exponent(code) - fractionBits);
    }
    return (code & signBit()) != 0 ? -magnitude : magnitude;
  }

  /** The exponent of a finite code; subnormals and zeros have the smallest. */
  public int exponent(int code) {
    return Math.max((code & magnitudeMask()) >>> fractionBits, 1) - bias;
  }

  /**
   * The significand of a finite code without its sign: {@code fractionBits} bits after the point.
   */
  public int significand(int code) {
    int magnitude = code & magnitudeMask();
    int fraction = magnitude & (1 << fractionBits) - 1;
    return magnitude >>> fractionBits == 0 ? fraction : fraction | 1 << fractionBits;
  }

  /**
   * The code of a number.
   *
   * @param value the number: exact, or rounded to odd (see {@link Exact})
   * @param saturate whether infinities and what overflows become the largest finite number; formats
   *     without an infinity always do so
   */
  public int encode(double value, Rounding rounding, boolean saturate) {
    if (Double.isNaN(value)) {
      return nan;
    }
    boolean negative = Double.doubleToRawLongBits(value) < 0;
    int sign = negative ? signBit() : 0;
    double magnitude = Math.abs(value);
    if (Double.isInfinite(magnitude)) {
      return sign | (saturate || specials != Specials.IEEE ? largest : largest + 1);
    }
    if (magnitude == 0) {
      return sign;
    }
    int exponent = Math.max(Math.getExponent(magnitude), minExponent());
    // In units of the last place: below 2^(fractionBits + 1), and exact.
    double scaled = Math.scalb(magnitude, fractionBits - exponent);
    long kept = (long) scaled;
    double dropped = scaled - kept;
    boolean half = dropped >= 0.5;
    boolean rest = half ? dropped > 0.5 : dropped > 0;
    if (rounding.up(negative, (kept & 1) != 0, half, rest)) {
      kept++;
    }
    // A carry out of the fraction goes into the exponent, as it should.
    long code = ((long) (exponent - minExponent()) << fractionBits) + kept;
    if (code > largest) {
      return sign | overflow(negative, rounding, saturate);
    }
    return sign | (int) code;
  }

  private int overflow(boolean negative, Rounding rounding, boolean saturate) {
    if (saturate || specials != Specials.IEEE) {
      return largest;
    }
    boolean infinite =
        switch (rounding) {
          case NEAREST_EVEN, NEAREST_AWAY -> true;
          case ZERO -> false;
          case DOWN -> negative;
          case UP -> !negative;
        };
    return infinite ? largest + 1 : largest;
  }
}
