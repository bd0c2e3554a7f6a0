package dev.minifloat.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.DType;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Packing of elements against a set of bits: bit {@code i·bits + j} is bit j of element i. */
class PackedElementsTest {
  private static final int[] COUNTS = {1, 2, 3, 4, 5, 7, 8, 31, 64, 101};

  @ParameterizedTest
  @EnumSource(DType.class)
  void readsTheBitsOfEachElement(DType dtype) {
    SplittableRandom random = new SplittableRandom(1);
    for (int count : COUNTS) {
      byte[] bytes = new byte[(int) dtype.byteSize(count)];
      random.nextBytes(bytes);
      BitSet bits = BitSet.valueOf(bytes);
      MemorySegment data = MemorySegment.ofArray(bytes);
      for (int i = 0; i < count; i++) {
        assertEquals(read(bits, dtype, i), PackedElements.get(dtype, data, i));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void writesTheBitsOfOneElementAndNoOthers(DType dtype) {
    SplittableRandom random = new SplittableRandom(2);
    for (int count : COUNTS) {
      byte[] bytes = new byte[(int) dtype.byteSize(count)];
      random.nextBytes(bytes);
      BitSet bits = BitSet.valueOf(bytes);
      MemorySegment data = MemorySegment.ofArray(bytes);
      for (int n = 0; n < 50; n++) {
        int i = random.nextInt(count);
        int code = random.nextInt();
        PackedElements.set(dtype, data, i, code);
        write(bits, dtype, i, code);
        assertArrayEquals(padded(bits, bytes.length), bytes, dtype + " element " + i);
      }
    }
  }

  @Test
  void firstOfTwoFourBitElementsIsTheLowNibble() {
    byte[] bytes = new byte[1];
    PackedElements.set(DType.F4_E2M1, MemorySegment.ofArray(bytes), 0, 0x3);
    PackedElements.set(DType.F4_E2M1, MemorySegment.ofArray(bytes), 1, 0xA);
    assertArrayEquals(new byte[] {(byte) 0xA3}, bytes);
  }

  @Test
  void fourSixBitElementsShareThreeBytes() {
    byte[] bytes = new byte[3];
    int[] codes = {0b000001, 0b100000, 0b111111, 0b101010};
    for (int i = 0; i < 4; i++) {
      PackedElements.set(DType.F6_E3M2, MemorySegment.ofArray(bytes), i, codes[i]);
    }
    // d c b a = 101010 111111 100000 000001
    int packed = 0b101010_111111_100000_000001;
    assertArrayEquals(
        new byte[] {(byte) packed, (byte) (packed >>> 8), (byte) (packed >>> 16)}, bytes);
  }

  @Test
  void widerElementsAreLittleEndianAtAnyAlignment() {
    byte[] bytes = new byte[9];
    MemorySegment odd = MemorySegment.ofArray(bytes).asSlice(1);
    PackedElements.set(DType.BF16, odd, 1, 0x1234);
    PackedElements.set(DType.F32, odd, 1, 0x89ABCDEF);
    assertArrayEquals(
        new byte[] {0, 0, 0, 0x34, 0x12, (byte) 0xEF, (byte) 0xCD, (byte) 0xAB, (byte) 0x89},
        bytes);
  }

  private static int read(BitSet bits, DType dtype, int i) {
    int code = 0;
    for (int j = 0; j < dtype.bits(); j++) {
      code |= (bits.get(i * dtype.bits() + j) ? 1 : 0) << j;
    }
    return code;
  }

  private static void write(BitSet bits, DType dtype, int i, int code) {
    for (int j = 0; j < dtype.bits(); j++) {
      bits.set(i * dtype.bits() + j, (code >>> j & 1) != 0);
    }
  }

  private static byte[] padded(BitSet bits, int length) {
    byte[] padded = new byte[length];
    byte[] used = bits.toByteArray();
    System.arraycopy(used, 0, padded, 0, used.length);
    return padded;
  }
}
