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
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Shape;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.LongToDoubleFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class OnnxFileTest {
  @TempDir private Path directory;

  private static OnnxFile of(byte[] bytes) {
    return OnnxFile.of(MemorySegment.ofArray(bytes), "test.onnx");
  }

  private static OnnxFile of(OnnxWriter.Fields... graph) {
    return of(model(graph));
  }

  private static double[] decode(TensorFile file, String name) {
    TensorInfo info = file.info(name);
    MemorySegment data = file.data(name);
    LongToDoubleFunction element = i -> info.type().decode(data, i);
    return LongStream.range(0, info.shape().elements()).mapToDouble(element).toArray();
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"F6_E2M3", "F6_E3M2"})
  void rawDataOfEveryTypeAreTheBytesOfTheFile(StorageType type) {
    byte[] data = new byte[Math.toIntExact(type.byteSize(Shape.of(3, 5)))];
    new Random(type.bits()).nextBytes(data);
    try (OnnxFile file =
        of(tensor("x", type.onnxNumber().getAsInt(), dims(3, 5), bytes(9, data)))) {
      assertEquals(type, file.info("x").type());
      assertEquals(Shape.of(3, 5), file.info("x").shape());
      assertArrayEquals(data, Bytes.of(file.data("x")));
      assertTrue(file.data("x").isReadOnly());
    }
  }

  @Test
  void theOffsetIsThatOfTheDataInTheFile() {
    byte[] bytes = model(tensor("x", 2, dims(3), raw(101, 102, 103)));
    try (OnnxFile file = of(bytes)) {
      assertEquals(101, bytes[(int) file.info("x").offset()]);
    }
  }

  @Test
  void fourBitElementsHaveTheFirstInTheLowNibble() {
    try (OnnxFile file =
        of(
            tensor("u4", 21, dims(3), raw(0x21, 0x0F)),
            tensor("i4", 22, dims(2), raw(0x8F)),
            tensor("f4", 23, dims(2), raw(0x91)))) {
      assertArrayEquals(new double[] {1, 2, 15}, decode(file, "u4"));
      assertArrayEquals(new double[] {-1, -8}, decode(file, "i4"));
      assertArrayEquals(new double[] {0.5, -0.5}, decode(file, "f4"));
    }
  }

  @Test
  void aScalarHasNoDims() {
    try (OnnxFile file = of(tensor("x", 7, dims(), raw(7, 0, 0, 0, 0, 0, 0, 0)))) {
      assertEquals(Shape.SCALAR, file.info("x").shape());
      assertArrayEquals(new double[] {7}, decode(file, "x"));
    }
  }

  @Test
  void anEmptyTensorNeedsNoData() {
    try (OnnxFile file = of(tensor("x", 1, dims(0, 4)), tensor("y", 1, dims(0), raw()))) {
      assertEquals(0, file.data("x").byteSize());
      assertEquals(0, file.data("y").byteSize());
    }
  }

  @Test
  void packedFloatsAreHandedOutInPlace() {
    byte[] bytes = model(tensor("x", 1, dims(2), packedFloats(4, 1.5f, -2)));
    try (OnnxFile file = of(bytes)) {
      assertArrayEquals(new float[] {1.5f, -2}, file.tensor("x").toFloats());
      int at = (int) file.info("x").offset();
      bytes[at + 3] = (byte) 0xBF; // the sign of 1.5
      assertArrayEquals(new float[] {-1.5f, -2}, file.tensor("x").toFloats());
    }
  }

  @Test
  void unpackedFloatsAreGathered() {
    try (OnnxFile file =
        of(
            tensor(
                "x",
                1,
                dims(4),
                out -> out.writeFloat(4, 1),
                packedFloats(4, 2, 3),
                out -> out.writeFloat(4, 4)))) {
      assertArrayEquals(new double[] {1, 2, 3, 4}, decode(file, "x"));
    }
  }

  @Test
  void packedFloatsInSeveralPiecesAreGathered() {
    try (OnnxFile file =
        of(tensor("x", 1, dims(3), packedFloats(4, 1), text(12, "doc"), packedFloats(4, 2, 3)))) {
      assertArrayEquals(new double[] {1, 2, 3}, decode(file, "x"));
    }
  }

  @Test
  void doublesComePackedAndUnpacked() {
    try (OnnxFile file =
        of(
            tensor("u", 11, dims(2), out -> out.writeDouble(10, 1), out -> out.writeDouble(10, 2)),
            tensor("p", 11, dims(1), bytes(10, message(out -> out.writeDoubleNoTag(Math.PI)))))) {
      assertArrayEquals(new double[] {1, 2}, decode(file, "u"));
      assertArrayEquals(new double[] {Math.PI}, decode(file, "p"));
    }
  }

  @Test
  void complexNumbersAreTwoFloatsEach() {
    try (OnnxFile file = of(tensor("x", 14, dims(2), packedFloats(4, 1, 2, 3, 4)))) {
      assertArrayEquals(new double[] {1, 3}, decode(file, "x"));
      assertEquals(4, StorageType.C64.decodeImaginary(file.data("x"), 1));
    }
  }

  @Test
  void int32DataHoldTheSmallIntegers() {
    try (OnnxFile file =
        of(
            tensor("i32", 6, dims(3), packed(5, 1, -1, Integer.MIN_VALUE)),
            tensor("i16", 5, dims(2), packed(5, -32768, 32767)),
            tensor("i8", 3, dims(3), packed(5, -128, 127, -1)),
            tensor("u16", 4, dims(1), packed(5, 65535)),
            tensor("u8", 2, dims(2), varint(5, 200), varint(5, 3)),
            tensor("bool", 9, dims(2), packed(5, 1, 0)))) {
      assertArrayEquals(new double[] {1, -1, Integer.MIN_VALUE}, decode(file, "i32"));
      assertArrayEquals(new double[] {-32768, 32767}, decode(file, "i16"));
      assertArrayEquals(new double[] {-128, 127, -1}, decode(file, "i8"));
      assertArrayEquals(new double[] {65535}, decode(file, "u16"));
      assertArrayEquals(new double[] {200, 3}, decode(file, "u8"));
      assertArrayEquals(new double[] {1, 0}, decode(file, "bool"));
    }
  }

  @Test
  void int32DataHoldTheBitsOfSmallFloats() {
    try (OnnxFile file =
        of(
            tensor("f16", 10, dims(2), packed(5, 0x3C00, 0xC000)),
            tensor("bf16", 16, dims(2), packed(5, 0x3F80, 0xC000)),
            tensor("e4m3", 17, dims(2), packed(5, 0x38, 0xFE)),
            tensor("e5m2", 19, dims(1), packed(5, 0x3C)),
            tensor("e4m3fnuz", 18, dims(1), packed(5, 0x40)),
            tensor("e8m0", 24, dims(1), packed(5, 0x80)))) {
      assertArrayEquals(new double[] {1, -2}, decode(file, "f16"));
      assertArrayEquals(new double[] {1, -2}, decode(file, "bf16"));
      assertArrayEquals(new double[] {1, -448}, decode(file, "e4m3"));
      assertArrayEquals(new double[] {1}, decode(file, "e5m2"));
      assertArrayEquals(new double[] {1}, decode(file, "e4m3fnuz"));
      assertArrayEquals(new double[] {2}, decode(file, "e8m0"));
    }
  }

  @Test
  void int32DataHoldAByteOfFourBitElementsEach() {
    try (OnnxFile file =
        of(
            tensor("i4", 22, dims(3), packed(5, 0x2F, 0x07)),
            tensor("f4", 23, dims(2), packed(5, 0x91)),
            tensor("u2", 25, dims(5), packed(5, 0xE4, 0x02)))) {
      assertArrayEquals(new double[] {-1, 2, 7}, decode(file, "i4"));
      assertArrayEquals(new double[] {0.5, -0.5}, decode(file, "f4"));
      assertArrayEquals(new double[] {0, 1, 2, 3, 2}, decode(file, "u2"));
    }
  }

  @Test
  void longIntegersComeFromTheirOwnFields() {
    try (OnnxFile file =
        of(
            tensor("i64", 7, dims(3), packed(7, 1, -1, Long.MIN_VALUE)),
            tensor("u64", 13, dims(2), packed(11, -1, 5)),
            tensor("u32", 12, dims(2), packed(11, 0xFFFFFFFFL, 0)))) {
      assertArrayEquals(new double[] {1, -1, Long.MIN_VALUE}, decode(file, "i64"));
      assertArrayEquals(new double[] {0x1p64, 5}, decode(file, "u64"));
      assertArrayEquals(new double[] {0xFFFFFFFFL, 0}, decode(file, "u32"));
    }
  }

  @Test
  void decodedDataAreMadeOnce() {
    try (OnnxFile file = of(tensor("x", 6, dims(1), packed(5, 7)))) {
      assertSame(file.data("x"), file.data("x"));
    }
  }

  @Test
  void fieldsMayComeInAnyOrder() {
    try (OnnxFile file =
        of(nested(5, raw(5, 6), text(8, "x"), varint(2, 3), text(12, "doc"), packed(1, 1, 2)))) {
      assertArrayEquals(new double[] {5, 6}, decode(file, "x"));
      assertEquals(Shape.of(1, 2), file.info("x").shape());
    }
  }

  @Test
  void nodesHaveTheirInputsOutputsAndAttributes() {
    try (OnnxFile file =
        of(
            nested(
                1,
                text(1, "x"),
                text(1, "onnx::MatMul_1"),
                text(2, "y"),
                text(3, "/MatMul"),
                text(4, "MatMul")),
            nested(
                1,
                text(1, "y"),
                text(1, ""),
                text(2, "z"),
                text(4, "Fancy"),
                text(7, "com.example"),
                nested(5, text(1, "i"), varint(3, -5), varint(20, 2)),
                nested(5, text(1, "f"), out -> out.writeFloat(2, 1.5f), varint(20, 1)),
                nested(5, text(1, "s"), text(4, "tanh"), varint(20, 3)),
                nested(5, text(1, "packed"), packed(8, 0, 2, -1), varint(20, 7)),
                nested(5, text(1, "ints"), varint(8, 3), varint(8, 4)),
                nested(5, text(1, "floats"), packedFloats(7, 1, 2), varint(20, 6)),
                nested(5, text(1, "strings"), text(9, "a"), text(9, "b"), varint(20, 8)),
                nested(5, text(1, "zero"), varint(20, 2)),
                nested(5, text(1, "graph"), nested(6, text(2, "inner")), varint(20, 5))),
            nested(11, text(1, "x")),
            nested(12, text(1, "z")))) {
      assertEquals(
          new OnnxNode(
              "/MatMul", "MatMul", "", List.of("x", "onnx::MatMul_1"), List.of("y"), Map.of()),
          file.nodes().get(0));
      assertEquals(
          new OnnxNode(
              "",
              "Fancy",
              "com.example",
              List.of("y", ""),
              List.of("z"),
              Map.of(
                  "i", new OnnxAttribute.IntValue(-5),
                  "f", new OnnxAttribute.FloatValue(1.5f),
                  "s", new OnnxAttribute.TextValue("tanh"),
                  "packed", new OnnxAttribute.IntList(List.of(0L, 2L, -1L)),
                  "ints", new OnnxAttribute.IntList(List.of(3L, 4L)),
                  "floats", new OnnxAttribute.FloatList(List.of(1f, 2f)),
                  "strings", new OnnxAttribute.TextList(List.of("a", "b")),
                  "zero", new OnnxAttribute.IntValue(0),
                  "graph", new OnnxAttribute.Unread(5))),
          file.nodes().get(1));
      assertEquals(List.of("x"), file.inputs());
      assertEquals(List.of("z"), file.outputs());
      assertEquals(Map.of("k", "v"), file.metadata());
    }
  }

  @Test
  void tensorsThatHoldNoNumbersOfOursAreListedApart() {
    try (OnnxFile file =
        of(
            tensor("s", 8, dims(1), text(6, "hello")),
            tensor("c", 15, dims(1), raw(new int[16])),
            tensor("later", 99, dims(1), raw(1)),
            nested(15, nested(1, text(8, "sparse"))),
            tensor("x", 2, dims(1), raw(1)))) {
      assertEquals(List.of("x"), file.tensors().stream().map(TensorInfo::name).toList());
      assertEquals(List.of("s", "c", "later", "sparse"), List.copyOf(file.unsupported().keySet()));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"weights.bin", "sub/weights.bin", "./sub/../weights.bin"})
  void externalDataAreMappedFromTheirFile(String location) throws IOException {
    Files.createDirectories(directory.resolve("sub"));
    Path weights = Bytes.write(directory.resolve(location), new byte[] {9, 1, 2, 3, 4, 9});
    Path path =
        Bytes.write(
            directory.resolve("m.onnx"),
            model(
                tensor(
                    "x",
                    2,
                    dims(2, 2),
                    external("location", location, "offset", "1", "length", "4", "checksum", "?")),
                tensor("y", 2, dims(2), external("location", location))));
    try (OnnxFile file = OnnxFile.open(path)) {
      assertArrayEquals(new double[] {1, 2, 3, 4}, decode(file, "x"));
      assertArrayEquals(new double[] {9, 1}, decode(file, "y"));
      assertEquals(1, file.info("x").offset());
      assertTrue(Files.isSameFile(weights, Path.of(file.info("x").file())));
    }
  }

  @Test
  void externalDataBeyondTwoGigabytesAreInReach() throws IOException {
    long offset = (1L << 31) + 4096;
    try (FileChannel channel =
        FileChannel.open(
            directory.resolve("big.bin"),
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.SPARSE,
            StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[] {42}), offset);
    }
    Path path =
        Bytes.write(
            directory.resolve("m.onnx"),
            model(
                tensor(
                    "x",
                    2,
                    dims(1),
                    external("location", "big.bin", "offset", String.valueOf(offset)))));
    try (OnnxFile file = OnnxFile.open(path)) {
      assertArrayEquals(new double[] {42}, decode(file, "x"));
    }
  }

  /** What lies between the graph's small messages is skipped, not read. */
  @Test
  void aModelOfMoreThanSixtyFourMegabytesIsRead() throws IOException {
    int size = 70 << 20;
    byte[] name = message(text(8, "big"), varint(2, 2), varint(1, size));
    byte[] rawHead = message(out -> out.writeTag(9, 2), out -> out.writeUInt32NoTag(size));
    int tensorSize = name.length + rawHead.length + size;
    byte[] tensorHead = message(out -> out.writeTag(5, 2), out -> out.writeUInt32NoTag(tensorSize));
    byte[] second = message(tensor("after", 2, dims(1), raw(7)));
    int graphSize = tensorHead.length + tensorSize + second.length;
    byte[] head = message(out -> out.writeTag(7, 2), out -> out.writeUInt32NoTag(graphSize));
    byte[] start = message(bytesAsTheyAre(head), bytesAsTheyAre(tensorHead));
    Path path = directory.resolve("big.onnx");
    try (FileChannel channel =
        FileChannel.open(
            path,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.SPARSE,
            StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(start));
      channel.write(ByteBuffer.wrap(name));
      channel.write(ByteBuffer.wrap(rawHead));
      channel.write(ByteBuffer.wrap(second), channel.position() + size);
    }
    try (OnnxFile file = OnnxFile.open(path)) {
      assertEquals(size, file.data("big").byteSize());
      assertArrayEquals(new double[] {7}, decode(file, "after"));
    }
  }

  private static OnnxWriter.Fields bytesAsTheyAre(byte[] bytes) {
    return out -> out.writeRawBytes(bytes);
  }

  @Test
  void afterCloseDataAreOutOfReach() {
    Path path = Bytes.write(directory.resolve("m.onnx"), model(tensor("x", 2, dims(1), raw(1))));
    OnnxFile file = OnnxFile.open(path);
    MemorySegment data = file.data("x");
    file.close();
    file.close();
    assertThrows(IllegalStateException.class, () -> data.get(ValueLayout.JAVA_BYTE, 0));
    assertThrows(IllegalStateException.class, () -> file.data("x"));
  }
}
