package dev.minifloat.cpu.internal.convert;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.codec.Codec;

/**
 * The constants of a float format of at most 16 bits, as vector code on the bits of an F32 needs
 * them.
 *
 * <pre>
 *   code:  sign | exponent, bias b | m bits          magnitude = code without its sign
 *   F32:   sign | exponent, bias 127 | 23 bits
 * </pre>
 *
 * @param bits width of a code
 * @param mantissaBits m
 * @param magnitudeMask all bits of a code but the sign
 * @param shift 23 − m: from a code's magnitude to its place in an F32
 * @param rebias what is added to a normal magnitude's exponent, (127 − b) &lt;&lt; 23
 * @param lowest the F32 exponent field of the smallest normal value
 * @param maxCode the code of the largest finite value
 * @param infinityCode the code of Inf, or one above every code where there is none
 * @param nanAbove magnitudes above this are NaN; above every code where there is none
 * @param nanCode what encoding a NaN gives, but for the sign
 * @param nanSigns all ones if a NaN's code takes the sign; 0 where +max stands for NaN
 */
public record FloatFormat(
    int bits,
    int mantissaBits,
    int magnitudeMask,
    int shift,
    int rebias,
    int lowest,
    int maxCode,
    int infinityCode,
    int nanAbove,
    int nanCode,
    int nanSigns) {

  /** Above the code of any format. */
  private static final int NEVER = 1 << 20;

  static final FloatFormat F16 = of(DType.F16);
  static final FloatFormat BF16 = of(DType.BF16);
  public static final FloatFormat F8_E4M3 = of(DType.F8_E4M3);
  static final FloatFormat F8_E5M2 = of(DType.F8_E5M2);
  static final FloatFormat F8_E8M0 = of(DType.F8_E8M0);
  static final FloatFormat F6_E2M3 = of(DType.F6_E2M3);
  static final FloatFormat F6_E3M2 = of(DType.F6_E3M2);
  static final FloatFormat F4_E2M1 = of(DType.F4_E2M1);

  private static FloatFormat of(DType dtype) {
    int m = dtype.mantissaBits();
    int max = Codec.maxCode(dtype);
    return new FloatFormat(
        dtype.bits(),
        m,
        dtype.isSigned() ? dtype.codeMask() >>> 1 : dtype.codeMask(),
        23 - m,
        (127 - dtype.bias()) << 23,
        dtype.isSigned() ? 128 - dtype.bias() : 1,
        max,
        dtype.hasInfinity() ? max + 1 : NEVER,
        dtype.hasNaN() ? max + (dtype.hasInfinity() ? 1 : 0) : NEVER,
        Codec.nanCode(dtype),
        dtype.hasNaN() ? -1 : 0);
  }

  /** The format of a type; not F32, not an integer. */
  static FloatFormat of16Bits(DType dtype) {
    return switch (dtype) {
      case F16 -> F16;
      case BF16 -> BF16;
      case F8_E4M3 -> F8_E4M3;
      case F8_E5M2 -> F8_E5M2;
      case F8_E8M0 -> F8_E8M0;
      case F6_E2M3 -> F6_E2M3;
      case F6_E3M2 -> F6_E3M2;
      case F4_E2M1 -> F4_E2M1;
      case F32, I8, I4, I32 ->
          throw new IllegalArgumentException("dtype: " + dtype + " is no float below 32 bits");
    };
  }

  /** The code that overflow gives, but for the sign. */
  int overflowCode(Overflow overflow) {
    return switch (overflow) {
      case SATURATE -> maxCode;
      case IEEE -> infinityCode != NEVER ? infinityCode : nanCode;
    };
  }
}
