package dev.minifloat.encoder;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.BitSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The checked-in list of code points on which the tokenizer and its oracle differ.
 *
 * @param minilm those that show with the vocabulary of all-MiniLM-L6-v2
 * @param characters those that show with a vocabulary of all characters
 */
record UnicodeDifferences(BitSet minilm, BitSet characters) {
  private static final Pattern LINE =
      Pattern.compile(
          "(?<reason>[a-z]+) (?<vocabulary>both|characters) (?<from>[0-9A-F]+)(\\.\\.(?<to>[0-9A-F]+))?");

  static UnicodeDifferences load() {
    BitSet minilm = new BitSet();
    BitSet characters = new BitSet();
    try (InputStream in = UnicodeDifferences.class.getResourceAsStream("unicode-differences.txt")) {
      for (String line : new String(in.readAllBytes(), UTF_8).lines().toList()) {
        if (line.isBlank() || line.startsWith("#")) {
          continue;
        }
        Matcher fields = LINE.matcher(line);
        if (!fields.matches()) {
          throw new IllegalStateException("not a line of the list: " + line);
        }
        int from = Integer.parseInt(fields.group("from"), 16);
        String last = fields.group("to");
        int to = (last == null ? from : Integer.parseInt(last, 16)) + 1;
        characters.set(from, to);
        if (fields.group("vocabulary").equals("both")) {
          minilm.set(from, to);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new UnicodeDifferences(minilm, characters);
  }

  /** Ranges such as {@code 0890..0891 08E2}, for messages. */
  static String ranges(BitSet set) {
    StringBuilder out = new StringBuilder();
    for (int from = set.nextSetBit(0); from >= 0; ) {
      int to = set.nextClearBit(from);
      out.append("%04X".formatted(from));
      if (to - from > 1) {
        out.append("..%04X".formatted(to - 1));
      }
      out.append(' ');
      from = set.nextSetBit(to);
    }
    return out.toString().trim();
  }
}
