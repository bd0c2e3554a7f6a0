package dev.minifloat.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** What holds for every value and format. */
class CodecPropertiesTest {
  @Provide
  Arbitrary<DType> floats() {
    return Arbitraries.of(Arrays.stream(DType.values()).filter(DType::isFloat).toList());
  }

  @Provide
  Arbitrary<DType> signed() {
    return Arbitraries.of(Arrays.stream(DType.values()).filter(DType::isSigned).toList());
  }

  @Provide
  Arbitrary<Rounding> roundings() {
    return Arbitraries.of(
        List.of(
            Rounding.NEAREST_EVEN,
            Rounding.TOWARD_ZERO,
            Rounding.TOWARD_POSITIVE,
            Rounding.stochastic(5)));
  }

  /** Any bits: NaN, infinities and subnormals as often as their share of the patterns. */
  @Provide
  Arbitrary<Float> anyBits() {
    return Arbitraries.integers().map(Float::intBitsToFloat);
  }

  @Provide
  Arbitrary<Double> finite() {
    return Arbitraries.doubles().between(-1e6, 1e6).withSpecialValue(-0.0);
  }

  @Property
  void roundingKeepsOrder(
      @ForAll("signed") DType dtype,
      @ForAll("roundings") Rounding rounding,
      @ForAll("finite") double x,
      @ForAll("finite") double y) {
    double low = Math.min(x, y);
    double high = Math.max(x, y);
    double first = value(dtype, low, rounding);
    double second = value(dtype, high, rounding);
    assertTrue(first <= second, () -> low + " -> " + first + ", " + high + " -> " + second);
  }

  @Property
  void rangeHolds(
      @ForAll("signed") DType dtype,
      @ForAll("roundings") Rounding rounding,
      @ForAll("anyBits") float x) {
    double value = value(dtype, x, rounding);
    if (!Float.isNaN(x)) {
      double lowest = dtype.isInteger() ? -dtype.max() - 1 : -dtype.max();
      assertTrue(value >= lowest && value <= dtype.max(), () -> x + " -> " + value);
    }
  }

  @Property
  void encodingTwiceIsEncodingOnce(
      @ForAll("floats") DType dtype,
      @ForAll("roundings") Rounding rounding,
      @ForAll("anyBits") float x) {
    int once = Codec.encode(dtype, x, rounding, Overflow.SATURATE, 9);
    int twice =
        Codec.encode(dtype, Codec.decodeDouble(dtype, once), rounding, Overflow.SATURATE, 9);
    assertEquals(once, twice);
  }

  @Property
  void signDoesNotChangeTheMagnitude(@ForAll("signed") DType dtype, @ForAll("anyBits") float x) {
    if (dtype.isFloat() && (dtype.hasNaN() || !Float.isNaN(x))) {
      int plus = Codec.encode(dtype, Math.abs(x));
      int minus = Codec.encode(dtype, Float.intBitsToFloat(Float.floatToRawIntBits(x) | 1 << 31));
      assertEquals(plus | 1 << (dtype.bits() - 1), minus);
    }
  }

  @Property
  void codesFitTheirWidth(
      @ForAll DType dtype, @ForAll("roundings") Rounding rounding, @ForAll("anyBits") float x) {
    for (Overflow overflow : Overflow.values()) {
      int code = Codec.encode(dtype, x, rounding, overflow, 1);
      assertEquals(code, code & dtype.codeMask());
    }
  }

  private static double value(DType dtype, double x, Rounding rounding) {
    return Codec.decodeDouble(dtype, Codec.encode(dtype, x, rounding, Overflow.SATURATE, 3));
  }
}
