package dev.minifloat.formats;

import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.json.JsonFactory;

/**
 * A pull parser over one JSON object in a mapped file, whose every complaint is a {@link
 * FileFormatException} with the byte of the file. It holds a buffer and the current token.
 */
final class JsonReader implements AutoCloseable {
  /** No header of a tensor file has a use for more. */
  private static final int DEEPEST = 32;

  /** The longest JSON read, in bytes. */
  static final int LONGEST_TEXT = 100_000_000;

  /** The longest name, in characters; those of real tensors have some dozens. */
  static final int LONGEST_NAME = 1 << 16;

  /**
   * The longest string, in characters. The parser needs some bytes for each while it reads one, so
   * that this bounds what it takes beyond what it hands out. Metadata do hold pictures.
   */
  static final int LONGEST_STRING = 10_000_000;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(DEEPEST)
                  .maxNameLength(LONGEST_NAME)
                  .maxStringLength(LONGEST_STRING)
                  .build())
          // Tensor names are seen once: a table of them would only cost memory.
          .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
          .build();

  private final String file;
  private final MemorySegment text;
  private final long base;
  private final JsonParser parser;
  private String tensor;

  /**
   * A reader that has entered the object that is all of {@code text}.
   *
   * @param file the file, for messages
   * @param text UTF-8, at most {@link #LONGEST_TEXT} bytes
   * @param base where in the file the text begins
   * @throws FileFormatException if it isn't UTF-8, or doesn't begin with a brace
   */
  JsonReader(String file, MemorySegment text, long base) {
    this.file = file;
    this.text = text;
    this.base = base;
    checkUtf8(text);
    if (text.byteSize() == 0 || text.get(ValueLayout.JAVA_BYTE, 0) != '{') {
      throw error(base, "expected JSON that begins with {");
    }
    this.parser =
        FACTORY.createParser(
            ObjectReadContext.empty(),
            new InputStreamReader(new SegmentInputStream(text), StandardCharsets.UTF_8));
    next();
  }

  private void checkUtf8(MemorySegment text) {
    CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    ByteBuffer bytes = text.asByteBuffer();
    CharBuffer sink = CharBuffer.allocate(4096);
    CoderResult result;
    do {
      sink.clear();
      result = decoder.decode(bytes, sink, true);
    } while (result.isOverflow());
    if (result.isError()) {
      throw error(base + bytes.position(), "not UTF-8");
    }
  }

  /** From now on, complaints name this tensor; null for none. */
  void about(String tensor) {
    this.tensor = tensor;
  }

  /** How many characters stand before the current token; {@link #error(int, String)} takes it. */
  int mark() {
    return (int) Math.max(0, parser.currentTokenLocation().getCharOffset());
  }

  /** The byte of the file where a character of the text begins. */
  private long position(long characters) {
    long at = 0;
    for (long left = characters; left > 0 && at < text.byteSize(); ) {
      int lead = text.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
      int length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      at += length;
      left -= length == 4 ? 2 : 1; // a surrogate pair
    }
    return base + at;
  }

  /** A complaint about the current token. */
  FileFormatException error(String problem) {
    return error(mark(), problem);
  }

  /** A complaint about the token that was current when {@link #mark} was called. */
  FileFormatException error(int mark, String problem) {
    return error(position(mark), problem);
  }

  private FileFormatException error(long position, String problem) {
    return new FileFormatException(file, tensor, position, problem);
  }

  JsonToken next() {
    try {
      JsonToken token = parser.nextToken();
      if (token == null) {
        throw error("the JSON ends too early");
      }
      return token;
    } catch (JacksonException e) {
      throw malformed(e);
    }
  }

  private FileFormatException malformed(JacksonException e) {
    TokenStreamLocation at = e.getLocation();
    return new FileFormatException(
        file,
        tensor,
        position(at == null ? 0 : at.getCharOffset()),
        "not valid JSON: " + e.getOriginalMessage(),
        e);
  }

  /** The name of the next member of the object, or null if that was the last. */
  String nextName() {
    JsonToken token = next();
    return token == JsonToken.END_OBJECT ? null : text(token, JsonToken.PROPERTY_NAME, "a name");
  }

  /** Enters an object or array. */
  void expect(JsonToken wanted, String description) {
    JsonToken token = next();
    if (token != wanted) {
      throw error("expected " + description + ", found " + describe(token));
    }
  }

  String nextString(String description) {
    return text(next(), JsonToken.VALUE_STRING, description);
  }

  private String text(JsonToken token, JsonToken wanted, String description) {
    if (token != wanted) {
      throw error("expected " + description + ", found " + describe(token));
    }
    try {
      return parser.getString();
    } catch (JacksonException e) {
      throw malformed(e);
    }
  }

  /** The text of the current string, number, true, false or null. */
  String scalar(JsonToken token, String description) {
    if (!token.isScalarValue()) {
      throw error("expected " + description + ", found " + describe(token));
    }
    return text(token, token, description);
  }

  /** The current token as an integer from 0 to 2^63 − 1. */
  long unsigned(JsonToken token, String description) {
    if (token != JsonToken.VALUE_NUMBER_INT) {
      throw error("expected " + description + ", a whole number, found " + describe(token));
    }
    try {
      long value = parser.getLongValue();
      if (value < 0) {
        throw error(description + " is negative: " + value);
      }
      return value;
    } catch (JacksonException e) {
      throw new FileFormatException(
          file, tensor, position(mark()), description + " passes 2^63 − 1, or is below 0", e);
    }
  }

  /** Passes over the value that comes next, however deep. */
  void skipValue() {
    skipRest(next());
  }

  /** Passes over what is left of a value that begins with {@code token}. */
  void skipRest(JsonToken token) {
    int depth = token.isStructStart() ? 1 : 0;
    while (depth > 0) {
      JsonToken inner = next();
      depth += inner.isStructStart() ? 1 : inner.isStructEnd() ? -1 : 0;
    }
  }

  /** Checks that nothing but white space follows. */
  void expectEnd() {
    try {
      if (parser.nextToken() != null) {
        throw error("more text after the closing brace");
      }
    } catch (JacksonException e) {
      throw malformed(e);
    }
  }

  private static String describe(JsonToken token) {
    return switch (token) {
      case START_OBJECT -> "an object";
      case START_ARRAY -> "an array";
      case VALUE_STRING -> "a string";
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "a number";
      case VALUE_TRUE, VALUE_FALSE, VALUE_NULL -> token.asString();
      case END_OBJECT, END_ARRAY -> "the end of the list";
      case PROPERTY_NAME -> "a name";
      case NOT_AVAILABLE, VALUE_EMBEDDED_OBJECT -> "something that is not JSON";
    };
  }

  @Override
  public void close() {
    parser.close();
  }
}
