package dev.minifloat;

import static dev.minifloat.Refusals.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.minifloat.spi.SupportTable;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScalingTest {
  @Test
  void parsesItsOwnTextForm() {
    for (Scaling scaling : SupportTable.SCALINGS) {
      assertEquals(scaling, Scaling.parse(scaling.toString()));
    }
    assertEquals(Scaling.block(3, 7), Scaling.parse(Scaling.block(3, 7).toString()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"128x64", "block(128,64)", " Block(128, 64) ", "128×64", "block 128x64"})
  void parsesBlocksInSeveralForms(String name) {
    assertEquals(Scaling.block(128, 64), Scaling.parse(name));
  }

  @Test
  void parsesNamesInAnyCase() {
    assertSame(Scaling.nvfp4(), Scaling.parse("NVFP4"));
    assertSame(Scaling.rows(), Scaling.parse(" Rows "));
    assertSame(Scaling.columns(), Scaling.parse("column"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "rowz", "128", "128x", "x", "mx(32)", "block", "99999999999x1"})
  void refusesOtherNames(String name) {
    assertRefused("scaling", () -> Scaling.parse(name));
  }

  @Test
  void refusesEmptyBlocks() {
    assertRefused("block", () -> Scaling.block(0, 1));
    assertRefused("block", () -> Scaling.block(1, -1));
    assertRefused("block", () -> Scaling.parse("0x1"));
  }

  @Test
  void scalesAreF32ButForMxAndNvfp4() {
    for (Scaling scaling : SupportTable.SCALINGS) {
      DType expected =
          scaling.equals(Scaling.mx())
              ? DType.F8_E8M0
              : scaling.equals(Scaling.nvfp4()) ? DType.F8_E4M3 : DType.F32;
      assertEquals(expected, scaling.scaleDType());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "none|F32 F16 BF16 F8_E4M3 F8_E5M2 F8_E8M0 F6_E2M3 F6_E3M2 F4_E2M1 I8 I4 I32",
        "tensor|F8_E4M3 F8_E5M2 F6_E2M3 F6_E3M2 F4_E2M1 I8 I4",
        "rows|F8_E4M3 F8_E5M2 F6_E2M3 F6_E3M2 F4_E2M1 I8 I4",
        "columns|F8_E4M3 F8_E5M2 F6_E2M3 F6_E3M2 F4_E2M1 I8 I4",
        "128x128|F8_E4M3 F8_E5M2 F6_E2M3 F6_E3M2 F4_E2M1 I8 I4",
        "mx|F8_E4M3 F8_E5M2 F6_E2M3 F6_E3M2 F4_E2M1",
        "nvfp4|F4_E2M1"
      })
  void scalesTheFormatsItIsDefinedFor(String name, String dtypes) {
    Set<String> valid = new TreeSet<>();
    for (DType dtype : DType.values()) {
      if (Scaling.parse(name).isValidFor(dtype)) {
        valid.add(dtype.name());
      }
    }
    assertEquals(new TreeSet<>(Set.of(dtypes.split(" ", -1))), valid);
  }

  @Test
  void quantSpecRefusesAScalingTheFormatLacks() {
    assertRefused("scaling", () -> QuantSpec.of(DType.F16).scaling(Scaling.tensor()));
    assertRefused("scaling", () -> QuantSpec.of(DType.I8).scaling(Scaling.mx()));
    assertRefused("scaling", () -> QuantSpec.of(DType.F6_E2M3).scaling(Scaling.nvfp4()));
  }

  @Test
  void quantSpecDefaults() {
    assertEquals(Scaling.mx(), QuantSpec.of(DType.F4_E2M1).scaling());
    assertEquals(Scaling.tensor(), QuantSpec.of(DType.F8_E4M3).scaling());
    assertEquals(Scaling.tensor(), QuantSpec.of(DType.I8).scaling());
    assertEquals(Scaling.none(), QuantSpec.of(DType.BF16).scaling());
    assertEquals(Overflow.SATURATE, QuantSpec.of(DType.F8_E5M2).overflow());
    assertEquals(Rounding.NEAREST_EVEN, QuantSpec.of(DType.F8_E5M2).rounding());
    assertEquals(MxScaleRule.FLOOR, QuantSpec.of(DType.F8_E5M2).mxRule());
  }
}
