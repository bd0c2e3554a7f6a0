package dev.minifloat.formats;

import dev.minifloat.DType;
import dev.minifloat.Shape;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The element types that files hold: every dtype of safetensors, and the types of 2 and 4 bits that
 * only ONNX has.
 *
 * <p>Those with a {@link #dtype()} can be computed with as they are; the others are read, converted
 * and inspected. Multi-byte elements are little-endian. Elements narrower than a byte are packed
 * without gaps, least significant bits first, so that two 4-bit elements share a byte with the
 * first in the low nibble (ONNX, {@code TensorProto.raw_data}), and four 6-bit elements share three
 * bytes.
 *
 * <p>The constants stand in the order of the reference implementation of safetensors, which lays
 * out a file by falling alignment, that is by falling ordinal.
 *
 * <p>Sources: safetensors' {@code Dtype}; ONNX's {@code TensorProto.DataType}; for the FNUZ types,
 * <a href="https://arxiv.org/abs/2206.02915">8-bit Numerical Formats for Deep Neural Networks</a>;
 * for the rest see {@link DType}.
 */
public enum StorageType {
  /** 0 … 3, four in a byte; ONNX only. */
  U2(2, null, 25, null),
  /** Two's complement, −2 … 1, four in a byte; ONNX only. */
  I2(2, null, 26, null),
  /** 0 … 15, two in a byte; ONNX only. */
  U4(4, null, 21, null),
  /** Two's complement, −8 … 7, two in a byte; ONNX only. */
  I4(4, null, 22, DType.I4),
  /** A byte: 0 is false, 1 is true; other values decode to themselves. */
  BOOL(8, "BOOL", 9, null),
  /** MX E2M1, two in a byte. */
  F4(4, "F4", 23, DType.F4_E2M1),
  /** MX E2M3, four in three bytes. */
  F6_E2M3(6, "F6_E2M3", -1, DType.F6_E2M3),
  /** MX E3M2, four in three bytes. */
  F6_E3M2(6, "F6_E3M2", -1, DType.F6_E3M2),
  /** 0 … 255. */
  U8(8, "U8", 2, null),
  /** Two's complement, −128 … 127. */
  I8(8, "I8", 3, DType.I8),
  /** OFP8 E5M2. */
  F8_E5M2(8, "F8_E5M2", 19, DType.F8_E5M2),
  /** OFP8 E4M3, the "fn" variant: no infinity. */
  F8_E4M3(8, "F8_E4M3", 17, DType.F8_E4M3),
  /** A power of two from 2^-127 to 2^127; FF is NaN. */
  F8_E8M0(8, "F8_E8M0", 24, DType.F8_E8M0),
  /** E4M3 with bias 8: no infinity, no −0; 80 is the only NaN, 240 the largest value. */
  F8_E4M3FNUZ(8, "F8_E4M3FNUZ", 18, null),
  /** E5M2 with bias 16: no infinity, no −0; 80 is the only NaN, 57344 the largest value. */
  F8_E5M2FNUZ(8, "F8_E5M2FNUZ", 20, null),
  /** Two's complement. */
  I16(16, "I16", 5, null),
  /** 0 … 65535. */
  U16(16, "U16", 4, null),
  /** IEEE 754 binary16. */
  F16(16, "F16", 10, DType.F16),
  /** The upper half of a binary32. */
  BF16(16, "BF16", 16, DType.BF16),
  /** Two's complement. */
  I32(32, "I32", 6, DType.I32),
  /** 0 … 2^32 − 1. */
  U32(32, "U32", 12, null),
  /** IEEE 754 binary32. */
  F32(32, "F32", 1, DType.F32),
  /** A complex number: two binary32, real part first. */
  C64(64, "C64", 14, null),
  /** IEEE 754 binary64. */
  F64(64, "F64", 11, null),
  /** Two's complement. */
  I64(64, "I64", 7, null),
  /** 0 … 2^64 − 1. */
  U64(64, "U64", 13, null);

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int bits;
  private final String safetensorsName;
  private final int onnxNumber;
  private final DType dtype;

  StorageType(int bits, String safetensorsName, int onnxNumber, DType dtype) {
    this.bits = bits;
    this.safetensorsName = safetensorsName;
    this.onnxNumber = onnxNumber;
    this.dtype = dtype;
  }

  /** Width of one element in bits: 2, 4, 6, 8, 16, 32 or 64. */
  public int bits() {
    return bits;
  }

  /** The compute type of the same bits and the same meaning, if there is one. */
  public Optional<DType> dtype() {
    return Optional.ofNullable(dtype);
  }

  /** How a safetensors header names this type; empty for the types that only ONNX has. */
  public Optional<String> safetensorsName() {
    return Optional.ofNullable(safetensorsName);
  }

  /** The number in ONNX's {@code TensorProto.DataType}, if there is one. */
  public OptionalInt onnxNumber() {
    return onnxNumber < 0 ? OptionalInt.empty() : OptionalInt.of(onnxNumber);
  }

  /** The file type that holds elements of {@code dtype} bit for bit. */
  public static StorageType of(DType dtype) {
    return switch (dtype) {
      case F32 -> F32;
      case F16 -> F16;
      case BF16 -> BF16;
      case F8_E4M3 -> F8_E4M3;
      case F8_E5M2 -> F8_E5M2;
      case F8_E8M0 -> F8_E8M0;
      case F6_E2M3 -> F6_E2M3;
      case F6_E3M2 -> F6_E3M2;
      case F4_E2M1 -> F4;
      case I8 -> I8;
      case I4 -> I4;
      case I32 -> I32;
    };
  }

  /** The type that a safetensors header calls {@code name}; case counts. */
  public static Optional<StorageType> ofSafetensors(String name) {
    for (StorageType type : values()) {
      if (name.equals(type.safetensorsName)) {
        return Optional.of(type);
      }
    }
    return Optional.empty();
  }

  /** The type of a number of ONNX's {@code TensorProto.DataType}. */
  public static Optional<StorageType> ofOnnx(int number) {
    for (StorageType type : values()) {
      if (number == type.onnxNumber && number >= 0) {
        return Optional.of(type);
      }
    }
    return Optional.empty();
  }

  /**
   * Bytes that the packed elements of a tensor occupy, the last byte perhaps in part.
   *
   * @throws IllegalArgumentException if the size passes 2^63 − 1
   */
  public long byteSize(Shape shape) {
    long elements = shape.elements();
    long inBytes = elements / 8;
    try {
      return Math.addExact(Math.multiplyExact(inBytes, (long) bits), (elements % 8 * bits + 7) / 8);
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(
          "shape: " + shape + " of " + this + " has more bytes than a long can count", e);
    }
  }

  /** Whether the elements of a tensor end at the end of a byte. */
  boolean fillsBytes(Shape shape) {
    return shape.elements() % 8 * bits % 8 == 0;
  }

  /**
   * The bits of one element, zero-extended: what the file holds, uninterpreted.
   *
   * @param data packed elements of this type, at any alignment
   * @param index which element, from 0
   * @throws IndexOutOfBoundsException if {@code data} has no such element
   */
  public long code(MemorySegment data, long index) {
    return switch (bits) {
      case 64 -> data.get(LONG, Math.multiplyExact(index, 8L));
      case 32 -> data.get(PackedElements.INT, Math.multiplyExact(index, 4L)) & 0xFFFF_FFFFL;
      case 16 -> data.get(PackedElements.SHORT, Math.multiplyExact(index, 2L)) & 0xFFFFL;
      case 8 -> data.get(ValueLayout.JAVA_BYTE, index) & 0xFFL;
      default -> narrowCode(data, index);
    };
  }

  /** An element of fewer than 8 bits; a 6-bit one may straddle two bytes. */
  private long narrowCode(MemorySegment data, long index) {
    // Eight elements fill `bits` whole bytes, so no product here can overflow for a valid index;
    // the shift and the mask, unlike division, leave a negative index negative.
    long bit = (index & 7) * bits;
    long at = Math.addExact(Math.multiplyExact(index >> 3, (long) bits), bit / 8);
    int shift = (int) (bit % 8);
    int code = (data.get(ValueLayout.JAVA_BYTE, at) & 0xFF) >>> shift;
    if (shift + bits > 8) {
      code |= (data.get(ValueLayout.JAVA_BYTE, at + 1) & 0xFF) << (8 - shift);
    }
    return code & ((1 << bits) - 1);
  }

  /**
   * The value of one element.
   *
   * <p>Exact for every type, with two exceptions: 64-bit integers beyond ±2^53 are rounded to the
   * nearest double ({@link #code} has all their bits), and of a complex number this is the real
   * part. A NaN is some NaN.
   *
   * @param data packed elements of this type, at any alignment
   * @param index which element, from 0
   * @throws IndexOutOfBoundsException if {@code data} has no such element
   */
  public double decode(MemorySegment data, long index) {
    return decode(code(data, index));
  }

  /** The imaginary part of one element: 0 for all types but {@link #C64}. */
  public double decodeImaginary(MemorySegment data, long index) {
    long code = code(data, index);
    return this == C64 ? Float.intBitsToFloat((int) (code >>> 32)) : 0;
  }

  /**
   * The value of an element's bits, as {@link #decode(MemorySegment, long)} has it.
   *
   * @param code the element's bits, as {@link #code} gives them
   */
  public double decode(long code) {
    return switch (this) {
      case U2, U4, BOOL, U8, U16, U32 -> code;
      case I2, I16, I64 -> (code << (64 - bits)) >> (64 - bits);
      case U64 -> unsignedToDouble(code);
      case F64 -> Double.longBitsToDouble(code);
      case C64 -> Float.intBitsToFloat((int) code);
      case F8_E4M3FNUZ -> decodeFnuz(code, 4, 3, 8);
      case F8_E5M2FNUZ -> decodeFnuz(code, 5, 2, 16);
      case I4, I8, I32, F4, F6_E2M3, F6_E3M2, F8_E5M2, F8_E4M3, F8_E8M0, F16, BF16, F32 ->
          Codec.decodeDouble(dtype, (int) code);
    };
  }

  /**
   * A byte laid out as sign | exponent | mantissa, in which 80, elsewhere −0, is the one NaN and
   * all other codes are finite: (−1)^sign · (mantissa + hidden bit) · 2^(max(exponent, 1) − bias −
   * mantissaBits). An exponent field of 0 has no hidden bit (zero and the subnormals) and the scale
   * of field 1.
   */
  private static double decodeFnuz(long code, int exponentBits, int mantissaBits, int bias) {
    if (code == 0x80) {
      return Double.NaN;
    }
    int mantissa = (int) code & ((1 << mantissaBits) - 1);
    int exponent = (int) (code >>> mantissaBits) & ((1 << exponentBits) - 1);
    int significand = exponent == 0 ? mantissa : mantissa | (1 << mantissaBits);
    double magnitude =
        Math.scalb((double) significand, Math.max(exponent, 1) - bias - mantissaBits);
    return code < 0x80 ? magnitude : -magnitude;
  }

  /**
   * Nearest double of an unsigned 64-bit integer. Values of 2^63 and more are halved first; the bit
   * that halving drops stays as a sticky bit, far below the rounding position, so that ties remain
   * ties and nothing else becomes one.
   */
  private static double unsignedToDouble(long value) {
    return value >= 0 ? (double) value : (double) ((value >>> 1) | (value & 1)) * 2;
  }
}
