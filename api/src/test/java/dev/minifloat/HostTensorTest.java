package dev.minifloat;

import static dev.minifloat.Refusals.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.reference.ReferenceBackend;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

class HostTensorTest {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  @Test
  void wrapsWithoutACopy() {
    float[] values = {1, 2, 3, 4, 5, 6};
    HostTensor x = HostTensor.of(values, 2, 3);
    values[4] = 50;
    assertEquals(50f, x.get(4));
    assertEquals(Shape.of(2, 3), x.shape());
    assertEquals(24, x.byteSize());
    assertArrayEquals(values, x.toFloats());
  }

  @Test
  void arrayWithoutDimensionsIsAVector() {
    assertEquals(Shape.of(3), HostTensor.of(new int[] {1, 2, 3}).shape());
    assertEquals(Shape.of(0), HostTensor.of(new float[0]).shape());
  }

  @Test
  void aScaledNanIsTheCanonicalOneAndAnUnscaledOneKeepsItsSign() {
    MemorySegment data = MemorySegment.ofArray(new byte[] {0x7F, (byte) 0xFF, 0x38, 0});
    HostTensor plain = HostTensor.wrap(DType.F8_E4M3, Shape.of(4), data);
    assertEquals(0xFFC00000, Float.floatToRawIntBits(plain.get(1)));
    for (int bits : new int[] {0x3F800000, 0x7FC00001, 0xFFC00000, 0xFF800001, 0x7F800000}) {
      MemorySegment scale = MemorySegment.ofArray(new int[] {bits});
      HostTensor x = HostTensor.wrap(DType.F8_E4M3, Shape.of(4), Scaling.tensor(), data, scale);
      for (int i = 0; i < 4; i++) {
        float value = x.get(i);
        assertEquals(Float.floatToIntBits(value), Float.floatToRawIntBits(value));
      }
    }
  }

  @Test
  void memoryThatNobodyHasIsRefusedWithItsSize() {
    Arena arena = Arena.ofAuto();
    for (long elements : new long[] {1L << 46, 1L << 60, Long.MAX_VALUE / 4}) {
      Shape shape = Shape.of(elements, 1);
      String size = Long.toString(4 * elements);
      String message =
          assertThrows(
                  MinifloatException.class,
                  () -> HostTensor.allocate(arena, DType.F32, shape, Scaling.none()))
              .getMessage();
      assertTrue(message.contains(size + " bytes") && message.contains("" + shape), message);
      try (ReferenceBackend backend = new ReferenceBackend()) {
        Tensor x = backend.upload(HostTensor.wrap(DType.F32, Shape.of(elements, 0), NOTHING));
        Tensor y = backend.upload(HostTensor.wrap(DType.F32, Shape.of(0, 1), NOTHING));
        message =
            assertThrows(MinifloatException.class, () -> backend.gemm(Gemm.of(x, y))).getMessage();
        assertTrue(message.contains(size + " bytes"), message);
        assertEquals(2, backend.liveTensors());
      }
      // Elements and scales together are more than a long can count.
      Shape one = Shape.of(elements, 1);
      assertThrows(
          MinifloatException.class,
          () -> HostTensor.allocate(arena, DType.F32, one, Scaling.rows()));
    }
  }

  @Test
  void readsReadOnlyMemory() {
    MemorySegment data = MemorySegment.ofArray(new byte[] {0x38, 0x40}).asReadOnly();
    assertArrayEquals(
        new float[] {1, 2}, HostTensor.wrap(DType.F8_E4M3, Shape.of(2), data).toFloats());
  }

  @Test
  void longerSegmentsAreCut() {
    MemorySegment data = MemorySegment.ofArray(new byte[10]);
    HostTensor x =
        HostTensor.wrap(
            DType.F4_E2M1, Shape.of(5), Scaling.mx(), data, MemorySegment.ofArray(new byte[3]));
    assertEquals(3, x.data().byteSize());
    assertEquals(1, x.scales().byteSize());
    assertEquals(4, x.byteSize());
  }

  @Test
  void refusesSegmentsThatAreTooShort() {
    MemorySegment three = MemorySegment.ofArray(new byte[3]);
    assertRefused("data", () -> HostTensor.wrap(DType.F16, Shape.of(2), three));
    assertRefused(
        "scales", () -> HostTensor.wrap(DType.I8, Shape.of(3), Scaling.tensor(), three, three));
    assertRefused("data", () -> HostTensor.wrap(DType.F32, Shape.of(1L << 20, 1L << 20), three));
  }

  @Test
  void refusesAScalingTheFormatLacks() {
    MemorySegment data = MemorySegment.ofArray(new byte[64]);
    assertRefused(
        "scaling", () -> HostTensor.wrap(DType.F16, Shape.of(2), Scaling.tensor(), data, data));
  }

  @Test
  void refusesDimensionsThatTheValuesDoNotFill() {
    assertRefused("values", () -> HostTensor.of(new float[5], 2, 3));
    assertRefused("values", () -> HostTensor.of(new int[5], 2, 2));
  }

  @Test
  void refusesIndicesOutOfTheTensor() {
    HostTensor x = HostTensor.of(new float[] {1, 2});
    assertThrows(IndexOutOfBoundsException.class, () -> x.get(2));
    assertThrows(IndexOutOfBoundsException.class, () -> x.code(-1));
    assertThrows(IndexOutOfBoundsException.class, () -> x.scale(2));
  }

  @Test
  void valueIsScaleTimesElementInF32() {
    MemorySegment scales = MemorySegment.ofArray(new float[] {0.3f, 0.7f});
    MemorySegment data = MemorySegment.ofArray(new byte[] {1, -3, 5, 127});
    HostTensor x = HostTensor.wrap(DType.I8, Shape.of(2, 2), Scaling.rows(), data, scales);
    assertArrayEquals(new float[] {0.3f, -3 * 0.3f, 5 * 0.7f, 127 * 0.7f}, x.toFloats());
    assertEquals(0.7f, x.scale(2));
    assertArrayEquals(new int[] {1, -3, 5, 127}, x.toInts());
  }

  @Test
  void integersComeAsIntegers() {
    int[] values = {Integer.MIN_VALUE, -1, 16_777_217, Integer.MAX_VALUE};
    assertArrayEquals(values, HostTensor.of(values).toInts());
    assertEquals(16_777_216f, HostTensor.of(values).get(2));
    assertRefused("dtype", () -> HostTensor.of(new float[1]).toInts());
  }

  @Test
  void refusesArraysThatAreTooLong() {
    Shape shape = Shape.of(1L << 31);
    try (Arena arena = Arena.ofConfined()) {
      // Reserved, never touched.
      MemorySegment data = arena.allocate(0).reinterpret(1L << 30);
      HostTensor x = HostTensor.wrap(DType.F4_E2M1, shape, data);
      assertRefused("shape", x::toFloats);
    }
  }

  @Test
  void allocatesZeroedAlignedMemoryForEachScaling() {
    try (Arena arena = Arena.ofConfined()) {
      for (Scaling scaling : List.of(Scaling.none(), Scaling.rows(), Scaling.mx())) {
        HostTensor x = HostTensor.allocate(arena, DType.F8_E4M3, Shape.of(3, 33), scaling);
        assertEquals(99, x.data().byteSize());
        assertEquals(0, x.data().address() % 64);
        assertEquals(scaling.scaleDType().byteSize(x.grid().scales()), x.scales().byteSize());
        assertTrue(x.data().mismatch(MemorySegment.ofArray(new byte[99])) < 0);
      }
    }
  }

  @Test
  void nvfp4ValueUsesBothScales() {
    try (Arena arena = Arena.ofConfined()) {
      HostTensor x = HostTensor.allocate(arena, DType.F4_E2M1, Shape.of(17), Scaling.nvfp4(), 0.5f);
      PackedElements.set(DType.F8_E4M3, x.scales(), 1, 0x40);
      PackedElements.set(DType.F4_E2M1, x.data(), 16, 0xF);
      assertEquals(-6f, x.get(16));
      assertEquals(1f, x.scale(16));
      assertEquals(0.5f, x.globalScale());
      assertEquals(9 + 2 + 4, x.byteSize());
      HostTensor wrapped = HostTensor.wrapNvfp4(Shape.of(17), x.data(), x.scales(), 2f);
      assertEquals(-24f, wrapped.get(16));
    }
  }

  @Test
  void saysWhatItIs() {
    assertEquals("F32 [1, 2]", HostTensor.of(new float[2], 1, 2).toString());
    try (Arena arena = Arena.ofConfined()) {
      assertEquals(
          "F8_E4M3 [4] scaled by mx",
          HostTensor.allocate(arena, DType.F8_E4M3, Shape.of(4), Scaling.mx()).toString());
    }
  }
}
