package dev.minifloat.cpu.internal;

import static dev.minifloat.cpu.internal.Species.BYTE;
import static dev.minifloat.cpu.internal.Species.BYTE_REACH;
import static dev.minifloat.cpu.internal.Species.FLOAT;
import static dev.minifloat.cpu.internal.Species.INT;
import static dev.minifloat.cpu.internal.Species.LANES;
import static dev.minifloat.cpu.internal.Species.LE;
import static dev.minifloat.cpu.internal.Species.SHORT;

import dev.minifloat.DType;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.HostStorage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;

/**
 * Runs of elements decoded to F32: exact, with the same bits as {@link
 * dev.minifloat.codec.Codec#decode} (I32 rounds to nearest even; NaN becomes sign | 7FC00000).
 *
 * <p>Sources and targets are native segments that do not overlap. A run may start anywhere, inside
 * a byte too, and have any length; nothing outside of it is written, and nothing outside of the
 * segments read.
 *
 * <p>Loops hold their bodies, for the reason that {@link FloatRounding} gives.
 */
public final class Decoders {
  private static final int SIGN = 0x80000000;
  private static final int INFINITY = 0x7F800000;
  private static final int NAN = 0x7FC00000;

  private Decoders() {}

  /** Decodes elements {@code first … first + count − 1}, without scales, to F32 at {@code dst}. */
  public static void decode(
      HostStorage s, long first, int count, MemorySegment dst, long dstOffsetBytes) {
    decode(s.dtype(), s.data(), first, count, dst, dstOffsetBytes);
  }

  /** As {@link #decode(HostStorage, long, int, MemorySegment, long)}, of packed elements. */
  public static void decode(
      DType dtype, MemorySegment data, long first, int count, MemorySegment dst, long to) {
    int done =
        switch (dtype) {
          case F32 -> f32(data, first * 4, count, dst, to);
          case BF16 -> bf16(data, first * 2, count, dst, to);
          case F16 -> floats(FloatFormat.F16, data, first * 2, count, dst, to);
          case I32 -> i32(data, first * 4, count, dst, to);
          case F8_E4M3, F8_E5M2, F8_E8M0, I8 -> bytes(dtype, data, first, count, dst, to);
          case F6_E2M3, F6_E3M2, F4_E2M1, I4 -> {
            // The codes wait, one a byte, in the last quarter of the target: value i is written to
            // bytes 4i …, which never overtake the codes still to be read from 3·count + i on.
            long codes = to + 3L * count;
            PackedCodes.unpack(dtype, data, first, count, dst, codes);
            int vectorised = bytes(dtype, dst, codes, count, dst, to);
            for (int i = vectorised; i < count; i++) {
              int code = dst.get(ValueLayout.JAVA_BYTE, codes + i);
              dst.set(PackedElements.FLOAT, to + 4L * i, Tables.decodeNarrow(dtype, code));
            }
            yield count;
          }
        };
    for (int i = done; i < count; i++) {
      dst.set(PackedElements.FLOAT, to + 4L * i, Tables.decode(dtype, data, first + i));
    }
  }

  private static int bytes(
      DType dtype, MemorySegment codes, long from, int count, MemorySegment dst, long to) {
    return switch (dtype) {
      case F8_E8M0 -> e8m0(codes, from, count, dst, to);
      case I8 -> i8(codes, from, count, dst, to);
      case I4 -> i4(codes, from, count, dst, to);
      case F8_E4M3, F8_E5M2, F6_E2M3, F6_E3M2, F4_E2M1 ->
          floats(FloatFormat.of16Bits(dtype), codes, from, count, dst, to);
      case F32, F16, BF16, I32 -> throw new IllegalArgumentException("dtype: " + dtype);
    };
  }

  /** F32 with its NaNs made canonical. */
  static int f32(MemorySegment data, long from, int count, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      IntVector bits = IntVector.fromMemorySegment(INT, data, from + 4L * i, LE);
      VectorMask<Integer> nan = bits.and(~SIGN).compare(VectorOperators.GT, INFINITY);
      bits.blend(bits.and(SIGN).or(NAN), nan).intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static int bf16(MemorySegment data, long from, int count, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      IntVector bits =
          ((IntVector)
                  ShortVector.fromMemorySegment(SHORT, data, from + 2L * i, LE)
                      .convertShape(VectorOperators.ZERO_EXTEND_S2I, INT, 0))
              .lanewise(VectorOperators.LSHL, 16);
      VectorMask<Integer> nan = bits.and(~SIGN).compare(VectorOperators.GT, INFINITY);
      bits.blend(bits.and(SIGN).or(NAN), nan).intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static IntVector shorts(MemorySegment data, long at) {
    return (IntVector)
        ShortVector.fromMemorySegment(SHORT, data, at, LE)
            .convertShape(VectorOperators.ZERO_EXTEND_S2I, INT, 0);
  }

  private static IntVector bytes(MemorySegment data, long at) {
    return (IntVector)
        ByteVector.fromMemorySegment(BYTE, data, at, LE)
            .convertShape(VectorOperators.ZERO_EXTEND_B2I, INT, 0);
  }

  /**
   * Small floats from codes of a byte or two. With e the exponent field, f the fraction:
   *
   * <pre>
   *   normal     (e − b + 127) | f                    one addition of (127 − b) &lt;&lt; 23
   *   subnormal  2^(1−b) · f = 2^(1−b) · 1.f − 2^(1−b)  no F32 subnormal takes part
   * </pre>
   */
  private static int floats(
      FloatFormat f, MemorySegment codes, long from, int count, MemorySegment dst, long to) {
    boolean wide = f.bits() > 8;
    int width = wide ? 2 : 1;
    int reach = wide ? LANES : BYTE_REACH;
    int one = f.rebias() + (1 << 23);
    int i = 0;
    for (; i <= count - reach; i += LANES) {
      long at = from + (long) width * i;
      IntVector code = wide ? shorts(codes, at) : bytes(codes, at);
      IntVector magnitude = code.and(f.magnitudeMask());
      IntVector placed = magnitude.lanewise(VectorOperators.LSHL, f.shift());
      IntVector subnormal =
          placed.add(one).reinterpretAsFloats().sub(Float.intBitsToFloat(one)).reinterpretAsInts();
      placed
          .add(f.rebias())
          .blend(subnormal, magnitude.compare(VectorOperators.LT, 1 << f.mantissaBits()))
          .blend(INFINITY, magnitude.compare(VectorOperators.EQ, f.infinityCode()))
          .blend(NAN, magnitude.compare(VectorOperators.GT, f.nanAbove()))
          .or(code.lanewise(VectorOperators.LSHL, 32 - f.bits()).and(SIGN))
          .intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static int e8m0(MemorySegment data, long from, int count, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= count - BYTE_REACH; i += LANES) {
      IntVector code = bytes(data, from + i);
      code.lanewise(VectorOperators.LSHL, 23)
          .blend(1 << 22, code.compare(VectorOperators.EQ, 0))
          .blend(NAN, code.compare(VectorOperators.EQ, 0xFF))
          .intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static int i8(MemorySegment data, long from, int count, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= count - BYTE_REACH; i += LANES) {
      ((FloatVector)
              ByteVector.fromMemorySegment(BYTE, data, from + i, LE)
                  .convertShape(VectorOperators.B2F, FLOAT, 0))
          .intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static int i4(MemorySegment codes, long from, int count, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= count - BYTE_REACH; i += LANES) {
      IntVector code = bytes(codes, from + i);
      IntVector value = code.lanewise(VectorOperators.XOR, 8).sub(8);
      ((FloatVector) value.convert(VectorOperators.I2F, 0)).intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  private static int i32(MemorySegment data, long from, int count, MemorySegment dst, long to) {
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      IntVector value = IntVector.fromMemorySegment(INT, data, from + 4L * i, LE);
      ((FloatVector) value.convert(VectorOperators.I2F, 0)).intoMemorySegment(dst, to + 4L * i, LE);
    }
    return i;
  }

  /**
   * Decodes elements to their values, scale × element as one F32 product (NVFP4: (s · g) ×
   * element). The run may cross rows; without scaling it is {@link #decode(HostStorage, long, int,
   * MemorySegment, long)}.
   */
  public static void decodeScaled(
      HostStorage s, long first, int count, MemorySegment dst, long dstOffsetBytes) {
    decode(s, first, count, dst, dstOffsetBytes);
    if (s.grid().scales() > 0) {
      ScaledRuns.multiply(s, first, count, dst, dstOffsetBytes);
    }
  }
}
