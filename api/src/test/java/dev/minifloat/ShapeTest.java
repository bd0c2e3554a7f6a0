package dev.minifloat;

import static dev.minifloat.Refusals.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShapeTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // dims, elements, batch, rows, columns
        "|1|1|1|1",
        "7|7|1|1|7",
        "5,7|35|1|5|7",
        "3,5,7|105|3|5|7",
        "2,3,5,7|210|6|5|7",
        "0|0|1|1|0",
        "5,0|0|1|5|0",
        "0,5,7|0|0|5|7",
        "9223372036854775807|9223372036854775807|1|1|9223372036854775807",
        "4294967296,2147483647|9223372032559808512|1|4294967296|2147483647"
      })
  void countsElementsAndMatrices(String dims, long elements, long batch, long rows, long columns) {
    Shape shape = dims == null ? Shape.SCALAR : Shape.of(numbers(dims));
    assertEquals(elements, shape.elements());
    assertEquals(batch, shape.batch());
    assertEquals(rows, shape.rows());
    assertEquals(columns, shape.columns());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "4294967296,4294967296", // wraps to 0
        "4294967296,2147483648", // 2^63
        "9223372036854775807,2",
        "3037000500,3037000500",
        "0,4294967296,4294967296" // a zero hides no overflow
      })
  void refusesMoreElementsThanALongCounts(String dims) {
    assertRefused("dims", () -> Shape.of(numbers(dims)));
  }

  @Test
  void refusesNegativeExtents() {
    assertRefused("dims[1]", () -> Shape.of(2, -1));
    assertRefused("dims[0]", () -> Shape.of(-1, 0));
  }

  @Test
  void negativeDimensionsCountFromTheEnd() {
    Shape shape = Shape.of(2, 3, 5);
    assertEquals(5, shape.dim(-1));
    assertEquals(2, shape.dim(-3));
    assertEquals(3, shape.dim(1));
    assertRefused("i", () -> shape.dim(3));
    assertRefused("i", () -> shape.dim(-4));
    assertRefused("i", () -> Shape.SCALAR.dim(0));
  }

  @Test
  void keepsItsExtentsFromTheCallersArray() {
    long[] dims = {2, 3};
    Shape shape = Shape.of(dims);
    dims[0] = 9;
    shape.dims()[1] = 9;
    assertArrayEquals(new long[] {2, 3}, shape.dims());
  }

  @Test
  void withReplacesOneExtent() {
    assertEquals(Shape.of(2, 7, 5), Shape.of(2, 3, 5).with(-2, 7));
    assertRefused("dims[0]", () -> Shape.of(2, 3).with(0, -2));
  }

  @Test
  void equalsByExtents() {
    assertEquals(Shape.of(2, 3), Shape.of(2, 3));
    assertEquals(Shape.of(2, 3).hashCode(), Shape.of(2, 3).hashCode());
    assertNotEquals(Shape.of(2, 3), Shape.of(3, 2));
    assertNotEquals(Shape.of(6), Shape.of(2, 3));
    assertEquals(Shape.SCALAR, Shape.of());
    assertEquals("[2, 3]", Shape.of(2, 3).toString());
  }

  private static long[] numbers(String dims) {
    String[] parts = dims.split(",", -1);
    long[] numbers = new long[parts.length];
    for (int i = 0; i < parts.length; i++) {
      numbers[i] = Long.parseLong(parts[i]);
    }
    return numbers;
  }
}
