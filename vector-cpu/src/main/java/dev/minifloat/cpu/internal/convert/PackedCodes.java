package dev.minifloat.cpu.internal.convert;

import static dev.minifloat.codec.PackedElements.INT;
import static dev.minifloat.codec.PackedElements.SHORT;
import static dev.minifloat.cpu.internal.runtime.Exact.HALF_BYTES;
import static dev.minifloat.cpu.internal.runtime.Exact.SHORTS;
import static dev.minifloat.cpu.internal.runtime.Species.HALF_BYTE;
import static dev.minifloat.cpu.internal.runtime.Species.LE;
import static dev.minifloat.cpu.internal.runtime.Species.WIDE_SHORT;

import dev.minifloat.DType;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Codes of 4 and 6 bits to and from one code a byte: those of 4 bits a vector at a time, two in
 * each 16-bit lane, those of 6 bits eight at a time in a 64-bit word:
 *
 * <pre>
 *   4 bits:  bbbbaaaa  ↔  0000bbbb 0000aaaa
 *   6 bits:  hhhhhhgg ggggffff ffeeeeee …  ↔  00hhhhhh 00gggggg … 00bbbbbb 00aaaaaa
 * </pre>
 *
 * the latter by halving: fields of 4 codes move apart, then of 2, then of 1; or together, the other
 * way round.
 */
public final class PackedCodes {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private PackedCodes() {}

  /** Elements from which on every run of {@code dtype} starts at a byte: 2, 4 or 1. */
  public static int aligned(DType dtype) {
    return switch (dtype.bits()) {
      case 4 -> 2;
      case 6 -> 4;
      default -> 1;
    };
  }

  /** Unpacks elements {@code first … first + count − 1} to bytes at {@code dst}. */
  static void unpack(
      DType dtype, MemorySegment data, long first, int count, MemorySegment dst, long at) {
    int lead = (int) Math.min(count, -first & (aligned(dtype) - 1));
    for (int i = 0; i < lead; i++) {
      dst.set(ValueLayout.JAVA_BYTE, at + i, (byte) PackedElements.get(dtype, data, first + i));
    }
    long from = (first + lead) * dtype.bits() / 8;
    int done =
        lead
            + (dtype.bits() == 4
                ? unpack4(data, from, count - lead, dst, at + lead)
                : unpack6(data, from, (count - lead) & -8, dst, at + lead));
    for (int i = done; i < count; i++) {
      dst.set(ValueLayout.JAVA_BYTE, at + i, (byte) PackedElements.get(dtype, data, first + i));
    }
  }

  private static int unpack4(
      MemorySegment packed, long from, int count, MemorySegment dst, long at) {
    MemorySegment data = Segments.exact(packed);
    MemorySegment codes = Segments.exact(dst);
    int step = 2 * WIDE_SHORT.length();
    int i = 0;
    for (; i <= count - step; i += step) {
      ShortVector pairs =
          SHORTS.cast(
              ByteVector.fromMemorySegment(HALF_BYTE, data, from + (i >> 1), LE)
                  .convertShape(VectorOperators.ZERO_EXTEND_B2S, WIDE_SHORT, 0));
      pairs
          .or(pairs.lanewise(VectorOperators.LSHL, 4))
          .and((short) 0x0F0F)
          .intoMemorySegment(codes, at + i, LE);
    }
    for (; i <= count - 8; i += 8) {
      long x = data.get(INT, from + (i >> 1)) & 0xFFFFFFFFL;
      x = (x | x << 16) & 0x0000FFFF0000FFFFL;
      x = (x | x << 8) & 0x00FF00FF00FF00FFL;
      codes.set(LONG, at + i, (x | x << 4) & 0x0F0F0F0F0F0F0F0FL);
    }
    return i;
  }

  private static int unpack6(
      MemorySegment packed, long from, int count, MemorySegment codes, long at) {
    MemorySegment data = Segments.exact(packed);
    MemorySegment dst = Segments.exact(codes);
    for (int i = 0; i < count; i += 8) {
      long byteAt = from + (i >> 2) * 3L;
      long x =
          (data.get(INT, byteAt) & 0xFFFFFFFFL) | (data.get(SHORT, byteAt + 4) & 0xFFFFL) << 32;
      x = (x & 0x0000000000FFFFFFL) | (x & 0x0000FFFFFF000000L) << 8;
      x = (x & 0x00000FFF00000FFFL) | (x & 0x00FFF00000FFF000L) << 4;
      x = (x & 0x003F003F003F003FL) | (x & 0x0FC00FC00FC00FC0L) << 2;
      dst.set(LONG, at + i, x);
    }
    return count;
  }

  /**
   * Packs {@code count} codes, a byte each at {@code src}, whose unused bits are zero, to elements
   * {@code first …} of {@code data}. Bytes that hold other elements too keep those.
   */
  public static void pack(
      DType dtype, MemorySegment src, long at, int count, MemorySegment data, long first) {
    int lead = (int) Math.min(count, -first & (aligned(dtype) - 1));
    for (int i = 0; i < lead; i++) {
      PackedElements.set(dtype, data, first + i, src.get(ValueLayout.JAVA_BYTE, at + i));
    }
    long to = (first + lead) * dtype.bits() / 8;
    int done =
        lead
            + (dtype.bits() == 4
                ? pack4(src, at + lead, count - lead, data, to)
                : pack6(src, at + lead, (count - lead) & -8, data, to));
    for (int i = done; i < count; i++) {
      PackedElements.set(dtype, data, first + i, src.get(ValueLayout.JAVA_BYTE, at + i));
    }
  }

  private static int pack4(MemorySegment src, long at, int count, MemorySegment packed, long to) {
    MemorySegment codes = Segments.exact(src);
    MemorySegment data = Segments.exact(packed);
    int step = 2 * WIDE_SHORT.length();
    int i = 0;
    for (; i <= count - step; i += step) {
      ShortVector pairs = ShortVector.fromMemorySegment(WIDE_SHORT, codes, at + i, LE);
      HALF_BYTES
          .cast(
              pairs
                  .or(pairs.lanewise(VectorOperators.LSHR, 4))
                  .convertShape(VectorOperators.S2B, HALF_BYTE, 0))
          .intoMemorySegment(data, to + (i >> 1), LE);
    }
    for (; i <= count - 8; i += 8) {
      long x = codes.get(LONG, at + i);
      x = (x | x >>> 4) & 0x00FF00FF00FF00FFL;
      x = (x | x >>> 8) & 0x0000FFFF0000FFFFL;
      data.set(INT, to + (i >> 1), (int) (x | x >>> 16));
    }
    return i;
  }

  private static int pack6(MemorySegment codes, long at, int count, MemorySegment packed, long to) {
    MemorySegment src = Segments.exact(codes);
    MemorySegment data = Segments.exact(packed);
    for (int i = 0; i < count; i += 8) {
      long x = src.get(LONG, at + i);
      x = (x & 0x003F003F003F003FL) | (x & 0x3F003F003F003F00L) >>> 2;
      x = (x & 0x00000FFF00000FFFL) | (x & 0x0FFF00000FFF0000L) >>> 4;
      x = (x & 0x0000000000FFFFFFL) | (x & 0x00FFFFFF00000000L) >>> 8;
      long byteAt = to + (i >> 2) * 3L;
      data.set(INT, byteAt, (int) x);
      data.set(SHORT, byteAt + 4, (short) (x >>> 32));
    }
    return count;
  }
}
