package dev.minifloat.formats;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.Shape;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SafetensorsFileTest {
  @TempDir private Path directory;

  private SafetensorsFile open(String header, int dataSize) {
    return SafetensorsFile.open(
        Bytes.write(directory.resolve("m.safetensors"), Bytes.safetensors(header, dataSize)));
  }

  @Test
  void tensorsStandInTheOrderOfTheirData() {
    try (SafetensorsFile file =
        open(
            """
            {"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},
             "__metadata__":{"format":"pt","note":"ü"},
             "a":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]}}""",
            6)) {
      assertEquals(List.of("a", "b"), file.tensors().stream().map(TensorInfo::name).toList());
      assertEquals(StorageType.F16, file.info("a").type());
      assertEquals(Shape.of(1, 2), file.info("a").shape());
      assertEquals(2, file.info("b").byteSize());
      assertArrayEquals(new byte[] {0, 1, 2, 3}, Bytes.of(file.data("a")));
      assertArrayEquals(new byte[] {4, 5}, Bytes.of(file.data("b")));
      assertEquals(Map.of("format", "pt", "note", "ü"), file.metadata());
    }
  }

  @Test
  void theOffsetOfATensorIsThatInTheFile() {
    String header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}";
    try (SafetensorsFile file = open(header, 2)) {
      assertEquals(8 + header.length(), file.info("a").offset());
    }
  }

  @Test
  void tensorsOfEqualOffsetsMayBeEmpty() {
    try (SafetensorsFile file =
        open(
            """
            {"z":{"dtype":"F32","shape":[0,5],"data_offsets":[2,2]},
             "a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},
             "y":{"dtype":"F64","shape":[3,0],"data_offsets":[0,0]}}""",
            2)) {
      assertEquals(List.of("y", "a", "z"), file.tensors().stream().map(TensorInfo::name).toList());
      assertEquals(0, file.data("z").byteSize());
      assertEquals(Shape.of(0, 5), file.tensor("z").shape());
    }
  }

  @Test
  void manyShapesAreKeptApart() {
    StringBuilder header = new StringBuilder("{");
    for (int i = 0; i < 5000; i++) {
      header
          .append(i == 0 ? "" : ",")
          .append(
              "\"t%d\":{\"dtype\":\"U8\",\"shape\":[0,%d],\"data_offsets\":[0,0]}".formatted(i, i));
    }
    try (SafetensorsFile file = open(header.append('}').toString(), 0)) {
      for (int i = 0; i < 5000; i++) {
        assertEquals(Shape.of(0, i), file.info("t" + i).shape());
      }
    }
  }

  @Test
  void aFileWithoutTensorsIsFine() {
    try (SafetensorsFile file = open("{}", 0)) {
      assertEquals(List.of(), file.tensors());
      assertEquals(Map.of(), file.metadata());
    }
  }

  @Test
  void spacesAfterTheHeaderAreFine() {
    try (SafetensorsFile file =
        open("{\"a\":{\"dtype\":\"I8\",\"shape\":[],\"data_offsets\":[0,1]}}      ", 1)) {
      assertEquals(Shape.SCALAR, file.info("a").shape());
    }
  }

  @Test
  void fieldsOfLaterVersionsArePassedOver() {
    try (SafetensorsFile file =
        open(
            """
            {"a":{"dtype":"I8","later":{"deep":[1,{"er":null}]},"shape":[1],
             "data_offsets":[0,1],"flag":true}}""",
            1)) {
      assertEquals(1, file.tensors().size());
    }
  }

  @Test
  void anyTextCanBeAName() {
    String name = "ключ \\u0001 \\\" / 😀";
    try (SafetensorsFile file =
        open("{\"" + name + "\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1)) {
      assertTrue(file.find("ключ \u0001 \" / 😀").isPresent());
    }
  }

  @Test
  void aTensorIsReadyForABackend() {
    byte[] bytes =
        Bytes.safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]}}", 8);
    ByteBuffer.wrap(bytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putFloat(bytes.length - 8, 1.5f)
        .putFloat(bytes.length - 4, -2f);
    try (SafetensorsFile file =
        SafetensorsFile.open(Bytes.write(directory.resolve("x.safetensors"), bytes))) {
      HostTensor tensor = file.tensor("x");
      assertEquals(DType.F32, tensor.dtype());
      assertArrayEquals(new float[] {1.5f, -2}, tensor.toFloats());
    }
  }

  @Test
  void aTypeThatNoBackendComputesWithHasNoTensor() {
    try (SafetensorsFile file =
        open("{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1)) {
      Exception e = assertThrows(IllegalArgumentException.class, () -> file.tensor("x"));
      assertTrue(e.getMessage().contains("U8"), e::getMessage);
    }
  }

  @Test
  void anUnknownNameIsAnErrorThatNamesSimilarOnes() {
    try (SafetensorsFile file =
        open("{\"layer.0.bias\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1)) {
      assertEquals(Optional.empty(), file.find("bias"));
      Exception e = assertThrows(IllegalArgumentException.class, () -> file.data("bias"));
      assertTrue(e.getMessage().contains("\"layer.0.bias\""), e::getMessage);
    }
  }

  @Test
  void dataCanNotBeWritten() {
    try (SafetensorsFile file =
        open("{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1)) {
      assertTrue(file.data("x").isReadOnly());
    }
  }

  @Test
  void afterCloseDataAreOutOfReachAndDescriptionsRemain() {
    SafetensorsFile file =
        open("{\"x\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1);
    MemorySegment before = file.data("x");
    file.close();
    file.close();
    assertThrows(IllegalStateException.class, () -> before.get(ValueLayout.JAVA_BYTE, 0));
    assertThrows(IllegalStateException.class, () -> file.data("x"));
    assertThrows(IllegalStateException.class, () -> file.tensor("x"));
    assertEquals(1, file.tensors().size());
  }

  @Test
  void anotherThreadMayRead() throws InterruptedException {
    try (SafetensorsFile file =
        open("{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2)) {
      byte[] seen = new byte[1];
      Thread.ofVirtual().start(() -> seen[0] = file.data("x").get(ValueLayout.JAVA_BYTE, 1)).join();
      assertEquals(1, seen[0]);
    }
  }

  @Test
  void aMissingFileIsNamed() {
    Path missing = directory.resolve("none.safetensors");
    MinifloatException e =
        assertThrows(MinifloatException.class, () -> SafetensorsFile.open(missing));
    assertTrue(e.getMessage().contains(missing.toString()), e::getMessage);
    assertFalse(e instanceof FileFormatException);
  }

  /** A file with a hole in it: its size is real, its blocks aren't. */
  @Test
  void aTensorBeyondTwoGigabytesIsInReach() throws IOException {
    long first = (1L << 31) + 24;
    String header =
        ("{\"big\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[0,%d]},"
                + "\"last\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%d,%d]}}")
            .formatted(first, first, first, first + 4);
    byte[] text = header.getBytes(StandardCharsets.UTF_8);
    Path path = directory.resolve("sparse.safetensors");
    try (FileChannel channel =
        FileChannel.open(
            path,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.SPARSE,
            StandardOpenOption.WRITE)) {
      channel.write(
          ByteBuffer.allocate(8 + text.length)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putLong(text.length)
              .put(text)
              .flip());
      channel.write(
          ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(42f).flip(),
          8 + text.length + first);
    }
    try (SafetensorsFile file = SafetensorsFile.open(path)) {
      assertEquals(first, file.data("big").byteSize());
      assertEquals(0, StorageType.U8.decode(file.data("big"), first - 1));
      assertEquals(42, StorageType.F32.decode(file.data("last"), 0));
    }
  }
}
