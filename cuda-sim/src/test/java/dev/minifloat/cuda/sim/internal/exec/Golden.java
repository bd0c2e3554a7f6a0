package dev.minifloat.cuda.sim.internal.exec;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What the host code of CUDA's headers gave for conversions, recorded as tables and checksums. */
final class Golden {
  private Golden() {}

  private static List<String> lines(String name) {
    try (InputStream in = Golden.class.getResourceAsStream("/golden/" + name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(name, e);
    }
  }

  /** The F32 bits of each code of a format. */
  static int[] decodeTable(String format) {
    List<String> lines = lines("decode_" + format + ".txt");
    int[] table = new int[lines.size()];
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      table[Integer.parseInt(words[0], 16)] = Integer.parseUnsignedInt(words[1], 16);
    }
    return table;
  }

  /**
   * Checksums over the 6·2^20 inputs whose low 12 bits are a tie, a neighbour of one, or an end; by
   * the conversion's name.
   */
  static Map<String, Long> quickChecksums() {
    Map<String, Long> found = new HashMap<>();
    for (String line : lines("f32_checksums.txt")) {
      for (String word : line.split("\\s+", -1)) {
        if (word.startsWith("quick=")) {
          found.put(line.split("\\s+", 2)[0], Long.parseUnsignedLong(word.substring(6), 16));
        }
      }
    }
    return found;
  }

  /** Checksums over all codes of F16 and BF16, by the conversion's name. */
  static Map<String, Long> halfChecksums() {
    Map<String, Long> found = new HashMap<>();
    for (String line : lines("half_checksums.txt")) {
      String[] words = line.split("\\s+", -1);
      found.put(words[0], Long.parseUnsignedLong(words[1], 16));
    }
    return found;
  }

  /** FNV-1a over bytes, 64 bits. */
  static final class Hash {
    private long hash = 0xcbf29ce484222325L;

    void add(long value, int bytes) {
      for (int i = 0; i < bytes; i++) {
        hash = (hash ^ (value >>> (8 * i) & 255)) * 0x100000001b3L;
      }
    }

    long value() {
      return hash;
    }
  }
}
