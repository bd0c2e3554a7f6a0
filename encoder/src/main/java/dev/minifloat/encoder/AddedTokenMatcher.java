package dev.minifloat.encoder;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Finds added tokens in a text: leftmost first, the longest of those that begin at one place, and
 * none overlapping. A match that its flags then rule out is not tried again in a shorter form.
 *
 * <p>The patterns lie sorted in an array, which serves as a trie: the patterns that share the
 * characters read so far are neighbours, so each further character narrows a range.
 */
final class AddedTokenMatcher {
  /** What a scan finds, in order, together covering the text. */
  interface Sink {
    /** The text between tokens, {@code text[from, to)}, not empty. */
    void text(int from, int to);

    /** An added token. */
    void token(int id);
  }

  /** A token and the text it is found by. */
  record Pattern(String text, AddedToken token) {}

  private final Pattern[] patterns;

  private AddedTokenMatcher(List<Pattern> patterns) {
    this.patterns = patterns.toArray(Pattern[]::new);
  }

  /**
   * A matcher of patterns that are not empty; of two with the same text the first in line counts.
   */
  static AddedTokenMatcher of(List<Pattern> patterns) {
    List<Pattern> sorted = new ArrayList<>(patterns);
    sorted.sort(
        Comparator.comparing(Pattern::text)
            .thenComparing(p -> p.token().special(), Comparator.reverseOrder()));
    List<Pattern> distinct = new ArrayList<>();
    for (Pattern pattern : sorted) {
      if (distinct.isEmpty() || !distinct.getLast().text().equals(pattern.text())) {
        distinct.add(pattern);
      }
    }
    return new AddedTokenMatcher(distinct);
  }

  /** Cuts {@code text} into added tokens and what lies between them. */
  void scan(String text, Sink sink) {
    int pending = 0;
    int position = 0;
    while (position < text.length()) {
      Pattern match = longestAt(text, position);
      if (match == null) {
        position++;
        continue;
      }
      int start = position;
      int end = position + match.text().length();
      position = end;
      AddedToken token = match.token();
      if (token.singleWord() && touchesWord(text, start, end)) {
        continue;
      }
      if (token.stripLeft()) {
        while (start > pending && CodePoints.isWhitespace(text.charAt(start - 1))) {
          start--;
        }
      }
      if (token.stripRight()) {
        while (end < text.length() && CodePoints.isWhitespace(text.charAt(end))) {
          end++;
        }
      }
      if (pending < start) {
        sink.text(pending, start);
      }
      sink.token(token.id());
      pending = end;
    }
    if (pending < text.length()) {
      sink.text(pending, text.length());
    }
  }

  private static boolean touchesWord(String text, int start, int end) {
    return (start > 0 && CodePoints.isWord(text.codePointBefore(start)))
        || (end < text.length() && CodePoints.isWord(text.codePointAt(end)));
  }

  private Pattern longestAt(String text, int position) {
    Pattern longest = null;
    int low = 0;
    int high = patterns.length;
    for (int depth = 0; low < high; depth++) {
      if (patterns[low].text().length() == depth) {
        longest = patterns[low++];
      }
      if (position + depth == text.length()) {
        break;
      }
      char next = text.charAt(position + depth);
      low = firstNotBelow(low, high, depth, next);
      high = firstNotBelow(low, high, depth, next + 1);
    }
    return longest;
  }

  /** The first pattern in [low, high), all longer than depth, whose char there is ≥ bound. */
  private int firstNotBelow(int low, int high, int depth, int bound) {
    int from = low;
    int to = high;
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (patterns[middle].text().charAt(depth) < bound) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }
}
