package dev.minifloat.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damaged and hostile files; each is an exception that says where. */
class MalformedSafetensorsTest {
  @TempDir private Path directory;

  private FileFormatException refused(byte[] bytes) {
    Path path = Bytes.write(directory.resolve("bad.safetensors"), bytes);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    FileFormatException e =
        assertThrows(FileFormatException.class, () -> SafetensorsFile.open(path).close());
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertTrue(allocated < 2L * bytes.length + SLACK, () -> allocated + " bytes allocated");
    assertEquals(path.toString(), e.file());
    assertTrue(e.getMessage().startsWith(path.toString()), e::getMessage);
    return e;
  }

  /** What opening a file takes anyway: class loading, parser buffers, the exception. */
  private static final long SLACK = 8 << 20;

  private FileFormatException refused(String header, int dataSize) {
    return refused(Bytes.safetensors(header, dataSize));
  }

  /** A file with one tensor, x, of which the header says {@code fields}. */
  private void refusedTensor(String fields, int dataSize, String because) {
    FileFormatException e = refused("{\"x\":{" + fields + "}}", dataSize);
    assertEquals(Optional.of("x"), e.tensor(), e::getMessage);
    assertTrue(e.offset().isPresent(), e::getMessage);
    assertSays(because, e);
  }

  private void assertSays(String text, FileFormatException e) {
    assertTrue(e.getMessage().contains(text), e::getMessage);
  }

  private static byte[] withLength(long length, String header) {
    byte[] bytes = Bytes.safetensors(header, 0);
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(0, length);
    return bytes;
  }

  @Test
  void headerLengthOfAllOnes() {
    FileFormatException e = refused(withLength(-1, "{}"));
    assertSays("18446744073709551615", e);
    assertEquals(0, e.offset().getAsLong());
  }

  @Test
  void headerOverOneHundredMillionBytes() {
    assertSays("100,000,000", refused(withLength(100_000_001, "{}")));
  }

  @Test
  void headerLongerThanTheFile() {
    assertSays("cut off", refused(withLength(100_000_000, "{}")));
    assertSays("cut off", refused(withLength(3, "{}")));
  }

  @Test
  void headerLengthAtTheSignBit() {
    assertSays("9223372036854775808", refused(withLength(Long.MIN_VALUE, "{}")));
  }

  @Test
  void shapeWhoseProductWrapsToZero() {
    refusedTensor(
        "\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]",
        0,
        "more elements than a long can count");
  }

  @Test
  void shapeWhoseProductWrapsBehindAZero() {
    refusedTensor(
        "\"dtype\":\"F32\",\"shape\":[0,4294967296,4294967296],\"data_offsets\":[0,0]",
        0,
        "more elements than a long can count");
  }

  @Test
  void shapeWhoseBytesWrap() {
    refusedTensor(
        "\"dtype\":\"F64\",\"shape\":[2305843009213693952],\"data_offsets\":[0,0]",
        0,
        "more bytes than a long can count");
  }

  @Test
  void shapeOfMoreDimensionsThanAnyTensor() {
    refusedTensor(
        "\"dtype\":\"U8\",\"shape\":[1" + ",1".repeat(1_000_000) + "],\"data_offsets\":[0,1]",
        1,
        "more than 64 dimensions");
  }

  @Test
  void endBeforeBegin() {
    refusedTensor("\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[4,2]", 4, "before they begin");
  }

  @Test
  void tensorPastTheEndOfTheFile() {
    refusedTensor("\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]", 4, "past the 4 bytes");
    refusedTensor(
        "\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[9223372036854775799,9223372036854775807]",
        4,
        "past the 4 bytes");
  }

  @Test
  void aMillionFloatsOverFourBytes() {
    refusedTensor(
        "\"dtype\":\"F32\",\"shape\":[1000,1000],\"data_offsets\":[0,4]", 4, "4000000 bytes");
  }

  @Test
  void unknownDtype() {
    refusedTensor("\"dtype\":\"F7\",\"shape\":[1],\"data_offsets\":[0,1]", 1, "\"F7\" is unknown");
    refusedTensor("\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]", 4, "is unknown");
    refusedTensor("\"dtype\":\"I4\",\"shape\":[2],\"data_offsets\":[0,1]", 1, "is unknown");
  }

  @Test
  void dtypeThatIsNoString() {
    refusedTensor("\"dtype\":7,\"shape\":[1],\"data_offsets\":[0,1]", 1, "dtype to be a string");
  }

  @Test
  void emptyFile() {
    assertSays("ends after 0", refused(new byte[0]));
  }

  @Test
  void fileShorterThanItsPrefix() {
    assertSays("ends after 7", refused(new byte[7]));
  }

  @Test
  void headerOfNoBytes() {
    assertSays("begins with {", refused(new byte[8]));
  }

  @Test
  void everyPrefixOfAFile() {
    byte[] whole =
        Bytes.safetensors("{\"x\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4);
    for (int length = 0; length < whole.length; length++) {
      refused(Arrays.copyOf(whole, length));
    }
  }

  @Test
  void headerThatIsNotUtf8() {
    byte[] bytes =
        Bytes.safetensors("{\"é\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0);
    bytes[11] = 'x';
    FileFormatException e = refused(bytes);
    assertSays("not UTF-8", e);
    assertEquals(10, e.offset().getAsLong());
  }

  @Test
  void overlongUtf8() {
    byte[] bytes = Bytes.safetensors("{\"ab\":{}}", 0);
    bytes[10] = (byte) 0xC1;
    bytes[11] = (byte) 0x81;
    assertSays("not UTF-8", refused(bytes));
  }

  @Test
  void headerInUtf16() {
    byte[] text = "{}".getBytes(StandardCharsets.UTF_16LE);
    byte[] bytes = new byte[8 + text.length];
    bytes[0] = (byte) text.length;
    System.arraycopy(text, 0, bytes, 8, text.length);
    assertSays("not valid JSON", refused(bytes));
  }

  @Test
  void headerWithAByteOrderMark() {
    assertSays("begins with {", refused("\uFEFF{}", 0));
  }

  @Test
  void headerThatIsNotJson() {
    assertSays("begins with {", refused("hello", 0));
    assertSays("not valid JSON", refused("{hello}", 0));
    assertSays("not valid JSON", refused("{\"a\":}", 0));
    assertSays("not valid JSON", refused("{\"a\"", 0));
    assertSays("not valid JSON", refused("{\"a\":{\"dtype\":NaN}}", 0));
    assertSays("not valid JSON", refused("{/* */}", 0));
    assertSays("begins with {", refused(" {}", 0));
    assertSays("begins with {", refused("[]", 0));
  }

  @Test
  void headerThatEndsTooEarly() {
    FileFormatException e = refused("{\"a\":{\"dtype\":\"U8\"", 0);
    assertEquals(Optional.of("a"), e.tensor());
  }

  @Test
  void textAfterTheHeader() {
    assertSays("after the closing brace", refused("{}{}", 0));
    assertSays("not valid JSON", refused("{} x", 0));
    assertSays("not valid JSON", refused("{}\0", 0));
  }

  @Test
  void deepNesting() {
    String deep = "[".repeat(100_000);
    assertSays("nest", refused("{\"x\":{\"later\":" + deep, 0));
    assertSays("nest", refused("{\"x\":{\"later\":" + "{\"a\":".repeat(100_000), 0));
    assertSays("expected an object", refused("{\"x\":" + deep, 0));
  }

  @Test
  void negativeNumbers() {
    refusedTensor("\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]", 1, "negative");
    refusedTensor("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[-1,0]", 1, "negative");
  }

  @Test
  void numbersBeyondLong() {
    refusedTensor(
        "\"dtype\":\"U8\",\"shape\":[18446744073709551615],\"data_offsets\":[0,1]", 1, "2^63");
    refusedTensor(
        "\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1" + "0".repeat(900) + "]", 1, "2^63");
  }

  @Test
  void numberOfAMillionDigits() {
    refused(
        "{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,"
            + "9".repeat(1_000_000)
            + "]}}",
        1);
  }

  @Test
  void fractionsAsNumbers() {
    refusedTensor("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1.0]", 1, "whole number");
    refusedTensor("\"dtype\":\"U8\",\"shape\":[1e0],\"data_offsets\":[0,1]", 1, "whole number");
  }

  @Test
  void numbersAsStrings() {
    refusedTensor("\"dtype\":\"U8\",\"shape\":[\"1\"],\"data_offsets\":[0,1]", 1, "a string");
    refusedTensor("\"dtype\":\"U8\",\"shape\":null,\"data_offsets\":[0,1]", 1, "null");
  }

  @Test
  void missingFields() {
    refusedTensor("\"shape\":[1],\"data_offsets\":[0,1]", 1, "lacks dtype");
    refusedTensor("\"dtype\":\"U8\",\"data_offsets\":[0,1]", 1, "lacks shape");
    refusedTensor("\"dtype\":\"U8\",\"shape\":[1]", 1, "lacks data_offsets");
  }

  @Test
  void offsetsThatAreNotTwo() {
    refusedTensor("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[]", 1, "end of the list");
    refusedTensor("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]", 1, "end of the list");
    refusedTensor("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]", 1, "not more");
  }

  @Test
  void aFieldGivenTwice() {
    refusedTensor(
        "\"dtype\":\"U8\",\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]",
        1,
        "dtype appears twice");
    refusedTensor(
        "\"dtype\":\"U8\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,1]",
        1,
        "shape appears twice");
  }

  @Test
  void aTensorGivenTwice() {
    String x = "\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}";
    FileFormatException e = refused("{" + x + "," + x + "}", 1);
    assertEquals(Optional.of("x"), e.tensor());
    assertSays("appears twice", e);
  }

  @Test
  void metadataThatAreNotStrings() {
    assertSays("strings only", refused("{\"__metadata__\":{\"a\":1}}", 0));
    assertSays("object of strings", refused("{\"__metadata__\":[]}", 0));
    assertSays("key \"a\" twice", refused("{\"__metadata__\":{\"a\":\"1\",\"a\":\"1\"}}", 0));
    assertSays("appears twice", refused("{\"__metadata__\":{},\"__metadata__\":{}}", 0));
  }

  @Test
  void overlappingTensors() {
    FileFormatException e =
        refused(
            """
            {"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},
             "b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}""",
            4);
    assertEquals(Optional.of("b"), e.tensor());
    assertSays("overlap those of \"a\"", e);
  }

  @Test
  void aHoleBetweenTensors() {
    FileFormatException e =
        refused(
            """
            {"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
             "b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}""",
            4);
    assertEquals(Optional.of("b"), e.tensor());
    assertSays("hole of 1 bytes", e);
  }

  @Test
  void aHoleBeforeTheFirstTensor() {
    refusedTensor("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]", 2, "hole of 1 bytes");
  }

  @Test
  void bytesAfterTheLastTensor() {
    refusedTensor("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]", 3, "2 bytes after");
    assertSays("3 bytes after", refused("{}", 3));
  }

  @Test
  void elementsThatDoNotFillTheirBytes() {
    refusedTensor("\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]", 2, "whole bytes");
    refusedTensor("\"dtype\":\"F6_E2M3\",\"shape\":[2],\"data_offsets\":[0,2]", 2, "whole bytes");
  }

  @Test
  void aNameOfMegabytes() {
    refused("{\"" + "n".repeat(2_000_000) + "\":7}", 0);
  }

  @Test
  void aLongNameIsShortenedInTheMessage() {
    FileFormatException e = refused("{\"" + "n".repeat(60_000) + "\":7}", 0);
    assertTrue(e.getMessage().length() < 1000);
    assertEquals(60_000, e.tensor().orElseThrow().length());
  }

  @Test
  void theByteIsTheOneInTheFileAfterTextOfAnyLength() {
    FileFormatException e = refused("{\"é€😀\":7}", 0);
    assertEquals(8 + "{\"é€😀\":".getBytes(StandardCharsets.UTF_8).length, e.offset().getAsLong());
  }
}
