package dev.minifloat.contract;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The recorded tables and checksums, read from this module's resources. */
final class GoldenData {
  private GoldenData() {}

  static List<String> lines(String resource) {
    try (InputStream in = GoldenData.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException(resource + " is not among the contract's resources");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException("Reading the contract's resource " + resource, e);
    }
  }

  /** One field ({@code canon}, {@code quick}) of each conversion's checksums, by its name. */
  static Map<String, Long> checksums(String field) {
    Map<String, Long> found = new HashMap<>();
    for (String line : lines("golden/f32_checksums.txt")) {
      String[] words = line.split("\\s+", -1);
      for (String word : words) {
        if (word.startsWith(field + "=")) {
          found.put(words[0], Long.parseUnsignedLong(word.substring(field.length() + 1), 16));
        }
      }
    }
    return found;
  }

  /** The hash of each conversion's 256 chunks, by its name. */
  static Map<String, long[]> chunks() {
    Map<String, long[]> found = new HashMap<>();
    for (String line : lines("golden/f32_chunks.txt")) {
      String[] words = line.split("\\s+", -1);
      found.computeIfAbsent(words[0], _ -> new long[256])[Integer.parseInt(words[1], 16)] =
          Long.parseUnsignedLong(words[2], 16);
    }
    return found;
  }

  /** The checksums over all patterns of F16 and BF16, by conversion. */
  static Map<String, Long> halves() {
    Map<String, Long> found = new HashMap<>();
    for (String line : lines("golden/half_checksums.txt")) {
      String[] words = line.split("\\s+", -1);
      found.put(words[0], Long.parseUnsignedLong(words[1], 16));
    }
    return found;
  }

  /** The F32 bits of every code of a format: {@code e4m3} and so on. */
  static int[] decodeTable(String format) {
    List<String> lines = lines("golden/decode_" + format + ".txt");
    int[] table = new int[lines.size()];
    for (String line : lines) {
      String[] words = line.split("\\s+", -1);
      table[Integer.parseInt(words[0], 16)] = Integer.parseUnsignedInt(words[1], 16);
    }
    return table;
  }
}
