package dev.minifloat.encoder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The seeds and findings of the fuzz test {@code TokenizerFuzz} (Maven profile {@code fuzz}), file
 * by file, and random changes of them.
 */
class FuzzRegressionTest {
  private static final Path CORPUS =
      Path.of("src/test/resources/dev/minifloat/encoder/TokenizerFuzzInputs/fuzz");

  static List<Path> corpus() throws IOException {
    try (Stream<Path> files = Files.list(CORPUS)) {
      return files.sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("corpus")
  void fileIsReadOrRefusedAsItsNameSays(Path file) throws IOException {
    String name = file.getFileName().toString();
    boolean read = FuzzTargets.tokenizer(Files.readAllBytes(file));
    // A finding of the fuzz test keeps the name it was given; either will do for it.
    if (name.startsWith("good-") || name.startsWith("bad-")) {
      assertEquals(name.startsWith("good-"), read);
    }
  }

  @Property(tries = 3000)
  void changedFilesAreReadOrRefused(
      @ForAll @Size(min = 1, max = 6) List<Integer> changes, @ForAll int which) throws IOException {
    List<Path> files = corpus();
    byte[] bytes = Files.readAllBytes(files.get(Math.floorMod(which, files.size())));
    for (int change : changes) {
      bytes = changed(bytes, change);
    }
    FuzzTargets.tokenizer(bytes);
  }

  @Property(tries = 1000)
  void anyBytesAreRefused(@ForAll byte[] bytes) {
    assertTrue(!FuzzTargets.tokenizer(bytes));
  }

  /** One bit flipped, or a stretch removed, repeated, or replaced by one from elsewhere. */
  private static byte[] changed(byte[] bytes, int change) {
    if (bytes.length == 0) {
      return new byte[] {(byte) change};
    }
    int kind = change & 3;
    int at = Math.floorMod(change * 0x9E3779B1, bytes.length);
    int length = Math.min(bytes.length - at, 1 + ((change >>> 2) & 31));
    List<byte[]> parts = new ArrayList<>();
    parts.add(Arrays.copyOf(bytes, at));
    byte[] stretch = Arrays.copyOfRange(bytes, at, at + length);
    switch (kind) {
      case 0 -> {
        stretch[0] ^= (byte) (1 << ((change >>> 7) & 7));
        parts.add(stretch);
      }
      case 1 -> {
        parts.add(stretch);
        parts.add(stretch);
      }
      case 2 -> {
        int from = Math.floorMod(change * 0x85EBCA6B, bytes.length);
        parts.add(Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + length)));
      }
      default -> {}
    }
    parts.add(Arrays.copyOfRange(bytes, at + length, bytes.length));
    byte[] result = new byte[parts.stream().mapToInt(p -> p.length).sum()];
    int end = 0;
    for (byte[] part : parts) {
      System.arraycopy(part, 0, result, end, part.length);
      end += part.length;
    }
    return result;
  }
}
