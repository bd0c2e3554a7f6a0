package dev.minifloat.codec;

import dev.minifloat.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Reads and writes single codes of packed data, as {@link DType} lays them out.
 *
 * <pre>
 *   4 bits:  byte k   = element 2k+1 | element 2k
 *   6 bits:  3 bytes  = d5…d0 c5…c0 b5…b0 a5…a0, bit 0 of a lowest
 * </pre>
 *
 * Segments may be of any alignment.
 */
public final class PackedElements {
  /** A little-endian 16-bit element. */
  public static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** A little-endian 32-bit element. */
  public static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** A little-endian F32. */
  public static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private PackedElements() {}

  /** The code of element {@code index}, zero-extended. */
  public static int get(DType dtype, MemorySegment data, long index) {
    return switch (dtype.bits()) {
      case 4 -> (data.get(ValueLayout.JAVA_BYTE, index >> 1) >>> (((int) index & 1) * 4)) & 0xF;
      case 6 -> {
        long bit = index * 6;
        long at = bit >> 3;
        int shift = (int) bit & 7;
        int window = Byte.toUnsignedInt(data.get(ValueLayout.JAVA_BYTE, at));
        if (shift > 2) {
          window |= Byte.toUnsignedInt(data.get(ValueLayout.JAVA_BYTE, at + 1)) << 8;
        }
        yield (window >>> shift) & 0x3F;
      }
      case 8 -> Byte.toUnsignedInt(data.get(ValueLayout.JAVA_BYTE, index));
      case 16 -> Short.toUnsignedInt(data.get(SHORT, index * 2));
      default -> data.get(INT, index * 4);
    };
  }

  /**
   * Writes the code of element {@code index}. Elements narrower than a byte share bytes, so two
   * threads must not write neighbours at the same time.
   */
  public static void set(DType dtype, MemorySegment data, long index, int code) {
    switch (dtype.bits()) {
      case 4 -> merge(data, index >> 1, 0xF, code, ((int) index & 1) * 4);
      case 6 -> {
        long bit = index * 6;
        long at = bit >> 3;
        int shift = (int) bit & 7;
        merge(data, at, 0x3F, code, shift);
        if (shift > 2) {
          merge(data, at + 1, 0x3F, code, shift - 8);
        }
      }
      case 8 -> data.set(ValueLayout.JAVA_BYTE, index, (byte) code);
      case 16 -> data.set(SHORT, index * 2, (short) code);
      default -> data.set(INT, index * 4, code);
    }
  }

  /** Replaces the bits of one byte that {@code mask}, shifted left (right if negative), covers. */
  private static void merge(MemorySegment data, long at, int mask, int code, int shift) {
    int placedMask = shift >= 0 ? mask << shift : mask >>> -shift;
    int placed = shift >= 0 ? (code & mask) << shift : (code & mask) >>> -shift;
    int old = data.get(ValueLayout.JAVA_BYTE, at);
    data.set(ValueLayout.JAVA_BYTE, at, (byte) ((old & ~placedMask) | placed));
  }
}
