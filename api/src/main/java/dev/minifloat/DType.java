package dev.minifloat;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The element types that backends compute with.
 *
 * <p>Widths are in bits; {@link #F6_E2M3}, {@link #F6_E3M2}, {@link #F4_E2M1} and {@link #I4} are
 * packed without gaps: element {@code i} of a tensor, counted in row-major order, occupies bits
 * {@code i·bits() … (i + 1)·bits() − 1} of its data, least significant bit first. Two 4-bit
 * elements share a byte (the first in the low nibble); four 6-bit elements share three bytes.
 * Multi-byte elements are little-endian.
 *
 * <p>Sources: F32, F16: IEEE 754-2019 §3.4; E4M3, E5M2: OCP OFP8 1.0 §5; E8M0, E3M2, E2M3, E2M1:
 * OCP Microscaling Formats 1.0 §5.3. What files can hold beyond these is the business of the {@code
 * formats} module.
 */
public enum DType {
  /** IEEE 754 binary32. */
  F32(32, 8, 23, 127, Float.MAX_VALUE, true, true, "float32", "float", "fp32"),
  /** IEEE 754 binary16. */
  F16(16, 5, 10, 15, 65504, true, true, "float16", "half", "fp16"),
  /** The upper half of a binary32. */
  BF16(16, 8, 7, 127, 0x1.FEp127, true, true, "bfloat16"),
  /** OFP8 E4M3, the "fn" variant: no infinity, one NaN code a sign, largest value 448. */
  F8_E4M3(8, 4, 3, 7, 448, false, true, "float8_e4m3fn", "e4m3", "fp8", "fp8_e4m3"),
  /** OFP8 E5M2: infinities and NaNs as in IEEE 754. */
  F8_E5M2(8, 5, 2, 15, 57344, true, true, "float8_e5m2", "e5m2", "fp8_e5m2"),
  /** A power of two from 2^-127 (code 00) to 2^127 (FE); FF is NaN. No sign and no zero. */
  F8_E8M0(8, 8, 0, 127, 0x1p127, false, true, "float8_e8m0fnu", "e8m0", "ue8m0"),
  /** MX E2M3: largest value 7.5; neither infinity nor NaN. */
  F6_E2M3(6, 2, 3, 1, 7.5, false, false, "float6_e2m3fn", "e2m3", "fp6_e2m3"),
  /** MX E3M2: largest value 28; neither infinity nor NaN. */
  F6_E3M2(6, 3, 2, 3, 28, false, false, "float6_e3m2fn", "e3m2", "fp6_e3m2"),
  /** MX E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives. */
  F4_E2M1(4, 2, 1, 1, 6, false, false, "float4_e2m1fn", "e2m1", "fp4"),
  /** Two's complement, −128 … 127. */
  I8(8, 0, 0, 0, 127, false, false, "int8"),
  /** Two's complement, −8 … 7. */
  I4(4, 0, 0, 0, 7, false, false, "int4"),
  /** Two's complement; indices and lengths. */
  I32(32, 0, 0, 0, Integer.MAX_VALUE, false, false, "int32", "int");

  private final int bits;
  private final int exponentBits;
  private final int mantissaBits;
  private final int bias;
  private final double max;
  private final boolean hasInfinity;
  private final boolean hasNaN;
  private final List<String> aliases;

  DType(
      int bits,
      int exponentBits,
      int mantissaBits,
      int bias,
      double max,
      boolean hasInfinity,
      boolean hasNaN,
      String... aliases) {
    this.bits = bits;
    this.exponentBits = exponentBits;
    this.mantissaBits = mantissaBits;
    this.bias = bias;
    this.max = max;
    this.hasInfinity = hasInfinity;
    this.hasNaN = hasNaN;
    this.aliases = List.of(aliases);
  }

  /** Width of one element in bits: 4, 6, 8, 16 or 32. */
  public int bits() {
    return bits;
  }

  /** Width of the exponent field; 0 for integers. */
  public int exponentBits() {
    return exponentBits;
  }

  /** Width of the stored (trailing) significand; 0 for integers and {@link #F8_E8M0}. */
  public int mantissaBits() {
    return mantissaBits;
  }

  /** What is subtracted from the exponent field of a normal number; 0 for integers. */
  public int bias() {
    return bias;
  }

  /** The largest finite value. */
  public double max() {
    return max;
  }

  /**
   * The binary exponent of {@link #max()}, ⌊log2 max⌋: what OCP MX 1.0 calls emax (E4M3 8, E5M2 15,
   * E2M1 2, E3M2 4, E2M3 2).
   */
  public int maxExponent() {
    return Math.getExponent(max);
  }

  /** The smallest positive value with a full significand; 1 for integers. */
  public double minNormal() {
    if (isInteger()) {
      return 1;
    }
    return this == F8_E8M0 ? 0x1p-127 : Math.scalb(1.0, 1 - bias);
  }

  /**
   * The smallest positive value: the smallest subnormal, or {@link #minNormal()} where a format has
   * no subnormals.
   */
  public double minSubnormal() {
    return isInteger() || this == F8_E8M0 ? minNormal() : Math.scalb(1.0, 1 - bias - mantissaBits);
  }

  /** The distance from 1 to the next larger value, 2^-mantissaBits; 1 for integers. */
  public double epsilon() {
    return Math.scalb(1.0, -mantissaBits);
  }

  /** Whether the format has infinities. */
  public boolean hasInfinity() {
    return hasInfinity;
  }

  /** Whether the format has a NaN. */
  public boolean hasNaN() {
    return hasNaN;
  }

  /** Whether the format has a sign bit or is two's complement: all but {@link #F8_E8M0}. */
  public boolean isSigned() {
    return this != F8_E8M0;
  }

  /** I8, I4, I32. */
  public boolean isInteger() {
    return exponentBits == 0;
  }

  /** Everything but the integers. */
  public boolean isFloat() {
    return exponentBits != 0;
  }

  /** A mask of {@link #bits()} ones (all 32 for 32-bit types): what an element's code fits in. */
  public int codeMask() {
    return bits == 32 ? -1 : (1 << bits) - 1;
  }

  /** Other names that {@link #parse} understands, as PyTorch, ml_dtypes or papers use them. */
  public List<String> aliases() {
    return aliases;
  }

  /**
   * Bytes that {@code elements} packed elements occupy, the last byte perhaps in part.
   *
   * @throws IllegalArgumentException if {@code elements} is negative or the size passes 2^63 − 1
   */
  public long byteSize(long elements) {
    if (elements < 0) {
      throw new IllegalArgumentException("elements: " + elements + " is negative");
    }
    try {
      return switch (bits) {
        case 4 -> elements / 2 + (elements & 1);
        case 6 -> Math.addExact(Math.multiplyExact(elements / 4, 3L), (elements % 4 * 6 + 7) / 8);
        default -> Math.multiplyExact(elements, (long) (bits / 8));
      };
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(
          "elements: " + elements + " of " + this + " are more bytes than a long can count", e);
    }
  }

  /**
   * The type of a name or alias, case ignored: {@code f8_e4m3}, {@code float8_e4m3fn}, {@code
   * BF16}.
   *
   * @throws IllegalArgumentException if there is none, naming those there are
   */
  public static DType parse(String name) {
    String wanted = name.toLowerCase(Locale.ROOT);
    for (DType dtype : values()) {
      if (dtype.name().toLowerCase(Locale.ROOT).equals(wanted) || dtype.aliases.contains(wanted)) {
        return dtype;
      }
    }
    throw new IllegalArgumentException(
        "dtype: no type is called \"" + name + "\"; there are " + Arrays.toString(values()));
  }
}
