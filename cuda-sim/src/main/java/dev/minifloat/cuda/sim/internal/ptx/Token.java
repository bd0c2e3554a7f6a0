package dev.minifloat.cuda.sim.internal.ptx;

/**
 * One token of a PTX text.
 *
 * @param kind what it is
 * @param text its characters (a string without its quotes)
 * @param line the line of its first character, from 1
 * @param column the column of its first character, from 1
 * @param start the offset of its first character
 * @param end the offset after its last character
 */
record Token(Kind kind, String text, int line, int column, int start, int end) {
  enum Kind {
    /** A name: {@code add}, {@code %r1}, {@code $L__BB0_1}. */
    NAME,
    /** A dot and a word: {@code .u32}, {@code .shared::cta}. */
    DOT_WORD,
    /** A number, still as written. */
    NUMBER,
    /** A string. */
    STRING,
    /** One other character. */
    SYMBOL,
    /** The end of the text. */
    END
  }

  SourcePosition position() {
    return new SourcePosition(line, column);
  }

  boolean is(String expected) {
    return kind != Kind.STRING && text.equals(expected);
  }

  /** As an error message quotes it. */
  String quoted() {
    return kind == Kind.END ? "the end of the text" : "'" + text + "'";
  }
}
