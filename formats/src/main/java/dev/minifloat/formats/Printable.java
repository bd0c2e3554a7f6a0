package dev.minifloat.formats;

/** Text of files, made fit for a terminal. */
public final class Printable {
  private Printable() {}

  /**
   * Text with what would move the cursor, change colours or the direction of writing, or end the
   * line written as {@code \}{@code uXXXX}: control and format characters, line separators, and
   * unpaired surrogates.
   */
  public static String of(String text) {
    StringBuilder shown = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              switch (Character.getType(c)) {
                case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE ->
                    shown.append(String.format("\\u%04x", c));
                default -> shown.appendCodePoint(c);
              }
            });
    return shown.toString();
  }
}
