package dev.minifloat.formats;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.MinifloatException;
import dev.minifloat.Shape;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SafetensorsWriterTest {
  @TempDir private Path directory;

  private Path target() {
    return directory.resolve("out.safetensors");
  }

  private List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private static MemorySegment bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return MemorySegment.ofArray(bytes);
  }

  /**
   * Every byte follows from the format: 193 characters of header and 7 spaces make c8, the tensors
   * stand by falling alignment, F32 1 and −2 are 3f800000 and c0000000, F16 1.5 is 3e00.
   */
  @Test
  void theFileIsWrittenByteForByteAsTheFormatSays() throws IOException {
    try (SafetensorsWriter writer =
        SafetensorsWriter.to(target())
            .metadata("format", "pt")
            .tensor("a", StorageType.U8, Shape.of(3))
            .tensor("h", StorageType.F16, Shape.of(1))
            .tensor("w", StorageType.F32, Shape.of(2))
            .create()) {
      writer.append("a", bytes(1, 2, 3));
      writer.append("w", MemorySegment.ofArray(new float[] {1, -2}));
      writer.append("h", bytes(0, 0x3e));
      writer.commit();
    }
    String header =
        "{\"__metadata__\":{\"format\":\"pt\"},"
            + "\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
            + "\"h\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[8,10]},"
            + "\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[10,13]}}       ";
    String hex =
        "c800000000000000"
            + HexFormat.of().formatHex(header.getBytes(StandardCharsets.US_ASCII))
            + "0000803f"
            + "000000c0"
            + "003e"
            + "010203";
    assertEquals(hex, HexFormat.of().formatHex(Files.readAllBytes(target())));
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"U2", "I2", "U4", "I4"})
  void everyTypeComesBackAsItWas(StorageType type) {
    byte[] data = new byte[Math.toIntExact(type.byteSize(Shape.of(3, 8)))];
    new Random(type.bits()).nextBytes(data);
    try (SafetensorsWriter writer =
        SafetensorsWriter.to(target()).tensor("x", type, Shape.of(3, 8)).create()) {
      writer.append("x", MemorySegment.ofArray(data));
      writer.commit();
    }
    try (SafetensorsFile file = SafetensorsFile.open(target())) {
      assertEquals(type, file.info("x").type());
      assertEquals(Shape.of(3, 8), file.info("x").shape());
      assertArrayEquals(data, Bytes.of(file.data("x")));
    }
  }

  @Test
  void everyElementStandsAtAMultipleOfItsSize() {
    SafetensorsWriter.Plan plan = SafetensorsWriter.to(target());
    for (StorageType type : StorageType.values()) {
      if (type.safetensorsName().isPresent()) {
        plan.tensor(type.name(), type, Shape.of(4));
        plan.tensor("also " + type.name(), type, Shape.of(12));
      }
    }
    try (SafetensorsWriter writer = plan.create()) {
      for (TensorInfo tensor : writer.tensors()) {
        int size = Math.max(1, tensor.type().bits() / 8);
        assertEquals(0, tensor.offset() % size, tensor::toString);
      }
    }
  }

  @Test
  void tensorsOfOneTypeStandInTheOrderOfTheirUtf8() {
    String last = "\uD83D\uDE00"; // a code point above the BMP: before U+FF21 in UTF-16
    try (SafetensorsWriter writer =
        SafetensorsWriter.to(target())
            .tensor(last, StorageType.U8, Shape.of(1))
            .tensor("\uFF21", StorageType.U8, Shape.of(1))
            .tensor("b", StorageType.U8, Shape.of(1))
            .tensor("B", StorageType.U8, Shape.of(1))
            .create()) {
      assertEquals(
          List.of("B", "b", "\uFF21", last),
          writer.tensors().stream().map(TensorInfo::name).toList());
    }
  }

  @Test
  void aTensorMayComeInPartsAndFromAnyMemory() {
    try (Arena arena = Arena.ofConfined();
        SafetensorsWriter writer =
            SafetensorsWriter.to(target())
                .tensor("x", StorageType.I16, Shape.of(6))
                .tensor("none", StorageType.F32, Shape.of(0, 3))
                .create()) {
      writer.append("x", MemorySegment.ofArray(new short[] {1, 2}));
      writer.append("x", MemorySegment.ofArray(new byte[0]));
      writer.append("x", arena.allocate(6).fill((byte) 7).asSlice(1, 2));
      writer.append(
          "x", MemorySegment.ofArray(new short[] {3, 4, 5, 6}).asSlice(1, 6).asReadOnly());
      writer.commit();
    }
    try (SafetensorsFile file = SafetensorsFile.open(target())) {
      assertArrayEquals(new byte[] {1, 0, 2, 0, 7, 7, 0, 4, 0, 5, 0, 6}, Bytes.of(file.data("x")));
    }
  }

  @Test
  void aTensorLargerThanTheWritersBufferIsWhole() {
    byte[] data = new byte[(1 << 22) * 2 + 12345];
    new Random(1).nextBytes(data);
    try (SafetensorsWriter writer =
        SafetensorsWriter.to(target())
            .tensor("x", StorageType.U8, Shape.of(data.length))
            .sync(true)
            .create()) {
      writer.append("x", MemorySegment.ofArray(data));
      writer.commit();
    }
    try (SafetensorsFile file = SafetensorsFile.open(target())) {
      assertEquals(-1, MemorySegment.ofArray(data).mismatch(file.data("x")));
    }
  }

  @Test
  void metadataComeBack() {
    Map<String, String> metadata = Map.of("a", "quote \" and \\ and \u0001", "ключ", "😀", "", "");
    try (SafetensorsWriter writer = SafetensorsWriter.to(target()).metadata(metadata).create()) {
      writer.commit();
    }
    try (SafetensorsFile file = SafetensorsFile.open(target())) {
      assertEquals(metadata, file.metadata());
    }
  }

  @Test
  void theLongestTextsAreReadAgain() {
    String name = "n".repeat(1 << 16);
    String value = "\u00e9".repeat(10_000_000);
    try (SafetensorsWriter writer =
        SafetensorsWriter.to(target())
            .metadata(name, value)
            .tensor(name, StorageType.U8, Shape.of(0))
            .create()) {
      writer.commit();
    }
    try (SafetensorsFile file = SafetensorsFile.open(target())) {
      assertEquals(Map.of(name, value), file.metadata());
      assertTrue(file.find(name).isPresent());
    }
  }

  @Test
  void anAbandonedFileLeavesTheTargetAsItWas() throws IOException {
    Files.writeString(target(), "before");
    SafetensorsWriter writer =
        SafetensorsWriter.to(target()).tensor("x", StorageType.U8, Shape.of(2)).create();
    writer.append("x", bytes(1, 2));
    writer.close();
    writer.close();
    assertEquals("before", Files.readString(target()));
    assertEquals(List.of("out.safetensors"), files());
    assertThrows(IllegalStateException.class, () -> writer.append("x", bytes()));
    assertThrows(IllegalStateException.class, writer::commit);
  }

  @Test
  void theTargetIsReplacedOnlyByTheCommit() throws IOException {
    Files.writeString(target(), "before");
    try (SafetensorsWriter writer =
        SafetensorsWriter.to(target()).tensor("x", StorageType.U8, Shape.of(1)).create()) {
      writer.append("x", bytes(9));
      assertEquals("before", Files.readString(target()));
      writer.commit();
      assertThrows(IllegalStateException.class, writer::commit);
    }
    try (SafetensorsFile file = SafetensorsFile.open(target())) {
      assertEquals(9, StorageType.U8.decode(file.data("x"), 0));
    }
    assertEquals(List.of("out.safetensors"), files());
  }

  @Test
  void aFileWithoutAllItsDataIsNotCommitted() throws IOException {
    try (SafetensorsWriter writer =
        SafetensorsWriter.to(target()).tensor("x", StorageType.U8, Shape.of(3)).create()) {
      writer.append("x", bytes(1, 2));
      Exception e = assertThrows(IllegalStateException.class, writer::commit);
      assertTrue(e.getMessage().contains("lacks 1 of its 3 bytes"), e::getMessage);
    }
    assertEquals(List.of(), files());
  }

  @Test
  void moreDataThanPlannedAreRefused() {
    try (SafetensorsWriter writer =
        SafetensorsWriter.to(target()).tensor("x", StorageType.U8, Shape.of(3)).create()) {
      writer.append("x", bytes(1, 2));
      assertThrows(IllegalArgumentException.class, () -> writer.append("x", bytes(3, 4)));
      writer.append("x", bytes(3));
      writer.commit();
    }
  }

  @Test
  void aTensorThatWasNotPlannedIsRefused() {
    try (SafetensorsWriter writer = SafetensorsWriter.to(target()).create()) {
      assertThrows(IllegalArgumentException.class, () -> writer.append("x", bytes(1)));
    }
  }

  @Test
  void aTargetThatCanNotBeReplacedIsAnErrorThatLeavesNothing() throws IOException {
    try (SafetensorsWriter writer = SafetensorsWriter.to(target()).create()) {
      Files.createDirectories(target().resolve("inside"));
      assertThrows(MinifloatException.class, writer::commit);
    }
    assertEquals(List.of("out.safetensors"), files());
    assertTrue(Files.isDirectory(target().resolve("inside")));
  }

  @Test
  void aDirectoryThatDoesNotExistIsNamed() {
    Path target = directory.resolve("none").resolve("x.safetensors");
    MinifloatException e =
        assertThrows(MinifloatException.class, () -> SafetensorsWriter.to(target).create());
    assertTrue(e.getMessage().contains(target.toString()), e::getMessage);
  }

  @Test
  void theFileHasTheRightsOfAnyNewFile() throws IOException {
    Path plain = Files.createFile(directory.resolve("plain"));
    try (SafetensorsWriter writer = SafetensorsWriter.to(target()).create()) {
      writer.commit();
    }
    if (Files.getFileStore(directory).supportsFileAttributeView("posix")) {
      assertEquals(Files.getPosixFilePermissions(plain), Files.getPosixFilePermissions(target()));
    }
    assertFalse(Files.isSymbolicLink(target()));
  }

  @Test
  void plansThatTheFormatCanNotHoldAreRefused() {
    SafetensorsWriter.Plan plan =
        SafetensorsWriter.to(target()).tensor("x", StorageType.U8, Shape.of(1)).metadata("k", "v");
    refused(() -> plan.tensor("x", StorageType.U8, Shape.of(1)), "twice");
    refused(() -> plan.metadata("k", "v"), "twice");
    refused(() -> plan.tensor("__metadata__", StorageType.U8, Shape.of(1)), "metadata");
    refused(() -> plan.tensor("i4", StorageType.I4, Shape.of(2)), "no I4");
    refused(() -> plan.tensor("f4", StorageType.F4, Shape.of(3)), "whole bytes");
    refused(() -> plan.tensor("\uD83D", StorageType.U8, Shape.of(3)), "surrogate");
    refused(() -> plan.metadata("a", "\uDE00"), "surrogate");
    refused(() -> plan.metadata("a".repeat((1 << 16) + 1), ""), "65536");
    refused(() -> plan.metadata("a", "b".repeat(10_000_001)), "10000000");
    refused(() -> plan.tensor("a".repeat((1 << 16) + 1), StorageType.U8, Shape.of(1)), "65536");
    refused(() -> plan.tensor("big", StorageType.F64, Shape.of(1L << 61)), "bytes");
    refused(() -> SafetensorsWriter.to(Path.of("/")), "target");
  }

  @Test
  void sizesThatPassALongTogetherAreRefused() throws IOException {
    SafetensorsWriter.Plan plan =
        SafetensorsWriter.to(target())
            .tensor("a", StorageType.U8, Shape.of(Long.MAX_VALUE / 2))
            .tensor("b", StorageType.U8, Shape.of(Long.MAX_VALUE / 2 + 1));
    refused(plan::create, "all of them together");
    assertEquals(List.of(), files());
  }

  private static void refused(Runnable action, String because) {
    Exception e = assertThrows(IllegalArgumentException.class, action::run);
    assertTrue(e.getMessage().contains(because), e::getMessage);
  }
}
