package dev.minifloat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Properties of the formats, against values written down from their specifications. */
class DTypeTest {
  @ParameterizedTest
  @CsvSource({
    // bits, exponent, mantissa, bias, max, min normal, min subnormal, epsilon, Inf, NaN
    "F32, 32, 8, 23, 127, 0x1.FFFFFEp127, 0x1p-126, 0x1p-149, 0x1p-23, true, true",
    "F16, 16, 5, 10, 15, 65504, 0x1p-14, 0x1p-24, 0x1p-10, true, true",
    "BF16, 16, 8, 7, 127, 0x1.FEp127, 0x1p-126, 0x1p-133, 0x1p-7, true, true",
    "F8_E4M3, 8, 4, 3, 7, 448, 0x1p-6, 0x1p-9, 0.125, false, true",
    "F8_E5M2, 8, 5, 2, 15, 57344, 0x1p-14, 0x1p-16, 0.25, true, true",
    "F8_E8M0, 8, 8, 0, 127, 0x1p127, 0x1p-127, 0x1p-127, 1, false, true",
    "F6_E2M3, 6, 2, 3, 1, 7.5, 1, 0.125, 0.125, false, false",
    "F6_E3M2, 6, 3, 2, 3, 28, 0.25, 0.0625, 0.25, false, false",
    "F4_E2M1, 4, 2, 1, 1, 6, 1, 0.5, 0.5, false, false",
    "I8, 8, 0, 0, 0, 127, 1, 1, 1, false, false",
    "I4, 4, 0, 0, 0, 7, 1, 1, 1, false, false",
    "I32, 32, 0, 0, 0, 2147483647, 1, 1, 1, false, false"
  })
  void hasTheWidthsAndRangeOfItsSpecification(
      DType dtype,
      int bits,
      int exponentBits,
      int mantissaBits,
      int bias,
      String max,
      String minNormal,
      String minSubnormal,
      String epsilon,
      boolean infinity,
      boolean nan) {
    assertEquals(bits, dtype.bits());
    assertEquals(exponentBits, dtype.exponentBits());
    assertEquals(mantissaBits, dtype.mantissaBits());
    assertEquals(bias, dtype.bias());
    assertEquals(Double.parseDouble(max), dtype.max());
    assertEquals(Double.parseDouble(minNormal), dtype.minNormal());
    assertEquals(Double.parseDouble(minSubnormal), dtype.minSubnormal());
    assertEquals(Double.parseDouble(epsilon), dtype.epsilon());
    assertEquals(infinity, dtype.hasInfinity());
    assertEquals(nan, dtype.hasNaN());
    assertEquals(exponentBits == 0, dtype.isInteger());
    assertEquals(exponentBits != 0, dtype.isFloat());
    assertEquals(dtype != DType.F8_E8M0, dtype.isSigned());
    assertEquals((1L << bits) - 1, Integer.toUnsignedLong(dtype.codeMask()));
  }

  @ParameterizedTest
  @CsvSource({"F8_E4M3, 8", "F8_E5M2, 15", "F4_E2M1, 2", "F6_E3M2, 4", "F6_E2M3, 2"})
  void maxExponentIsEmaxOfTheMxSpecification(DType dtype, int emax) {
    assertEquals(emax, dtype.maxExponent());
  }

  @ParameterizedTest
  @CsvSource({
    "F4_E2M1, 0, 0",
    "F4_E2M1, 1, 1",
    "F4_E2M1, 2, 1",
    "F4_E2M1, 3, 2",
    "F4_E2M1, 9223372036854775807, 4611686018427387904",
    "F6_E2M3, 0, 0",
    "F6_E2M3, 1, 1",
    "F6_E2M3, 2, 2",
    "F6_E2M3, 3, 3",
    "F6_E2M3, 4, 3",
    "F6_E3M2, 5, 4",
    "F6_E3M2, 9223372036854775807, 6917529027641081856",
    "I8, 5, 5",
    "F16, 5, 10",
    "F32, 5, 20",
    "F8_E8M0, 9223372036854775807, 9223372036854775807"
  })
  void byteSizeRoundsUpToWholeBytes(DType dtype, long elements, long bytes) {
    assertEquals(bytes, dtype.byteSize(elements));
  }

  @Test
  void byteSizeRefusesNegativeCountsAndOverflow() {
    message("elements: -1", () -> DType.F16.byteSize(-1));
    message("elements: ", () -> DType.F16.byteSize(1L << 62));
    message("elements: ", () -> DType.F32.byteSize(Long.MAX_VALUE));
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void parsesItsNameAndAliasesInAnyCase(DType dtype) {
    assertEquals(dtype, DType.parse(dtype.name()));
    assertEquals(dtype, DType.parse(dtype.name().toLowerCase(Locale.ROOT)));
    for (String alias : dtype.aliases()) {
      assertEquals(dtype, DType.parse(alias));
      assertEquals(dtype, DType.parse(alias.toUpperCase(Locale.ROOT)));
    }
  }

  @Test
  void namesAndAliasesAreUnique() {
    List<String> names =
        Arrays.stream(DType.values())
            .flatMap(
                d ->
                    Stream.concat(
                        Stream.of(d.name().toLowerCase(Locale.ROOT)), d.aliases().stream()))
            .toList();
    assertEquals(names.size(), names.stream().distinct().count());
  }

  @Test
  void parseNamesWhatThereIs() {
    String message = message("dtype: ", () -> DType.parse("f7"));
    assertTrue(message.contains("\"f7\"") && message.contains("F8_E4M3"), message);
  }

  @Test
  void overflowSaturatesAtEightBitsOrFewer() {
    for (DType dtype : DType.values()) {
      boolean ieee = dtype == DType.F32 || dtype == DType.F16 || dtype == DType.BF16;
      assertEquals(ieee ? Overflow.IEEE : Overflow.SATURATE, Overflow.defaultFor(dtype));
    }
  }

  private static String message(String start, Executable call) {
    String message = assertThrows(IllegalArgumentException.class, call).getMessage();
    assertTrue(message.startsWith(start), message);
    return message;
  }
}
