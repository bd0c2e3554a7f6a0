package dev.minifloat.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.MinifloatException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models in one file, in many, and in directories. */
class SafetensorsTest {
  private static final String INDEX = "model.safetensors.index.json";

  @TempDir private Path directory;

  /** A file of one-byte tensors; the first has value 0, the next 1, … */
  private void shard(String file, String... tensors) {
    StringBuilder header =
        new StringBuilder("{\"__metadata__\":{\"format\":\"pt\",\"k\":\"shard\"}");
    for (int i = 0; i < tensors.length; i++) {
      header
          .append(",\"")
          .append(tensors[i])
          .append(
              "\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[%d,%d]}".formatted(i, i + 1));
    }
    Bytes.write(
        directory.resolve(file), Bytes.safetensors(header.append('}').toString(), tensors.length));
  }

  private Path index(String json) {
    return Bytes.write(directory.resolve(INDEX), json);
  }

  private static List<String> names(TensorFile file) {
    return file.tensors().stream().map(TensorInfo::name).toList();
  }

  @Test
  void shardsAreOneModelInTheOrderOfTheIndex() {
    shard("1.safetensors", "a", "c");
    shard("2.safetensors", "b");
    Path index =
        index(
            """
            {"metadata": {"total_size": 3, "k": "index", "list": [1]},
             "weight_map": {"a": "1.safetensors", "b": "2.safetensors", "c": "1.safetensors"}}
            """);
    try (TensorFile model = Safetensors.open(index)) {
      assertEquals(List.of("a", "b", "c"), names(model));
      assertEquals(1, StorageType.I8.decode(model.data("c"), 0));
      assertEquals(0, model.tensor("b").toInts()[0]);
      assertEquals(directory.resolve("2.safetensors").toString(), model.info("b").file());
      assertEquals(index, model.path());
      assertEquals(Map.of("total_size", "3", "k", "index", "format", "pt"), model.metadata());
    }
  }

  @Test
  void aShardIsOneFileHoweverItsPathIsWritten() {
    shard("1.safetensors", "a", "b");
    try (TensorFile model =
        Safetensors.open(
            index("{\"weight_map\":{\"a\":\"1.safetensors\",\"b\":\"./x/../1.safetensors\"}}"))) {
      assertEquals(model.info("a").file(), model.info("b").file());
    }
  }

  /** As download caches have them: a directory of links to content elsewhere. */
  @Test
  void linksAreFollowed() throws IOException {
    shard("blob", "a");
    Path snapshot = Files.createDirectories(directory.resolve("snapshot"));
    Files.createSymbolicLink(snapshot.resolve("1.safetensors"), Path.of("../blob"));
    Bytes.write(snapshot.resolve(INDEX), "{\"weight_map\":{\"a\":\"1.safetensors\"}}");
    try (TensorFile model = Safetensors.open(snapshot)) {
      assertEquals(List.of("a"), names(model));
    }
  }

  @Test
  void closeClosesEveryShard() {
    shard("1.safetensors", "a");
    shard("2.safetensors", "b");
    TensorFile model =
        Safetensors.open(
            index("{\"weight_map\":{\"a\":\"1.safetensors\",\"b\":\"2.safetensors\"}}"));
    MemorySegment a = model.data("a");
    MemorySegment b = model.data("b");
    model.close();
    model.close();
    assertThrows(IllegalStateException.class, () -> a.get(ValueLayout.JAVA_BYTE, 0));
    assertThrows(IllegalStateException.class, () -> b.get(ValueLayout.JAVA_BYTE, 0));
    assertThrows(IllegalStateException.class, () -> model.data("a"));
  }

  @Test
  void aTensorThatTheIndexDoesNotNameIsNotPartOfTheModel() {
    shard("1.safetensors", "a", "b");
    try (TensorFile model = Safetensors.open(index("{\"weight_map\":{\"b\":\"1.safetensors\"}}"))) {
      assertEquals(List.of("b"), names(model));
      assertEquals(Optional.empty(), model.find("a"));
      assertThrows(IllegalArgumentException.class, () -> model.data("a"));
    }
  }

  @Test
  void aDirectoryIsOpenedByWhatItHolds() throws IOException {
    MinifloatException none =
        assertThrows(MinifloatException.class, () -> Safetensors.open(directory));
    assertTrue(none.getMessage().contains("no .safetensors file"), none::getMessage);

    shard("only.safetensors", "only");
    assertOpens("only");
    shard("other.safetensors", "other");
    MinifloatException many =
        assertThrows(MinifloatException.class, () -> Safetensors.open(directory));
    assertTrue(many.getMessage().contains("other.safetensors"), many::getMessage);

    Files.writeString(
        directory.resolve("diffusion.safetensors.index.json"),
        "{\"weight_map\":{\"other\":\"other.safetensors\"}}");
    assertOpens("other");
    index("{\"weight_map\":{\"only\":\"only.safetensors\"}}");
    assertOpens("only");
    shard("model.safetensors", "single");
    assertOpens("single");
  }

  private void assertOpens(String tensor) {
    try (TensorFile model = Safetensors.open(directory)) {
      assertEquals(List.of(tensor), names(model));
    }
  }

  private FileFormatException refused(String index, String because) {
    Path path = index(index);
    FileFormatException e =
        assertThrows(FileFormatException.class, () -> Safetensors.open(path).close());
    assertTrue(e.getMessage().contains(because), e::getMessage);
    return e;
  }

  @Test
  void aMissingShardIsNamed() {
    shard("1.safetensors", "a");
    FileFormatException e =
        refused(
            "{\"weight_map\":{\"a\":\"1.safetensors\",\"b\":\"2.safetensors\"}}",
            "2.safetensors is missing");
    assertEquals(Optional.of("b"), e.tensor());
  }

  @Test
  void aTensorMissingFromItsShardIsNamed() {
    shard("1.safetensors", "a");
    FileFormatException e =
        refused("{\"weight_map\":{\"b\":\"1.safetensors\"}}", "says that it is in");
    assertEquals(Optional.of("b"), e.tensor());
  }

  @Test
  void aDamagedShardIsNamed() {
    Bytes.write(directory.resolve("1.safetensors"), new byte[3]);
    refused("{\"weight_map\":{\"b\":\"1.safetensors\"}}", "1.safetensors");
  }

  @Test
  void nothingOutsideTheDirectoryIsOpened() throws IOException {
    Files.createDirectories(directory.resolve("model"));
    for (String shard :
        List.of("../1.safetensors", "/etc/passwd", "a/../../b", "..", ".", "", "a\\u0000b")) {
      FileFormatException e =
          refused("{\"weight_map\":{\"b\":\"" + shard + "\"}}", "not inside the directory");
      assertEquals(Optional.of("b"), e.tensor());
    }
  }

  @Test
  void aTensorInTwoShardsIsRefused() {
    refused("{\"weight_map\":{\"b\":\"1\",\"b\":\"2\"}}", "appears twice");
  }

  @Test
  void anIndexThatIsNone() {
    refused("", "begins with {");
    refused("[]", "begins with {");
    refused("{}", "weight_map");
    refused("{\"weight_map\":[]}", "weight_map to be an object");
    refused("{\"weight_map\":{\"a\":1}}", "the name of a file");
    refused("{\"weight_map\":{},\"weight_map\":{}}", "appears twice");
    refused("{\"metadata\":7,\"weight_map\":{}}", "metadata to be an object");
    refused("{\"weight_map\":{}} x", "not valid JSON");
    refused("{\"weight_map\":{}", "not valid JSON");
    refused("{\"x\":" + "[".repeat(10_000), "nest");
  }
}
