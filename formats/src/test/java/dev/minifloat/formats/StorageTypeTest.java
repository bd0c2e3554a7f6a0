package dev.minifloat.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.Shape;
import dev.minifloat.codec.PackedElements;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class StorageTypeTest {
  @Test
  void everySafetensorsDtypeIsThereInTheOrderOfTheReference() {
    assertEquals(
        List.of(
            "BOOL",
            "F4",
            "F6_E2M3",
            "F6_E3M2",
            "U8",
            "I8",
            "F8_E5M2",
            "F8_E4M3",
            "F8_E8M0",
            "F8_E4M3FNUZ",
            "F8_E5M2FNUZ",
            "I16",
            "U16",
            "F16",
            "BF16",
            "I32",
            "U32",
            "F32",
            "C64",
            "F64",
            "I64",
            "U64"),
        Arrays.stream(StorageType.values()).flatMap(t -> t.safetensorsName().stream()).toList());
  }

  @ParameterizedTest
  @CsvSource({
    "1,F32",
    "2,U8",
    "3,I8",
    "4,U16",
    "5,I16",
    "6,I32",
    "7,I64",
    "9,BOOL",
    "10,F16",
    "11,F64",
    "12,U32",
    "13,U64",
    "14,C64",
    "16,BF16",
    "17,F8_E4M3",
    "18,F8_E4M3FNUZ",
    "19,F8_E5M2",
    "20,F8_E5M2FNUZ",
    "21,U4",
    "22,I4",
    "23,F4",
    "24,F8_E8M0",
    "25,U2",
    "26,I2"
  })
  void onnxNumbersNameTheirTypes(int number, StorageType type) {
    assertEquals(Optional.of(type), StorageType.ofOnnx(number));
    assertEquals(OptionalInt.of(number), type.onnxNumber());
  }

  @Test
  void numbersThatOnnxDoesNotGiveToNumericTypesNameNone() {
    for (int number : new int[] {-1, 0, 8, 15, 27, Integer.MAX_VALUE}) {
      assertEquals(Optional.empty(), StorageType.ofOnnx(number), () -> "data_type " + number);
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyDTypeHasAStorageTypeOfTheSameWidth(DType dtype) {
    StorageType type = StorageType.of(dtype);
    assertEquals(Optional.of(dtype), type.dtype());
    assertEquals(dtype.bits(), type.bits());
  }

  @Test
  void noTwoDTypesShareAStorageType() {
    Set<StorageType> seen = new HashSet<>();
    for (DType dtype : DType.values()) {
      assertTrue(seen.add(StorageType.of(dtype)), dtype::name);
    }
  }

  /** The oracle takes the data as one large little-endian number and cuts its bits. */
  @ParameterizedTest
  @EnumSource
  void codesAreTheBitsOfTheDataLeastSignificantFirst(StorageType type) {
    byte[] bytes = new byte[64 + 5];
    new Random(type.bits()).nextBytes(bytes);
    MemorySegment data = MemorySegment.ofArray(bytes).asSlice(5);
    byte[] bigEndian = new byte[64];
    for (int i = 0; i < 64; i++) {
      bigEndian[i] = bytes[5 + 63 - i];
    }
    BigInteger all = new BigInteger(1, bigEndian);
    BigInteger mask = BigInteger.ONE.shiftLeft(type.bits()).subtract(BigInteger.ONE);
    for (int i = 0; i < 512 / type.bits(); i++) {
      long expected = all.shiftRight(i * type.bits()).and(mask).longValue();
      assertEquals(expected, type.code(data, i), "element " + i);
    }
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void codesAreThoseThatBackendsRead(DType dtype) {
    byte[] bytes = new byte[48];
    new Random(7).nextBytes(bytes);
    MemorySegment data = MemorySegment.ofArray(bytes);
    for (int i = 0; i < 48 * 8 / dtype.bits(); i++) {
      assertEquals(
          PackedElements.get(dtype, data, i), (int) StorageType.of(dtype).code(data, i), "at " + i);
    }
  }

  @ParameterizedTest
  @EnumSource
  void anElementPastTheEndIsRefused(StorageType type) {
    MemorySegment data = MemorySegment.ofArray(new byte[24]);
    int count = 24 * 8 / type.bits();
    assertThrows(IndexOutOfBoundsException.class, () -> type.code(data, count));
    assertThrows(IndexOutOfBoundsException.class, () -> type.code(data, -1));
  }

  /** With a bias larger by one, every value is half that of the OCP format with the same code. */
  @Test
  void e4m3FnuzIsHalfOfE4m3WithoutNegativeZero() {
    for (int code = 0; code < 256; code++) {
      double expected =
          switch (code) {
            case 0x80 -> Double.NaN;
            case 0x7F -> 240;
            case 0xFF -> -240;
            default -> StorageType.F8_E4M3.decode(code) / 2;
          };
      assertEquals(expected, StorageType.F8_E4M3FNUZ.decode(code), "code " + code);
    }
  }

  @Test
  void e5m2FnuzIsHalfOfE5m2WithNumbersInPlaceOfInfinityAndNaN() {
    for (int code = 0; code < 256; code++) {
      int magnitude = code & 0x7F;
      double sign = code < 0x80 ? 1 : -1;
      double expected =
          code == 0x80
              ? Double.NaN
              : magnitude >= 0x7C
                  ? sign * 32768 * (1 + (magnitude - 0x7C) / 4.0)
                  : StorageType.F8_E5M2.decode(code) / 2;
      assertEquals(expected, StorageType.F8_E5M2FNUZ.decode(code), "code " + code);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "U2,3,3",
    "I2,3,-1",
    "I2,1,1",
    "U4,15,15",
    "I4,8,-8",
    "I4,7,7",
    "BOOL,1,1",
    "BOOL,255,255",
    "U8,255,255",
    "I8,128,-128",
    "U16,65535,65535",
    "I16,32768,-32768",
    "U32,4294967295,4294967295",
    "I32,2147483648,-2147483648",
    "F16,31744,Infinity",
    "BF16,16256,1",
    "F32,3212836864,-1",
    "F64,4607182418800017408,1",
    "F4,1,0.5",
    "F6_E3M2,31,28",
    "F6_E2M3,63,-7.5",
    "F8_E8M0,127,1"
  })
  void codesDecodeToTheirValues(StorageType type, long code, double value) {
    assertEquals(value, type.decode(code));
  }

  @Test
  void longIntegersDecodeToTheNearestDouble() {
    List<Long> values =
        new ArrayList<>(
            List.of(0L, 1L, -1L, 1L << 53, (1L << 53) + 1, (1L << 53) + 3, Long.MAX_VALUE));
    values.addAll(List.of(Long.MIN_VALUE, Long.MIN_VALUE + 1, -(1L << 53) - 1, -1024L, -1025L));
    values.addAll(List.of(Long.MIN_VALUE + 1024, Long.MIN_VALUE + 1025, Long.MIN_VALUE + 3072));
    new Random(3).longs(1000).forEach(values::add);
    for (long value : values) {
      assertEquals(BigInteger.valueOf(value).doubleValue(), StorageType.I64.decode(value));
      assertEquals(
          new BigInteger(Long.toUnsignedString(value)).doubleValue(),
          StorageType.U64.decode(value),
          () -> Long.toUnsignedString(value));
    }
  }

  @Test
  void complexNumbersHaveTheirRealPartFirst() {
    MemorySegment data = MemorySegment.ofArray(new float[] {1, 2, -3, 4.5f});
    assertEquals(-3, StorageType.C64.decode(data, 1));
    assertEquals(4.5, StorageType.C64.decodeImaginary(data, 1));
    assertEquals(0, StorageType.F32.decodeImaginary(data, 1));
  }

  @Test
  void partOfAByteCountsAsOne() {
    assertEquals(0, StorageType.F4.byteSize(Shape.of(0)));
    assertEquals(1, StorageType.F4.byteSize(Shape.of(1)));
    assertEquals(3, StorageType.F4.byteSize(Shape.of(5)));
    assertEquals(1, StorageType.F6_E2M3.byteSize(Shape.of(1)));
    assertEquals(4, StorageType.F6_E2M3.byteSize(Shape.of(5)));
    assertEquals(6, StorageType.F6_E2M3.byteSize(Shape.of(2, 4)));
    assertEquals(1, StorageType.U2.byteSize(Shape.of(4)));
    assertEquals(8, StorageType.F64.byteSize(Shape.SCALAR));
  }

  @Test
  void aSizeBeyondLongIsRefused() {
    assertThrows(
        IllegalArgumentException.class, () -> StorageType.F64.byteSize(Shape.of(1L << 60)));
    assertEquals(1L << 62, StorageType.F4.byteSize(Shape.of(Long.MAX_VALUE)));
  }
}
