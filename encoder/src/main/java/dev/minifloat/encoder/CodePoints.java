package dev.minifloat.encoder;

/**
 * The classes of code points that BERT's text rules speak of. They follow Unicode's general
 * categories as this JDK knows them; the ranges spelled out below are part of BERT's rules.
 */
final class CodePoints {
  private CodePoints() {}

  /** Unicode's White_Space property (PropList.txt); a closed list since Unicode 6.3. */
  static boolean isWhitespace(int c) {
    if (c < 0x80) {
      return c == ' ' || (c >= '\t' && c <= '\r');
    }
    return c == 0x85
        || c == 0xA0
        || c == 0x1680
        || (c >= 0x2000 && c <= 0x200A)
        || c == 0x2028
        || c == 0x2029
        || c == 0x202F
        || c == 0x205F
        || c == 0x3000;
  }

  /**
   * What cleaning removes: controls (but not tab, line feed and carriage return, which are spaces),
   * format characters, private use, NUL and the replacement character. Unassigned code points stay.
   */
  static boolean isRemovedByCleaning(int c) {
    if (c < 0x80) {
      return (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
    }
    return switch (Character.getType(c)) {
      case Character.CONTROL, Character.FORMAT, Character.PRIVATE_USE, Character.SURROGATE -> true;
      default -> c == 0xFFFD;
    };
  }

  /**
   * CJK ideographs, each of which is a word of its own. The ranges are those of BERT's reference
   * tokenizer as Hugging Face's tokenizers have them: extension E begins there at U+2B920, not
   * U+2B820, and models are trained with that.
   */
  static boolean isIdeograph(int c) {
    if (c < 0x3400) {
      return false;
    }
    return (c >= 0x4E00 && c <= 0x9FFF)
        || c <= 0x4DBF
        || (c >= 0xF900 && c <= 0xFAFF)
        || (c >= 0x20000 && c <= 0x2A6DF)
        || (c >= 0x2A700 && c <= 0x2B73F)
        || (c >= 0x2B740 && c <= 0x2B81F)
        || (c >= 0x2B920 && c <= 0x2CEAF)
        || (c >= 0x2F800 && c <= 0x2FA1F);
  }

  /** Every ASCII character that is neither letter, digit, space nor control; categories P*. */
  static boolean isPunctuation(int c) {
    if (c < 0x80) {
      return (c >= '!' && c <= '/')
          || (c >= ':' && c <= '@')
          || (c >= '[' && c <= '`')
          || (c >= '{' && c <= '~');
    }
    return switch (Character.getType(c)) {
      case Character.CONNECTOR_PUNCTUATION,
          Character.DASH_PUNCTUATION,
          Character.START_PUNCTUATION,
          Character.END_PUNCTUATION,
          Character.INITIAL_QUOTE_PUNCTUATION,
          Character.FINAL_QUOTE_PUNCTUATION,
          Character.OTHER_PUNCTUATION ->
          true;
      default -> false;
    };
  }

  /** A mark of any kind (categories M*): what can follow a base character. */
  static boolean isMark(int c) {
    return switch (Character.getType(c)) {
      case Character.NON_SPACING_MARK, Character.COMBINING_SPACING_MARK, Character.ENCLOSING_MARK ->
          true;
      default -> false;
    };
  }

  /**
   * A word character of regular expressions (Unicode Technical Standard 18, annex C, {@code \w}):
   * alphabetic, a mark, a decimal digit, connector punctuation, or one of the two joiners.
   */
  static boolean isWord(int c) {
    if (Character.isAlphabetic(c) || isMark(c) || c == 0x200C || c == 0x200D) {
      return true;
    }
    int type = Character.getType(c);
    return type == Character.DECIMAL_DIGIT_NUMBER || type == Character.CONNECTOR_PUNCTUATION;
  }
}
