package dev.minifloat.formats;

import static dev.minifloat.formats.OnnxWriter.bytes;
import static dev.minifloat.formats.OnnxWriter.dims;
import static dev.minifloat.formats.OnnxWriter.external;
import static dev.minifloat.formats.OnnxWriter.message;
import static dev.minifloat.formats.OnnxWriter.model;
import static dev.minifloat.formats.OnnxWriter.nested;
import static dev.minifloat.formats.OnnxWriter.packed;
import static dev.minifloat.formats.OnnxWriter.packedFloats;
import static dev.minifloat.formats.OnnxWriter.raw;
import static dev.minifloat.formats.OnnxWriter.tensor;
import static dev.minifloat.formats.OnnxWriter.text;
import static dev.minifloat.formats.OnnxWriter.varint;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damaged and hostile models; each is an exception that says where. */
class MalformedOnnxTest {
  /** What reading a model takes anyway: class loading, buffers, the exception. */
  private static final long SLACK = 8 << 20;

  @TempDir private Path directory;

  private static FileFormatException refused(byte[] bytes, String because) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    MemorySegment segment = MemorySegment.ofArray(bytes);
    long before = threads.getCurrentThreadAllocatedBytes();
    FileFormatException e =
        assertThrows(FileFormatException.class, () -> OnnxFile.of(segment, "bad.onnx").close());
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertTrue(allocated < 2L * bytes.length + SLACK, () -> allocated + " bytes allocated");
    assertEquals("bad.onnx", e.file());
    assertTrue(e.getMessage().contains(because), e::getMessage);
    return e;
  }

  private static void refusedTensor(String because, OnnxWriter.Fields tensor) {
    FileFormatException e = refused(model(tensor), because);
    assertEquals(Optional.of("x"), e.tensor(), e::getMessage);
    assertTrue(e.offset().isPresent(), e::getMessage);
  }

  @Test
  void emptyFile() {
    refused(new byte[0], "no graph");
  }

  @Test
  void textInsteadOfAModel() {
    refused("this is no model".getBytes(StandardCharsets.US_ASCII), "ONNX");
  }

  @Test
  void everyPrefixOfAModel() {
    byte[] whole = model(tensor("x", 1, dims(2), packedFloats(4, 1, 2)), nested(1, text(4, "Add")));
    // A prefix that ends after the graph lacks only the metadata, which may be missing.
    int graphEnd = whole.length - message(nested(14, text(1, "k"), text(2, "v"))).length;
    for (int length = 0; length < graphEnd; length++) {
      refused(Arrays.copyOf(whole, length), "");
    }
  }

  @Test
  void aFieldLongerThanItsMessage() {
    refused(new byte[] {0x3A, 0x10, 0x0A}, "only 1 remain");
    refused(
        new byte[] {0x3A, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, 0x07}, "2147483647");
    refused(
        new byte[] {0x3A, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, 0x0F}, "4294967295");
    // A name that would reach past its tensor, though not past the file.
    refused(
        message(nested(7, bytes(5, new byte[] {0x42, 0x05, 'x'}), text(2, "padding"))), "only 1");
  }

  @Test
  void aNumberThatDoesNotEnd() {
    byte[] bytes = new byte[12];
    Arrays.fill(bytes, (byte) 0xFF);
    bytes[0] = 0x08;
    refused(bytes, "protobuf");
  }

  @Test
  void wrongWireTypes() {
    refused(message(varint(7, 1)), "wire type");
    refusedTensor("wire type", tensor("x", 1, dims(1), varint(9, 1)));
    refusedTensor("wire type", tensor("x", 1, dims(1), varint(4, 1)));
    refusedTensor("wire type", tensor("x", 6, dims(1), out -> out.writeFloat(5, 1)));
  }

  @Test
  void groupsWhichOnnxNeverHas() {
    refused(new byte[] {(byte) 0xA3, 0x06, (byte) 0xA4, 0x06}, "does not occur");
    byte[] nestedGroups = new byte[200_000];
    for (int i = 0; i < nestedGroups.length; i += 2) {
      nestedGroups[i] = (byte) 0xA3;
      nestedGroups[i + 1] = 0x06;
    }
    refused(nestedGroups, "does not occur");
  }

  @Test
  void subgraphsNestedDeeplyArePassedOver() {
    byte[] attribute = message(text(1, "g"));
    for (int depth = 0; depth < 2000; depth++) {
      attribute = message(text(1, "g"), nested(6, nested(1, text(4, "If"), bytes(5, attribute))));
    }
    byte[] bytes = model(nested(1, text(4, "If"), bytes(5, attribute)));
    try (OnnxFile file = OnnxFile.of(MemorySegment.ofArray(bytes), "deep.onnx")) {
      assertEquals(1, file.nodes().size());
    }
  }

  @Test
  void negativeDims() {
    refusedTensor("negative", tensor("x", 1, dims(-1), raw()));
    refusedTensor("negative", tensor("x", 1, dims(0, Long.MIN_VALUE), raw()));
  }

  @Test
  void dimsWhoseProductWraps() {
    refusedTensor("than a long can count", tensor("x", 1, dims(1L << 32, 1L << 32), raw()));
    refusedTensor("than a long can count", tensor("x", 11, dims(1L << 61), raw()));
    refusedTensor("than a long can count", tensor("x", 1, dims(0, 1L << 32, 1L << 32), raw()));
  }

  @Test
  void moreDimensionsThanAnyTensorHas() {
    byte[] ones = new byte[1_000_000];
    Arrays.fill(ones, (byte) 1);
    refused(model(nested(5, text(8, "x"), varint(2, 2), bytes(1, ones), raw(1))), "more than 64");
  }

  @Test
  void rawDataOfTheWrongSize() {
    refusedTensor("needs 8 bytes", tensor("x", 1, dims(2), raw(1, 2, 3, 4)));
    refusedTensor("needs 4000000 bytes", tensor("x", 1, dims(1000, 1000), raw(1, 2, 3, 4)));
    refusedTensor("needs 2 bytes", tensor("x", 22, dims(3), raw(1, 2, 3)));
  }

  @Test
  void noDataAtAll() {
    refusedTensor("there are no data", tensor("x", 1, dims(2)));
  }

  @Test
  void typedDataOfTheWrongCount() {
    refusedTensor("float_data has 1 numbers", tensor("x", 1, dims(2), packedFloats(4, 1)));
    refusedTensor("int32_data has 3 numbers", tensor("x", 3, dims(2), packed(5, 1, 2, 3)));
    refusedTensor("int64_data has 1 numbers", tensor("x", 7, dims(1L << 40), packed(7, 1)));
  }

  @Test
  void typedDataInTheWrongField() {
    refusedTensor("can't hold F16", tensor("x", 10, dims(1), packedFloats(4, 1)));
    refusedTensor("can't hold I64", tensor("x", 7, dims(1), packed(5, 1)));
  }

  @Test
  void typedDataOutOfRange() {
    refusedTensor("holds 256", tensor("x", 2, dims(1), packed(5, 256)));
    refusedTensor("holds 128", tensor("x", 3, dims(1), packed(5, 128)));
    refusedTensor("holds 65536", tensor("x", 10, dims(1), packed(5, 65536)));
    refusedTensor("holds 2147483648", tensor("x", 6, dims(1), packed(5, 1L << 31)));
    refusedTensor("holds 4294967296", tensor("x", 12, dims(1), packed(11, 1L << 32)));
    refusedTensor("holds -1", tensor("x", 12, dims(1), packed(11, -1)));
  }

  @Test
  void packedFloatsThatEndInMidNumber() {
    refusedTensor("multiple of 4", tensor("x", 1, dims(1), bytes(4, new byte[5])));
    refusedTensor("multiple of 8", tensor("x", 11, dims(1), bytes(10, new byte[12])));
  }

  @Test
  void packedIntegersThatEndInMidNumber() {
    refusedTensor("protobuf", tensor("x", 6, dims(1), bytes(5, new byte[] {(byte) 0x80})));
  }

  @Test
  void dataInTwoPlaces() {
    refusedTensor("too", tensor("x", 1, dims(1), packedFloats(4, 1), raw(0, 0, 0, 0)));
    refusedTensor("more than one", tensor("x", 1, dims(1), packedFloats(4, 1), packed(5, 1)));
    refusedTensor("raw_data appears twice", tensor("x", 2, dims(1), raw(1), raw(1)));
  }

  @Test
  void segmentsOfTensors() {
    refusedTensor("segments", tensor("x", 2, dims(1), nested(3, varint(1, 0)), raw(1)));
  }

  @Test
  void aTensorWithoutATypeOrAName() {
    refusedTensor("no data_type", nested(5, text(8, "x"), raw()));
    refused(model(nested(5, varint(2, 1))), "without a name");
  }

  @Test
  void aTensorGivenTwice() {
    OnnxWriter.Fields x = tensor("x", 2, dims(1), raw(1));
    FileFormatException e = refused(model(x, x), "appears twice");
    assertEquals(Optional.of("x"), e.tensor());
  }

  @Test
  void aNodeWithoutAnOperator() {
    refused(model(nested(1, text(3, "n"))), "no op_type");
  }

  @Test
  void namesThatAreNotUtf8() {
    refused(model(nested(5, varint(2, 2), bytes(8, new byte[] {(byte) 0xFF}))), "UTF-8");
    refused(model(nested(1, bytes(4, new byte[] {(byte) 0xC0, (byte) 0x80}))), "UTF-8");
  }

  private void refusedFile(String because, OnnxWriter.Fields tensor) {
    Path path = Bytes.write(directory.resolve("m.onnx"), model(tensor));
    FileFormatException e =
        assertThrows(FileFormatException.class, () -> OnnxFile.open(path).close());
    assertEquals(Optional.of("x"), e.tensor());
    assertTrue(e.getMessage().contains(because), e::getMessage);
  }

  @Test
  void externalDataOutsideTheDirectory() {
    Bytes.write(directory.getParent().resolve("outside.bin"), new byte[1]);
    for (String location :
        new String[] {
          "../outside.bin",
          "sub/../../outside.bin",
          directory.getParent().resolve("outside.bin").toString(),
          "/etc/passwd",
          "..",
          ".",
          "",
          "a\0b"
        }) {
      refusedFile("not inside", tensor("x", 2, dims(1), external("location", location)));
    }
  }

  @Test
  void externalDataWithoutALocation() {
    refusedFile("without a location", tensor("x", 2, dims(1), external()));
  }

  @Test
  void externalDataWhoseFileIsMissing() {
    refusedFile("is missing", tensor("x", 2, dims(1), external("location", "none.bin")));
  }

  @Test
  void externalDataPastTheEndOfTheirFile() {
    Bytes.write(directory.resolve("w.bin"), new byte[4]);
    for (String offset : new String[] {"1", "5", String.valueOf(Long.MAX_VALUE)}) {
      refusedFile(
          "reach past the 4",
          tensor("x", 1, dims(1), external("location", "w.bin", "offset", offset)));
    }
  }

  @Test
  void externalDataWithSizesThatAreNone() {
    Bytes.write(directory.resolve("w.bin"), new byte[4]);
    refusedFile(
        "negative offset", tensor("x", 1, dims(1), external("location", "w.bin", "offset", "-1")));
    refusedFile("no number", tensor("x", 1, dims(1), external("location", "w.bin", "offset", "x")));
    refusedFile("\"3\"", tensor("x", 1, dims(1), external("location", "w.bin", "length", "3")));
  }

  @Test
  void externalDataOfAModelInMemory() {
    FileFormatException e =
        refused(model(tensor("x", 1, dims(1), external("location", "w.bin"))), "by its path");
    assertEquals(Optional.of("x"), e.tensor());
  }

  @Test
  void aFileOfMoreThanTwoGigabytes() throws IOException {
    Path path = directory.resolve("huge.onnx");
    try (FileChannel channel =
        FileChannel.open(
            path,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.SPARSE,
            StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[1]), 1L << 31);
    }
    FileFormatException e =
        assertThrows(FileFormatException.class, () -> OnnxFile.open(path).close());
    assertTrue(e.getMessage().contains("external data"), e::getMessage);
  }
}
