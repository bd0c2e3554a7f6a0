package dev.minifloat.encoder;

import dev.minifloat.MinifloatException;

/** What must hold for any bytes, checked by fuzz tests and by the replay of their inputs. */
final class FuzzTargets {
  private static final String[] TEXTS = {
    "", "a word, words! 中ß\uD801\uDC28 new  word", "[CLS]Ab\u0301\uD800 [SEP]\t" + "ab".repeat(60)
  };

  private FuzzTargets() {}

  /**
   * Reads the bytes as a {@code tokenizer.json} and uses the tokenizer, if it is one.
   *
   * @return whether it is one
   * @throws AssertionError if a token comes out that the tokenizer itself doesn't know
   */
  static boolean tokenizer(byte[] data) {
    WordPieceTokenizer tokenizer;
    try {
      tokenizer = WordPieceTokenizer.parse(data, "fuzz");
    } catch (MinifloatException e) {
      check(e.getMessage().startsWith("can't read the tokenizer fuzz"), e.getMessage());
      return false;
    }
    for (String text : TEXTS) {
      check(tokenizer, tokenizer.encode(text));
      check(tokenizer, tokenizer.encode(text, text));
    }
    return true;
  }

  private static void check(WordPieceTokenizer tokenizer, Encoding encoding) {
    check(encoding.length() <= WordPieceTokenizer.DEFAULT_MAX_TOKENS, "too long");
    for (int i = 0; i < encoding.length(); i++) {
      int id = encoding.id(i);
      check(id <= tokenizer.maxId(), "id above the largest");
      check(tokenizer.id(tokenizer.token(id)).orElse(-1) == id, "id and token disagree");
      check(encoding.typeId(i) >= 0, "negative type id");
    }
  }

  private static void check(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }
}
