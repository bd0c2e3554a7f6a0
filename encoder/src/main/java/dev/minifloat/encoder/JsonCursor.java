package dev.minifloat.encoder;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.minifloat.MinifloatException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.json.JsonFactory;

/**
 * A strict walk through one JSON text, whose every complaint is a {@link MinifloatException} with
 * the file, the JSON pointer (RFC 6901), line and column. Nothing is held but the current string.
 */
final class JsonCursor implements AutoCloseable {
  private static final int MAX_DEPTH = 64;
  private static final int MAX_STRING_CHARS = 1 << 16;
  private static final int MAX_FIELDS = 1000;
  private static final int MAX_SHOWN_CHARS = 120;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          // Canonical names would keep every token of the vocabulary in a table of the parser.
          .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
          .disable(StreamReadFeature.AUTO_CLOSE_SOURCE)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxStringLength(MAX_STRING_CHARS)
                  .maxNameLength(MAX_STRING_CHARS)
                  .maxNumberLength(100)
                  .build())
          .build();

  private final JsonParser parser;
  private final String source;

  private JsonCursor(JsonParser parser, String source) {
    this.parser = parser;
    this.source = source;
  }

  /**
   * Reads a JSON text that consists of one value.
   *
   * @param value called on the first token of the value, and leaves the cursor on its last
   */
  static void read(InputStream json, String source, Consumer<JsonCursor> value) {
    // The JDK's decoder refuses every ill-formed sequence, the parser's own only some of them.
    Reader reader =
        new InputStreamReader(
            json,
            UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT));
    JsonCursor cursor =
        new JsonCursor(FACTORY.createParser(ObjectReadContext.empty(), reader), source);
    try (cursor) {
      if (cursor.parser.nextToken() == null) {
        throw cursor.error("the file is empty");
      }
      value.accept(cursor);
      if (cursor.parser.nextToken() != null) {
        throw cursor.error("something follows the end of the JSON text");
      }
    } catch (JacksonException e) {
      throw cursor.unreadable(e);
    }
  }

  /** Visits each field of the object the cursor is on, which has no field twice. */
  void object(Consumer<String> field) {
    Set<String> seen = new HashSet<>();
    largeObject(
        name -> {
          if (!seen.add(name)) {
            throw error("this field appears twice");
          }
          if (seen.size() > MAX_FIELDS) {
            throw error("this object has more than " + MAX_FIELDS + " fields");
          }
          field.accept(name);
        });
  }

  /** Visits each field of an object of any size, in which repeated fields are the caller's care. */
  void largeObject(Consumer<String> field) {
    expect(JsonToken.START_OBJECT, "an object");
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      parser.nextToken();
      field.accept(name);
    }
  }

  /** Visits each element of the array the cursor is on. */
  void array(Runnable element) {
    expect(JsonToken.START_ARRAY, "an array");
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      element.run();
    }
  }

  /** The string the cursor is on. */
  String string() {
    expect(JsonToken.VALUE_STRING, "a string");
    return wellFormed(parser.getString());
  }

  /** The boolean the cursor is on. */
  boolean bool() {
    JsonToken token = parser.currentToken();
    if (token != JsonToken.VALUE_TRUE && token != JsonToken.VALUE_FALSE) {
      throw error("true or false is expected here, not " + shown(token));
    }
    return token == JsonToken.VALUE_TRUE;
  }

  /** The integer the cursor is on. */
  long integer() {
    expect(JsonToken.VALUE_NUMBER_INT, "an integer");
    return switch (parser.getNumberType()) {
      case INT, LONG -> parser.getLongValue();
      case BIG_INTEGER, FLOAT, DOUBLE, BIG_DECIMAL ->
          throw error("the number " + parser.getString() + " is out of range");
    };
  }

  /** The integer the cursor is on, which must lie in [{@code min}, {@code max}]. */
  int integer(int min, int max) {
    long value = integer();
    if (value < min || value > max) {
      throw error(value + " is outside " + min + " to " + max);
    }
    return (int) value;
  }

  /** Whether the cursor is on null. */
  boolean isNull() {
    return parser.currentToken() == JsonToken.VALUE_NULL;
  }

  /** Passes over a value that doesn't matter, which must still be strict JSON. */
  void skip() {
    if (parser.currentToken() == JsonToken.START_OBJECT) {
      object(_ -> skip());
    } else if (parser.currentToken() == JsonToken.START_ARRAY) {
      array(this::skip);
    }
  }

  /** The complaint about what the cursor is on. */
  MinifloatException error(String what) {
    String pointer = parser.streamReadContext().pathAsPointer().toString();
    return new MinifloatException(
        "can't read the tokenizer "
            + source
            + where(parser.currentTokenLocation())
            + ", at "
            + (pointer.isEmpty() ? "the top" : shortened(pointer))
            + ": "
            + what);
  }

  /** The complaint about a place the cursor has passed. */
  MinifloatException error(String pointer, String what) {
    return new MinifloatException(
        "can't read the tokenizer " + source + ", at " + shortened(pointer) + ": " + what);
  }

  /** The complaint about a field of no known meaning. */
  MinifloatException unknownField() {
    return error("this field is not known, so its effect on the tokens can't be honoured");
  }

  /** A text short enough for a message. */
  static String shortened(String text) {
    return text.length() <= MAX_SHOWN_CHARS ? text : text.substring(0, MAX_SHOWN_CHARS) + "…";
  }

  @Override
  public void close() {
    parser.close();
  }

  private void expect(JsonToken expected, String name) {
    if (parser.currentToken() != expected) {
      throw error(name + " is expected here, not " + shown(parser.currentToken()));
    }
  }

  /** The parser pairs the surrogates that are written as escapes in names, but not in values. */
  private String wellFormed(String text) {
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
        throw error("an unpaired surrogate, which is no text");
      }
      i += Character.charCount(c);
    }
    return text;
  }

  private MinifloatException unreadable(JacksonException e) {
    boolean io =
        e.getCause() instanceof IOException && !(e.getCause() instanceof CharacterCodingException);
    // A limit that is passed comes without a place.
    TokenStreamLocation place =
        e.getLocation() == null ? parser.currentLocation() : e.getLocation();
    return new MinifloatException(
        "can't read the tokenizer "
            + source
            + where(place)
            + (io ? ": " : ": not well-formed JSON in UTF-8: ")
            + e.getOriginalMessage(),
        e);
  }

  private static String shown(JsonToken token) {
    return switch (token) {
      case START_OBJECT -> "an object";
      case START_ARRAY -> "an array";
      case VALUE_STRING -> "a string";
      case VALUE_NUMBER_INT -> "an integer";
      case VALUE_NUMBER_FLOAT -> "a fraction";
      case VALUE_TRUE -> "true";
      case VALUE_FALSE -> "false";
      case VALUE_NULL -> "null";
      case END_OBJECT, END_ARRAY, PROPERTY_NAME, NOT_AVAILABLE, VALUE_EMBEDDED_OBJECT ->
          token.toString();
    };
  }

  private static String where(TokenStreamLocation location) {
    return " (line " + location.getLineNr() + ", column " + location.getColumnNr() + ")";
  }
}
