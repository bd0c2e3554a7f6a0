package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ByteSizeTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0 B",
    "999, 999 B",
    "1000, 1.00 kB",
    "9994, 9.99 kB",
    "9996, 10.0 kB",
    "99960, 100 kB",
    "999499, 999 kB",
    "999500, 1.00 MB",
    "90400000, 90.4 MB",
    "1200000000, 1.20 GB",
    "9223372036854775807, 9223372 TB",
  })
  void hasThreeDigitsAndTheUnitThatFits(long bytes, String text) {
    assertEquals(text, ByteSize.text(bytes));
  }
}
