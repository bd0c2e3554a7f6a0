package dev.minifloat.cpu.internal.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.DType;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.Inputs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DecodersTest {
  private static final int GUARD = 0x5A5A5A5A;

  @ParameterizedTest
  @EnumSource
  void everyCodeHasTheCodecsBits(DType dtype) {
    int count = dtype.bits() == 32 ? 1 << 16 : dtype.codeMask() + 1;
    compare(dtype, 3, count, new SplittableRandom(1), false);
    compare(dtype, 0, count, new SplittableRandom(2), true);
  }

  @ParameterizedTest
  @EnumSource
  void runsOfAnyLengthAndStartWriteNothingElse(DType dtype) {
    SplittableRandom random = new SplittableRandom(3);
    for (int size : Inputs.sizes()) {
      for (int first = 0; first < 9; first++) {
        compare(dtype, first, size, random, true);
      }
    }
  }

  private static void compare(
      DType dtype, int first, int count, SplittableRandom random, boolean anyCode) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(dtype.byteSize(first + count), 64);
      for (int i = 0; i < first + count; i++) {
        PackedElements.set(dtype, data, i, anyCode ? random.nextInt() : i - first);
      }
      MemorySegment dst = arena.allocate(4L * count + 12, 64);
      dst.set(PackedElements.INT, 0, GUARD);
      dst.set(PackedElements.INT, 4L + 4L * count, GUARD);
      Decoders.decode(dtype, data, first, count, dst, 4, null);
      for (int i = 0; i < count; i++) {
        int code = PackedElements.get(dtype, data, first + i);
        assertEquals(
            Integer.toHexString(Float.floatToRawIntBits(Codec.decode(dtype, code))),
            Integer.toHexString(dst.get(PackedElements.INT, 4L + 4L * i)),
            "code " + Integer.toHexString(code));
      }
      assertEquals(GUARD, dst.get(PackedElements.INT, 0));
      assertEquals(GUARD, dst.get(PackedElements.INT, 4L + 4L * count));
    }
  }
}
