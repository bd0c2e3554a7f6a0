package dev.minifloat.encoder;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;

/**
 * Splits one word into the longest tokens of a vocabulary, from left to right; every piece but the
 * first carries a prefix in the vocabulary ({@code ##}). A word that can't be split so, or that is
 * longer than the limit, is the unknown token. The work for a word is bounded by the square of that
 * limit, and for a text it is linear.
 */
final class WordPiece {
  private final Vocabulary vocabulary;
  private final int unknownId;
  private final byte[] prefix;
  private final long prefixHash;
  private final int maxWordLength;

  /**
   * A model over a vocabulary.
   *
   * @param unknownId the id of the unknown token
   * @param prefix what continuing pieces begin with
   * @param maxWordLength the limit of a word's length, in code points
   */
  WordPiece(Vocabulary vocabulary, int unknownId, String prefix, int maxWordLength) {
    this.vocabulary = vocabulary;
    this.unknownId = unknownId;
    this.prefix = prefix.getBytes(UTF_8);
    this.prefixHash = Vocabulary.hash(0, this.prefix, 0, this.prefix.length);
    this.maxWordLength = maxWordLength;
  }

  Vocabulary vocabulary() {
    return vocabulary;
  }

  /** Appends the ids of the word {@code text[from, to)}, which is not empty. */
  void split(String text, int from, int to, IntList out) {
    if (to - from > maxWordLength && text.codePointCount(from, to) > maxWordLength) {
      out.add(unknownId);
      return;
    }
    byte[] word = text.substring(from, to).getBytes(UTF_8);
    IntList pieces = new IntList();
    byte[] candidate = word;
    int skipped = 0;
    long hash = 0;
    // candidate[0, skipped) is the prefix (of every piece but the first), then the rest of the
    // word.
    for (int done = 0; done < word.length; ) {
      int end = Math.min(candidate.length, vocabulary.longest());
      int length = -1;
      int id = -1;
      for (int i = skipped; i < end; i++) {
        hash = Vocabulary.hash(hash, candidate[i]);
        int found = vocabulary.id(hash, candidate, i + 1);
        if (found >= 0) {
          id = found;
          length = i + 1;
        }
      }
      if (id < 0) {
        out.add(unknownId);
        return;
      }
      pieces.add(id);
      done += length - skipped;
      candidate = Arrays.copyOf(prefix, prefix.length + word.length - done);
      System.arraycopy(word, done, candidate, prefix.length, word.length - done);
      skipped = prefix.length;
      hash = prefixHash;
    }
    for (int i = 0; i < pieces.size(); i++) {
      out.add(pieces.get(i));
    }
  }
}
