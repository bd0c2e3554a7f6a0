package dev.minifloat.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Known answers of Philox4x32-10, as its authors publish them with Random123. */
class PhiloxTest {
  @Test
  void zeroCounterAndKey() {
    assertArrayEquals(new int[] {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}, block(0, 0, 0));
  }

  @Test
  void allOnes() {
    assertArrayEquals(
        new int[] {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}, block(-1, -1, -1));
  }

  @Test
  void digitsOfPi() {
    // Counter words 243f6a88 85a308d3 13198a2e 03707344, key words a4093822 299f31d0.
    assertArrayEquals(
        new int[] {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
        block(0x299f31d0a4093822L, 0x85a308d3243f6a88L, 0x0370734413198a2eL));
  }

  @Test
  void elementUsesItsWordOfItsBlock() {
    long seed = 0x123456789abcdefL;
    for (long index : new long[] {0, 1, 2, 3, 4, 7, 1L << 33, (1L << 62) + 1, Long.MAX_VALUE}) {
      int[] block = new int[4];
      Philox.block(seed, index / 4, block);
      assertEquals(block[(int) (index % 4)], Philox.bits(seed, index));
      assertArrayEquals(block(seed, index / 4, 0), block);
    }
  }

  private static int[] block(long seed, long low, long high) {
    int[] out = new int[4];
    Philox.block(seed, low, high, out);
    return out;
  }
}
