package dev.minifloat.cuda.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The generated sources are as jextract wrote them: {@code regenerate} records their hashes. */
class GeneratedSourcesTest {
  private static final Path FOLDER = Path.of("src/generated/java/dev/minifloat/cuda/driver");
  private static final Path HASHES = Path.of("src/generated/SHA256SUMS");

  @Test
  void areNotEdited() throws IOException, NoSuchAlgorithmException {
    TreeMap<String, String> recorded = new TreeMap<>();
    for (String line : Files.readAllLines(HASHES)) {
      recorded.put(Path.of(line.substring(66)).getFileName().toString(), line.substring(0, 64));
    }
    TreeMap<String, String> found = new TreeMap<>();
    try (Stream<Path> files = Files.list(FOLDER)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
        found.put(file.getFileName().toString(), HexFormat.of().formatHex(hash));
      }
    }
    assertEquals(recorded, found);
  }

  @Test
  void areGeneratedForTheFunctionsThatTheIncludesName() throws IOException {
    List<String> included =
        Files.readAllLines(Path.of("cuda-includes.txt")).stream()
            .filter(line -> line.startsWith("--include-function "))
            .map(line -> line.substring("--include-function ".length()).strip())
            .sorted()
            .toList();
    assertEquals(
        included, Stream.of(DriverFunction.values()).map(DriverFunction::symbol).sorted().toList());
  }
}
