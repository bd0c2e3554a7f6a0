package dev.minifloat.cli.trace;

import java.io.PrintWriter;
import java.util.function.IntSupplier;

/**
 * Where the trace is printed: lines no wider than the terminal, in colours if these are welcome.
 */
public final class Screen {
  /** What a piece of text is, and so how it looks. */
  public enum Ink {
    /** The line that runs next. */
    CURRENT("1;36"),
    /** What changed, what is chosen. */
    MARKED("1;33"),
    /** What is beside the point. */
    FAINT("2"),
    /** A title. */
    TITLE("1"),
    /** What went wrong, or waits. */
    ALERT("1;31");

    private final String code;

    Ink(String code) {
      this.code = code;
    }
  }

  private static final int NARROWEST = 40;

  private final PrintWriter out;
  private final boolean colored;
  private final IntSupplier width;

  /**
   * A screen.
   *
   * @param colored whether to use colours
   * @param width columns, asked anew for each line
   */
  public Screen(PrintWriter out, boolean colored, IntSupplier width) {
    this.out = out;
    this.colored = colored;
    this.width = width;
  }

  /** Columns of a line. */
  int width() {
    return Math.max(NARROWEST, width.getAsInt());
  }

  /** A text in a colour; of the same width. */
  String ink(Ink ink, String text) {
    return colored && !text.isEmpty() ? "\u001b[" + ink.code + "m" + text + "\u001b[0m" : text;
  }

  /** Whether colours show what else a sign has to. */
  boolean isColored() {
    return colored;
  }

  /** Prints a line that is known to fit, or has colours in it. */
  void line(String text) {
    out.println(text);
    out.flush();
  }

  /** Prints a line, cut at the right edge. */
  void cut(String text) {
    line(fitting(text));
  }

  /** A text of at most a line's width. */
  String fitting(String text) {
    return text.length() <= width() ? text : text.substring(0, width() - 1) + "…";
  }

  /** Prints a text, broken at blanks. */
  void paragraph(String text) {
    StringBuilder row = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      if (!row.isEmpty() && row.length() + 1 + word.length() > width()) {
        line(row.toString());
        row.setLength(0);
      }
      row.append(row.isEmpty() ? "" : " ").append(word);
    }
    line(row.toString());
  }
}
