package dev.minifloat.cpu.internal.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.Inputs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class EncodersTest {
  private static final List<Rounding> ROUNDINGS =
      List.of(
          Rounding.NEAREST_EVEN,
          Rounding.TOWARD_ZERO,
          Rounding.TOWARD_POSITIVE,
          Rounding.stochastic(0x0123456789ABCDEFL));

  @ParameterizedTest
  @EnumSource
  void everyRoundingAndOverflowHasTheCodecsBits(DType dtype) {
    float[] values = Inputs.concat(Inputs.floats(), Inputs.boundaries(dtype));
    for (Rounding rounding : ROUNDINGS) {
      for (Overflow overflow : Overflow.values()) {
        compare(values, 0, values.length, dtype, 0, rounding, overflow, 5);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void runsOfAnyLengthAndStartLeaveTheirNeighboursAlone(DType dtype) {
    float[] values = Inputs.numbers(2, 200);
    for (int size : Inputs.sizes()) {
      for (int first = 0; first < 9; first++) {
        for (Rounding rounding : ROUNDINGS) {
          compare(values, first, size, dtype, first, rounding, Overflow.SATURATE, (1L << 33) + 3);
        }
      }
    }
  }

  private static void compare(
      float[] values,
      int from,
      int count,
      DType dtype,
      long first,
      Rounding rounding,
      Overflow overflow,
      long index) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment src = arena.allocate(4L * values.length + 1, 64).asSlice(1);
      MemorySegment.copy(values, 0, src, ValueLayout.JAVA_FLOAT_UNALIGNED, 0, values.length);
      MemorySegment actual = arena.allocate(dtype.byteSize(first + count + 5), 64);
      actual.fill((byte) 0xA5);
      MemorySegment expected = arena.allocate(actual.byteSize(), 64).copyFrom(actual);
      MemorySegment scratch = arena.allocate(Encoders.scratchBytes(dtype, rounding, count) + 1L);
      Encoders.encode(
          src, 4L * from, count, dtype, actual, first, rounding, overflow, index, scratch, 0, null);
      for (int i = 0; i < count; i++) {
        int code = Codec.encode(dtype, values[from + i], rounding, overflow, index + i);
        PackedElements.set(dtype, expected, first + i, code);
        int got = PackedElements.get(dtype, actual, first + i);
        if (code != got) {
          fail(
              "%08x, element %d of %d, %s %s: expected %x, got %x"
                  .formatted(
                      Float.floatToRawIntBits(values[from + i]),
                      i,
                      count,
                      rounding,
                      overflow,
                      code,
                      got));
        }
      }
      assertEquals(-1, actual.mismatch(expected));
    }
  }
}
