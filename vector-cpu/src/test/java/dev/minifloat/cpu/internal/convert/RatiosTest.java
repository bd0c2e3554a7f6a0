package dev.minifloat.cpu.internal.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.convert.FusedEncoder.Step;
import dev.minifloat.cpu.internal.runtime.ReadAhead;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Quotients taken by reciprocals, and pairs of codes, next to every bound between two codes. */
class RatiosTest {
  private static final int SCALES = 3000;

  /** A multiple of what pairs take at a time, at any width. */
  private static final int UNIT = 32;

  /** Values next to each bound times {@code scale}, of both signs, and zeros. */
  private static float[] nextToBounds(DType dtype, float scale) {
    int bounds = Codec.maxCode(dtype);
    float[] values = new float[(10 * bounds + 2 + UNIT - 1) / UNIT * UNIT];
    int at = 0;
    values[at++] = -0f;
    values[at++] = 0;
    for (int code = 0; code < bounds; code++) {
      double low = Codec.decodeDouble(dtype, code);
      double high = Codec.decodeDouble(dtype, code + 1);
      float middle = (float) ((low + high) / 2 * scale);
      for (int step = -2; step <= 2; step++) {
        float x = Float.intBitsToFloat(Float.floatToRawIntBits(middle) + step);
        values[at++] = x;
        values[at++] = -x;
      }
    }
    return values;
  }

  private static float scale(SplittableRandom random) {
    return Math.scalb((float) (1 + random.nextDouble()), random.nextInt(-80, 80));
  }

  @ParameterizedTest
  @EnumSource(names = {"F8_E4M3", "F8_E5M2", "F6_E2M3", "F6_E3M2", "F4_E2M1", "I8", "I4"})
  void ratiosHaveTheCodesOfQuotients(DType dtype) {
    SplittableRandom random = new SplittableRandom(1);
    FusedEncoder kernel = EncodeFormat.kernel(dtype, Rounding.NEAREST_EVEN, Step.RATIO);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment scales = arena.allocate(8, 64);
      int n = nextToBounds(dtype, 1).length;
      MemorySegment src = arena.allocate(4L * n, 64);
      MemorySegment dst = arena.allocate(n, 64);
      for (int k = 0; k < SCALES; k++) {
        float scale = scale(random);
        float[] values = nextToBounds(dtype, scale);
        MemorySegment.copy(values, 0, src, ValueLayout.JAVA_FLOAT, 0, n);
        scales.set(PackedElements.FLOAT, 0, scale);
        scales.set(PackedElements.FLOAT, 4, -1 / scale);
        kernel.encode(src, 0, n, scales, 0, 31, Overflow.SATURATE, null, 4, dst, 0, null);
        for (int i = 0; i < n; i++) {
          int code = Codec.encode(dtype, values[i] / scale) & dtype.codeMask();
          float x = values[i];
          int actual = dst.get(ValueLayout.JAVA_BYTE, i) & dtype.codeMask();
          assertEquals(code, actual, () -> x + " / " + scale);
        }
      }
    }
  }

  static Stream<Step> steps() {
    return Stream.of(Step.PRODUCT, Step.RATIO);
  }

  @ParameterizedTest
  @MethodSource("steps")
  void pairsHaveTheCodesOfTheCodec(Step step) {
    SplittableRandom random = new SplittableRandom(2);
    FusedEncoder kernel = EncodeFormat.pairKernel(step);
    try (Arena arena = Arena.ofConfined()) {
      int n = nextToBounds(DType.F4_E2M1, 1).length + 2 * UNIT;
      MemorySegment scales = arena.allocate(8L * n, 64);
      MemorySegment src = arena.allocate(4L * n, 64);
      MemorySegment dst = arena.allocate(n / 2, 64);
      for (int k = 0; k < SCALES; k++) {
        float scale = step == Step.PRODUCT ? Math.scalb(1f, k % 200 - 100) : scale(random);
        float[] bounds = nextToBounds(DType.F4_E2M1, scale);
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
          // Up to what a block's rounded scale leaves at most.
          double limit = step == Step.PRODUCT ? 8 : 9;
          double more = scale * limit * random.nextDouble(-1, 1);
          values[i] = i < bounds.length ? bounds[i] : (float) more;
        }
        MemorySegment.copy(values, 0, src, ValueLayout.JAVA_FLOAT, 0, n);
        int blocks = n / 16;
        for (int i = 0; i < blocks; i++) {
          float s = step == Step.PRODUCT ? 1 / scale : scale;
          scales.set(PackedElements.FLOAT, 4L * i, s);
          scales.set(PackedElements.FLOAT, 4L * (blocks + i), -1 / scale);
        }
        int shift = step == Step.PRODUCT ? 5 : 4;
        int done =
            kernel.encode(
                src, 0, n, scales, 0, shift, Overflow.SATURATE, null, 4L * blocks, dst, 0, null);
        assertEquals(n, done);
        for (int i = 0; i < n; i++) {
          int code = Codec.encode(DType.F4_E2M1, values[i] / scale);
          float x = values[i];
          int actual = PackedElements.get(DType.F4_E2M1, dst, i);
          assertEquals(code, actual, () -> x + " / " + scale);
        }
      }
    }
  }

  @Test
  void readingAheadStaysWithinWhatItWasGiven() {
    int n = 4096;
    ReadAhead ahead = new ReadAhead();
    FusedEncoder kernel = EncodeFormat.kernel(DType.F8_E4M3, Rounding.NEAREST_EVEN, Step.CONVERT);
    try (Arena arena = Arena.ofConfined()) {
      // A line beyond the segment would throw.
      MemorySegment src = arena.allocate(8L * n, 64);
      MemorySegment dst = arena.allocate(n, 64);
      ahead.open(4L * n, 4L * n);
      for (int at = 0; at < n; at += 1024) {
        Overflow overflow = Overflow.SATURATE;
        kernel.encode(src, 4L * at, 1024, null, 0, 0, overflow, null, 0, dst, at, ahead);
      }
      assertEquals(4L * n + n / 2, ahead.at());
    }
  }
}
