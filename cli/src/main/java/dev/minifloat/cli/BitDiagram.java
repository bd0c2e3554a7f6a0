package dev.minifloat.cli;

import dev.minifloat.DType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Draws the fields of a code, each with what it contributes:
 *
 * <pre>
 *   0 0011 101
 *   | |    `-- mantissa 5: 1 + 5/8
 *   | `------- exponent 3: 2^(3 - 7)
 *   `--------- sign 0: positive
 * </pre>
 */
final class BitDiagram {
  /** A field: its bits and what they say. */
  private record Field(String bits, String meaning) {}

  private BitDiagram() {}

  /** The lines of the drawing. */
  static List<String> of(CodePoint code) {
    List<Field> fields = fields(code);
    StringBuilder bits = new StringBuilder();
    List<Integer> starts = new ArrayList<>();
    for (Field field : fields) {
      if (!field.bits.isEmpty()) {
        bits.append(bits.isEmpty() ? "" : " ");
        starts.add(bits.length());
        bits.append(field.bits);
      }
    }
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < starts.size(); i++) {
      StringBuilder line = new StringBuilder();
      for (int j = 0; j < i; j++) {
        line.append(" ".repeat(starts.get(j) - line.length())).append('|');
      }
      line.append(" ".repeat(starts.get(i) - line.length())).append('`');
      line.append("-".repeat(bits.length() - line.length())).append(' ');
      lines.add(line + fields.get(i).meaning);
    }
    lines.add(bits.toString());
    Collections.reverse(lines);
    return lines;
  }

  private static List<Field> fields(CodePoint code) {
    DType dtype = code.dtype();
    if (dtype.isInteger()) {
      return List.of(new Field(code.binary(), "two's complement: " + code.decimal()));
    }
    if (dtype == DType.F8_E8M0) {
      return List.of(new Field(code.binary(), exponent(code)));
    }
    String[] bits = code.binary().split(" ", -1);
    return List.of(
        new Field(
            bits[0], "sign " + bits[0] + ": " + (code.isNegative() ? "negative" : "positive")),
        new Field(bits[1], exponent(code)),
        new Field(bits[2], mantissa(code)));
  }

  private static String exponent(CodePoint code) {
    int field = code.exponentField();
    String start = "exponent " + field + ": ";
    return start
        + switch (code.kind()) {
          case NORMAL -> power(field, code.dtype().bias());
          case SUBNORMAL, ZERO -> power(1, code.dtype().bias()) + ", and no hidden bit";
          case INFINITY -> "all ones, infinity or NaN";
          case NAN -> code.dtype() == DType.F8_E8M0 ? "all ones, NaN" : "all ones";
        };
  }

  private static String power(int field, int bias) {
    return "2^(" + field + " - " + bias + ") = 2^" + (field - bias);
  }

  private static String mantissa(CodePoint code) {
    int field = code.mantissaField();
    long one = 1L << code.dtype().mantissaBits();
    String start = "mantissa " + field + ": ";
    return start
        + switch (code.kind()) {
          case NORMAL -> "1 + " + field + "/" + one;
          case SUBNORMAL -> field + "/" + one;
          case ZERO -> "zero";
          case INFINITY -> "zero, infinity";
          case NAN -> code.dtype().hasInfinity() ? "not zero, NaN" : "all ones too, NaN";
        };
  }
}
