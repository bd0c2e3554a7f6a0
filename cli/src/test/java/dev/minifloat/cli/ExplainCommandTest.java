package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.codec.Codec;
import java.math.BigDecimal;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class ExplainCommandTest {
  private static JsonNode explain(String... args) {
    String[] line = new String[args.length + 2];
    line[0] = "explain";
    line[1] = "--json";
    System.arraycopy(args, 0, line, 2, args.length);
    Cli result = Cli.run(line);
    assertEquals(0, result.code(), result.err());
    return result.json();
  }

  private static String outcome(JsonNode explained, String rounding, String overflow) {
    return StreamSupport.stream(explained.get("results").spliterator(), false)
        .filter(r -> r.get("rounding").asString().equals(rounding))
        .filter(r -> r.get("overflow").asString().equals(overflow))
        .map(r -> r.get("code").asString())
        .toList()
        .getFirst();
  }

  @Test
  void drawsTheBitsOfAValue() {
    Cli result = Cli.run("explain", "f8_e4m3", "0.1");

    assertEquals(0, result.code(), result.err());
    assertTrue(
        result
            .out()
            .contains(
                """
                  0 0011 101
                  | |    `-- mantissa 5: 1 + 5/8
                  | `------- exponent 3: 2^(3 - 7) = 2^-4
                  `--------- sign 0: positive
                """),
        result.out());
    assertTrue(result.out().contains("0.1015625 = 0x1.ap-4"), result.out());
  }

  @ParameterizedTest
  @CsvSource({
    "f8_e4m3, 464,  nearest-even,    IEEE,     0x7E",
    "f8_e4m3, 465,  nearest-even,    IEEE,     0x7F",
    "f8_e4m3, 465,  nearest-even,    SATURATE, 0x7E",
    "f8_e4m3, 465,  toward-zero,     IEEE,     0x7E",
    "f8_e4m3, -inf, nearest-even,    SATURATE, 0xFE",
    "f8_e5m2, 1e9,  nearest-even,    IEEE,     0x7C",
    "f8_e4m3, 0.1,  toward-zero,     IEEE,     0x1C",
    "f8_e4m3, 0.1,  toward-positive, IEEE,     0x1D",
    "f8_e4m3, -0.1, toward-positive, IEEE,     0x9C",
    "f4_e2m1, nan,  nearest-even,    IEEE,     0x7",
    "f6_e3m2, 0x1p-4, nearest-even,  SATURATE, 0x01",
    "f8_e8m0, 3,    nearest-even,    SATURATE, 0x80",
    "f8_e8m0, 2.9,  toward-positive, SATURATE, 0x81",
    "i8,      -200, nearest-even,    SATURATE, 0x80",
    "i4,      2.5,  nearest-even,    SATURATE, 0x2",
    "f16,     -0.0, nearest-even,    IEEE,     0x8000",
  })
  void roundsAndOverflowsAsAsked(
      String dtype, String value, String rounding, String overflow, String code) {
    assertEquals(code, outcome(explain(dtype, value), rounding, overflow));
  }

  @ParameterizedTest
  @CsvSource({
    // 1 + 2^-11 is a tie of F16; what lies 2^-80 above it is lost in a double and must go up.
    "f16, 1.00048828125000000000000082718061255302767487, 0x3C01",
    "f16, 1.00048828125, 0x3C00",
    "f16, 1.00048828124999999999999999999999999999, 0x3C00",
    "f32, 1.000000059604644775390625, 0x3F800000",
    "f32, 1.00000005960464477539062500000000000000001, 0x3F800001",
    "f8_e4m3, 464.00000000000000000000000000001, 0x7E",
    "f32, 7.00649232162408535461864791644958065640130970938257885878534141944895541342930e-46, 0x00000000",
  })
  void aDecimalIsRoundedOnce(String dtype, String value, String code) {
    assertEquals(code, explain(dtype, value).get("code").asString());
  }

  @Test
  void saysWhenADecimalIsNoDouble() {
    assertFalse(explain("f16", "0.1").get("inputIsDouble").asBoolean());
    assertTrue(explain("f16", "0.125").get("inputIsDouble").asBoolean());
    assertTrue(Cli.run("explain", "f16", "0.1").out().contains("no double equals"));
  }

  @Test
  void stochasticRoundingComesWithItsProbability() {
    // Between 4 and 5 (E4M3 has 4.0, 4.5, …): 4.125 is a quarter of the way from 4 to 4.5.
    JsonNode results = explain("f8_e4m3", "4.125").get("results");
    double[] odds =
        StreamSupport.stream(results.spliterator(), false)
            .filter(r -> r.get("rounding").asString().equals("stochastic"))
            .filter(r -> r.get("overflow").asString().equals("SATURATE"))
            .mapToDouble(r -> r.get("probability").asDouble())
            .toArray();

    assertEquals(2, odds.length);
    assertEquals(0.75, odds[0]);
    assertEquals(0.25, odds[1]);
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void neighboursOfEveryCodeAreInOrderAndNothingLiesBetween(DType dtype) {
    int codes = dtype.bits() <= 8 ? 1 << dtype.bits() : 4096;
    for (int code = 0; code < codes; code++) {
      CodePoint point = new CodePoint(dtype, code);
      point
          .above()
          .ifPresent(
              above -> {
                assertTrue(above.value() > point.value(), point + " < " + above);
                // Going back leads to a code of the same value: +0 and -0 are one place.
                assertEquals(point.value(), above.below().orElseThrow().value(), 0.0);
              });
      if (point.kind() == CodePoint.Kind.NORMAL && point.value() > 0) {
        double step = point.above().map(CodePoint::value).orElse(Double.NaN) - point.value();
        double ulp = point.ulp().orElseThrow();
        assertTrue(step == ulp || !Double.isFinite(step), point.toString());
      }
    }
  }

  @Test
  void theLargestValueHasNothingAbove() {
    JsonNode largest = explain("f8_e4m3", "0x7E");

    assertEquals(448, largest.get("value").asDouble());
    assertTrue(largest.get("above").isNull());
    assertEquals("0x7D", largest.get("below").get("code").asString());
    assertEquals("+Inf", explain("f16", "0x7BFF").get("above").get("value").asString());
  }

  @Test
  void classesAreNamed() {
    assertEquals("subnormal", explain("f8_e4m3", "0x01").get("class").asString());
    assertEquals("zero", explain("f8_e4m3", "0x80").get("class").asString());
    assertEquals("-0", explain("f8_e4m3", "0x80").get("exact").asString());
    assertEquals("infinity", explain("f8_e5m2", "0x7C").get("class").asString());
    assertEquals("nan", explain("f8_e5m2", "0x7D").get("class").asString());
    assertEquals("normal", explain("f8_e8m0", "0x00").get("class").asString());
    assertEquals("nan", explain("f8_e8m0", "0xFF").get("class").asString());
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void everyCodeOfAFormatIsExplained(DType dtype) {
    for (int code :
        new int[] {0, 1, Codec.maxCode(dtype), Codec.nanCode(dtype), dtype.codeMask()}) {
      String hex = "0x" + Integer.toHexString(code);
      Cli result = Cli.run("explain", dtype.name(), hex);
      assertEquals(0, result.code(), result.err());
      assertTrue(result.out().contains("value      "), result.out());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "abc",
        "1,5",
        "0x",
        "0x1FF",
        "--1",
        "1e99999",
        "0x1p99999",
        "0xG",
        "1e",
        "-",
        "１",
        "0x1p１"
      })
  void whatIsNoValueIsWrongUsage(String value) {
    Cli result = Cli.run("explain", "f8_e4m3", value);

    assertEquals(2, result.code(), result.out());
    assertTrue(result.err().contains("VALUE"), result.err());
    assertEquals(1, result.err().lines().count(), result.err());
  }

  @Test
  void anUnknownFormatIsWrongUsageThatListsThem() {
    Cli result = Cli.run("explain", "f7_e3m3", "1");

    assertEquals(2, result.code());
    assertTrue(result.err().contains("F8_E4M3"), result.err());
  }

  @ParameterizedTest
  @CsvSource({
    "nvfp4, f4_e2m1",
    "MXFP4, f4_e2m1",
    "mxfp6, f6_e2m3",
    "mxfp8, f8_e4m3",
  })
  void aFormatWithBlockScalesNamesItsElementType(String name, String elements) {
    Cli result = Cli.run("explain", name, "1");

    assertEquals(2, result.code());
    assertTrue(result.err().startsWith("minifloat explain: DTYPE: " + name), result.err());
    assertTrue(result.err().contains("block scales"), result.err());
    assertTrue(result.err().contains(elements), result.err());
  }

  @Test
  void anAliasSaysWhatItIsReadAs() {
    assertTrue(Cli.run("explain", "half", "1").out().startsWith("\"half\" is read as F16."));
    assertTrue(Cli.run("explain", "f16", "1").out().startsWith("F16: "));
  }

  @ParameterizedTest
  @ValueSource(strings = {"1e3", "+0x1.8P1", "-.50", "1000000000000000000000000", "INF"})
  void theInputIsEchoedAsTyped(String typed) {
    Cli result = Cli.run("explain", "bf16", typed);

    assertTrue(result.out().lines().anyMatch(("Input " + typed)::equals), result.out());
    assertEquals(typed, explain("bf16", typed).get("input").asString());
  }

  @ParameterizedTest
  @CsvSource({
    "f8_e8m0, 0x00, 2^-127 ≈ 5.877e-39",
    "f8_e8m0, 0xFE, 2^127 ≈ 1.701e+38",
    "f8_e8m0, 0x7F, 1 = 0x1.0p0",
    "bf16, 0x8001, -2^-133 ≈ -9.184e-41",
    "f32, 0x00000003, 0x1.8p-148 ≈ 4.204e-45",
    "f16, 0x0001, 5.9604644775390625E-8 = 0x1.0p-24",
    "f32, 0x7F7FFFFF, 3.4028234663852885981170418348451692544E+38 = 0x1.fffffep127",
  })
  void valuesOfManyDigitsAreShownShortAndExact(String dtype, String code, String value) {
    Cli result = Cli.run("explain", dtype, code);

    assertTrue(result.out().lines().anyMatch(("value      " + value)::equals), result.out());
  }

  @Test
  void jsonHasEveryDigit() {
    String exact = explain("e8m0", "0x00").get("exact").asString();

    assertEquals(
        0, new BigDecimal(exact).multiply(BigDecimal.TWO.pow(127)).compareTo(BigDecimal.ONE));
  }

  @Test
  void saysThatScalesHaveNoSign() {
    String out = Cli.run("explain", "e8m0", "-3").out();

    assertTrue(out.contains("neither sign nor zero"), out);
    assertEquals("0x80", outcome(explain("e8m0", "-3"), "nearest-even", "SATURATE"));
    assertFalse(Cli.run("explain", "f8_e4m3", "-3").out().contains("neither sign"));
  }
}
