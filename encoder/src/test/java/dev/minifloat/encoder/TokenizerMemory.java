package dev.minifloat.encoder;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.minifloat.MinifloatException;
import java.io.InputStream;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Reads tokenizer files of {@link #SIZE} bytes, good and hostile, in a heap that {@link
 * TokenizerMemoryTest} limits. The files are made while they are read, so the heap holds only what
 * the reader keeps.
 */
final class TokenizerMemory {
  /** The length of each file. */
  static final int SIZE = 12 << 20;

  private static final String VALID = new TokenizerJson().toString();

  /** A file whose text {@code <*>} stands for as many parts as fill it. */
  private record Case(String name, boolean good, String frame, IntFunction<String> part) {}

  private TokenizerMemory() {}

  private static List<Case> cases() {
    String token =
        ",{\"id\":%d,\"content\":\"%x\",\"single_word\":true,\"lstrip\":true,\"rstrip\":true,"
            + "\"normalized\":true,\"special\":true}";
    return List.of(
        new Case(
            "short tokens",
            true,
            at("\"[SEP]\":2", "\"[SEP]\":2<*>"),
            i -> ",\"" + Integer.toString(i, 36) + "\":" + (i + 3)),
        new Case(
            "short tokens, ids descending",
            true,
            at("\"[SEP]\":2", "\"[SEP]\":2<*>"),
            i -> ",\"" + Integer.toString(i, 36) + "\":" + (9_999_999 - i)),
        new Case(
            "long tokens",
            true,
            at("\"[SEP]\":2", "\"[SEP]\":2<*>"),
            i -> ",\"" + "ж".repeat(5000) + i + "\":" + (i + 3)),
        new Case(
            "added tokens",
            true,
            at(
                "\"added_tokens\":[",
                "\"added_tokens\":[" + token.formatted(3, 3).substring(1) + "<*>"),
            i -> token.formatted(i + 4, i + 4)),
        new Case(
            "skipped objects",
            true,
            at("\"decoder\":null", "\"decoder\":[0<*>]"),
            i -> ",{\"a\":" + i + "}"),
        new Case(
            "many fields",
            false,
            at("\"decoder\":null", "\"decoder\":{\"a\":0<*>}"),
            i -> ",\"" + i + "\":0"),
        new Case("a long string", false, at("\"[UNK]\"", "\"<*>\""), _ -> "u".repeat(1000)),
        new Case(
            "a long skipped string",
            true,
            at("\"decoder\":null", "\"decoder\":\"<*>\""),
            _ -> "é".repeat(1000)),
        new Case("a long name", false, at("\"decoder\"", "\"<*>\""), _ -> "n".repeat(1000)),
        new Case(
            "a long number",
            false,
            at("\"decoder\":null", "\"decoder\":1<*>"),
            _ -> "7".repeat(1000)),
        new Case(
            "a long fraction",
            false,
            at("\"decoder\":null", "\"decoder\":0.<*>"),
            _ -> "7".repeat(1000)),
        new Case("deep arrays", false, at("\"decoder\":null", "\"decoder\":<*>"), _ -> "[[[[[[[["),
        new Case(
            "white space", true, at("\"decoder\":null", "\"decoder\":<*>null"), _ -> " \n\t\r"),
        new Case(
            "special tokens",
            false,
            at(
                "{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]\",2],\"cls\":[\"[CLS]\",1]}",
                "{\"type\":\"TemplateProcessing\",\"special_tokens\":{\"a\":{\"tokens\":[\"\"<*>]}}}"),
            _ -> ",\"\""),
        new Case(
            "pieces of a template",
            false,
            at(
                "{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]\",2],\"cls\":[\"[CLS]\",1]}",
                "{\"type\":\"TemplateProcessing\",\"single\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}<*>]}"),
            _ -> ",{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}"));
  }

  /** Exits with 0 if every file is read or refused as it should be. */
  public static void main(String[] args) {
    for (Case file : cases()) {
      boolean good;
      try {
        WordPieceTokenizer.parse(new Generated(file.frame(), file.part()), file.name());
        good = true;
      } catch (MinifloatException e) {
        good = false;
        System.out.println(e.getMessage());
      }
      if (good != file.good()) {
        throw new AssertionError(file.name() + (good ? " was read" : " was refused"));
      }
      System.out.println(file.name());
    }
  }

  private static String at(String text, String replacement) {
    int start = VALID.indexOf(text);
    if (start < 0) {
      throw new AssertionError("the valid file lacks " + text);
    }
    return VALID.substring(0, start) + replacement + VALID.substring(start + text.length());
  }

  /** A file made part by part. */
  private static final class Generated extends InputStream {
    private final byte[] tail;
    private final IntFunction<String> part;
    private byte[] current;
    private int position;
    private int parts;
    private int made;
    private boolean ended;

    Generated(String frame, IntFunction<String> part) {
      int hole = frame.indexOf("<*>");
      this.current = frame.substring(0, hole).getBytes(UTF_8);
      this.tail = frame.substring(hole + 3).getBytes(UTF_8);
      this.part = part;
    }

    @Override
    public int read() {
      while (position == current.length) {
        if (ended) {
          return -1;
        }
        position = 0;
        made += current.length;
        ended = made >= SIZE;
        current = ended ? tail : part.apply(parts++).getBytes(UTF_8);
      }
      return current[position++] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
      int first = read();
      if (first < 0) {
        return -1;
      }
      target[offset] = (byte) first;
      int count = Math.min(length - 1, current.length - position);
      System.arraycopy(current, position, target, offset + 1, count);
      position += count;
      return count + 1;
    }
  }
}
