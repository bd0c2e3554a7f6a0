package dev.minifloat.cli;

import java.io.PrintWriter;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Prints maps, lists, texts and numbers as JSON. */
final class Json {
  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  private Json() {}

  /** Prints a value, indented, with a line end; NaN and infinities become text. */
  static void print(PrintWriter out, Object value) {
    out.println(text(value));
  }

  /** A value as JSON text. */
  static String text(Object value) {
    return MAPPER.writeValueAsString(value);
  }
}
