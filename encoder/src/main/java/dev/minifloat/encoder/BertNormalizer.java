package dev.minifloat.encoder;

import java.text.Normalizer;

/**
 * BERT's text cleaning, in this order: remove controls and make every white space a blank; put
 * blanks around ideographs; decompose (NFD) and drop non-spacing marks; lower-case each code point
 * on its own, without context (so a final capital sigma becomes σ, not ς).
 *
 * @param cleanText whether to remove controls and unify white space
 * @param spaceIdeographs whether to put blanks around CJK ideographs
 * @param stripAccents whether to decompose and drop non-spacing marks
 * @param lowercase whether to lower-case
 */
record BertNormalizer(
    boolean cleanText, boolean spaceIdeographs, boolean stripAccents, boolean lowercase) {

  /**
   * A piece handed to NFD is cut before a base character once it has this many chars. Canonical
   * ordering is quadratic in a run of marks, hence the hard limit below, which only runs of more
   * marks than any script uses ever reach.
   */
  private static final int PIECE_CHARS = 256;

  private static final int PIECE_LIMIT = 512;

  /** The normal form of {@code text[from, to)}, which must not contain an unpaired surrogate. */
  String normalize(CharSequence text, int from, int to) {
    StringBuilder cleaned = new StringBuilder(to - from + 16);
    boolean ascii = true;
    for (int i = from; i < to; ) {
      int c = Character.codePointAt(text, i);
      i += Character.charCount(c);
      if (cleanText) {
        if (CodePoints.isRemovedByCleaning(c)) {
          continue;
        }
        if (CodePoints.isWhitespace(c)) {
          c = ' ';
        }
      }
      ascii &= c < 0x80;
      if (spaceIdeographs && CodePoints.isIdeograph(c)) {
        cleaned.append(' ').appendCodePoint(c).append(' ');
      } else {
        cleaned.appendCodePoint(c);
      }
    }
    StringBuilder stripped = stripAccents && !ascii ? stripAccents(cleaned) : cleaned;
    return lowercase ? toLowerCase(stripped) : stripped.toString();
  }

  private static StringBuilder stripAccents(StringBuilder text) {
    StringBuilder out = new StringBuilder(text.length() + 16);
    int start = 0;
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      int length = i - start;
      if (length >= PIECE_LIMIT || (length >= PIECE_CHARS && !CodePoints.isMark(c))) {
        appendDecomposed(text.substring(start, i), out);
        start = i;
      }
      i += Character.charCount(c);
    }
    appendDecomposed(text.substring(start), out);
    return out;
  }

  private static void appendDecomposed(String piece, StringBuilder out) {
    String decomposed = Normalizer.normalize(piece, Normalizer.Form.NFD);
    for (int i = 0; i < decomposed.length(); ) {
      int c = decomposed.codePointAt(i);
      i += Character.charCount(c);
      if (c < 0x80 || Character.getType(c) != Character.NON_SPACING_MARK) {
        out.appendCodePoint(c);
      }
    }
  }

  private static String toLowerCase(StringBuilder text) {
    StringBuilder out = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      if (c == 0x130) {
        // The only code point whose unconditional lower case (SpecialCasing.txt) is two.
        out.append("i\u0307");
      } else {
        out.appendCodePoint(Character.toLowerCase(c));
      }
    }
    return out.toString();
  }
}
