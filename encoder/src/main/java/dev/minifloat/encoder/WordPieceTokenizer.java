package dev.minifloat.encoder;

import dev.minifloat.MinifloatException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * The tokenizer of BERT-family models, built from a {@code tokenizer.json} of Hugging Face's
 * format: added tokens are found in the text, the rest is normalized (BertNormalizer), cut at white
 * space and punctuation (BertPreTokenizer), split into WordPiece tokens, and put into the template
 * of the post-processor (TemplateProcessing or BertProcessing). The truncation, the padding and the
 * decoder that the file may contain are ignored: the caller gives the length, and nothing is
 * padded. A file that asks for anything else is refused.
 *
 * <p>An unpaired surrogate in a text counts as U+FFFD. Code points are classified as this JDK's
 * version of Unicode has them, so that on recently assigned ones the result can differ from that of
 * a tokenizer with older tables.
 *
 * <p>Instances are immutable, and any thread may use them.
 */
public final class WordPieceTokenizer {
  /** The largest number of tokens, special ones included, where the caller gives none. */
  public static final int DEFAULT_MAX_TOKENS = 512;

  private final BertNormalizer normalizer;
  private final AddedTokenMatcher rawTokens;
  private final AddedTokenMatcher normalizedTokens;
  private final WordPiece model;
  private final Vocabulary added;
  private final Template single;
  private final Template pair;

  /**
   * Puts the parts together.
   *
   * @param added the added tokens that the model's own vocabulary lacks
   */
  WordPieceTokenizer(
      BertNormalizer normalizer,
      AddedTokenMatcher rawTokens,
      AddedTokenMatcher normalizedTokens,
      WordPiece model,
      Vocabulary added,
      Template single,
      Template pair) {
    this.normalizer = normalizer;
    this.rawTokens = rawTokens;
    this.normalizedTokens = normalizedTokens;
    this.model = model;
    this.added = added;
    this.single = single;
    this.pair = pair;
  }

  /**
   * Reads a {@code tokenizer.json}.
   *
   * @throws MinifloatException if the file can't be read, is not JSON, lacks something, contradicts
   *     itself or describes another kind of tokenizer; the message names the file and the place
   */
  public static WordPieceTokenizer load(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      return parse(in, file.toString());
    } catch (IOException e) {
      throw new MinifloatException("can't read the tokenizer " + file + ": " + e, e);
    }
  }

  /**
   * Reads a {@code tokenizer.json} from memory.
   *
   * @param json the bytes of the file, in UTF-8
   * @param source what messages call it
   * @throws MinifloatException as {@link #load(Path)} does
   */
  public static WordPieceTokenizer parse(byte[] json, String source) {
    return parse(new ByteArrayInputStream(json), source);
  }

  /**
   * Reads a {@code tokenizer.json} from a stream, which the caller closes. Memory in use stays
   * below twice the length of the stream, apart from a constant.
   *
   * @param json the bytes of the file, in UTF-8
   * @param source what messages call it
   * @throws MinifloatException as {@link #load(Path)} does
   */
  public static WordPieceTokenizer parse(InputStream json, String source) {
    Objects.requireNonNull(json, "json");
    return TokenizerFile.read(json, Objects.requireNonNull(source, "source"));
  }

  /** The tokens of a text, no more than {@link #DEFAULT_MAX_TOKENS}. */
  public Encoding encode(String text) {
    return encode(text, DEFAULT_MAX_TOKENS);
  }

  /**
   * The tokens of a text, within the template for a single text.
   *
   * @param maxTokens the largest number of tokens, special ones included; what is more is dropped
   *     from the end of the text
   * @throws IllegalArgumentException if the special tokens alone are more than {@code maxTokens}
   */
  public Encoding encode(String text, int maxTokens) {
    int room = room(single, maxTokens);
    IntList tokens = tokens(text);
    return single.apply(tokens, Math.min(tokens.size(), room), new IntList(), 0);
  }

  /** The tokens of a pair of texts, no more than {@link #DEFAULT_MAX_TOKENS}. */
  public Encoding encode(String text, String second) {
    return encode(text, second, DEFAULT_MAX_TOKENS);
  }

  /**
   * The tokens of a pair of texts, within the template for pairs.
   *
   * @param maxTokens the largest number of tokens, special ones included; what is more is dropped
   *     from the end of the longer text, and from both once they are equally long
   * @throws IllegalArgumentException if the special tokens alone are more than {@code maxTokens}
   */
  public Encoding encode(String text, String second, int maxTokens) {
    int room = room(pair, maxTokens);
    IntList a = tokens(text);
    IntList b = tokens(second);
    int lengthA = a.size();
    int lengthB = b.size();
    if ((long) lengthA + lengthB > room) {
      // Of an odd number of places, the text that was longer gets one more; the second, if equal.
      int half = room / 2;
      if (lengthA > lengthB) {
        lengthB = Math.min(lengthB, half);
        lengthA = room - lengthB;
      } else {
        lengthA = Math.min(lengthA, half);
        lengthB = room - lengthA;
      }
    }
    return pair.apply(a, lengthA, b, lengthB);
  }

  /** The number of tokens, added ones included. */
  public int vocabularySize() {
    return model.vocabulary().size() + added.size();
  }

  /** The largest id of any token: a model needs that many embedding rows and one more. */
  public int maxId() {
    return Math.max(model.vocabulary().maxId(), added.maxId());
  }

  /**
   * The token of an id.
   *
   * @throws IllegalArgumentException if no token has that id
   */
  public String token(int id) {
    String token = model.vocabulary().token(id);
    if (token == null) {
      token = added.token(id);
    }
    if (token == null) {
      throw new IllegalArgumentException("id: no token has the id " + id);
    }
    return token;
  }

  /** The id of a token as the vocabulary spells it, prefix included, or empty. */
  public OptionalInt id(String token) {
    int id = model.vocabulary().id(token);
    if (id < 0) {
      id = added.id(token);
    }
    return id < 0 ? OptionalInt.empty() : OptionalInt.of(id);
  }

  private static int room(Template template, int maxTokens) {
    int room = maxTokens - template.specials();
    if (room < 0) {
      throw new IllegalArgumentException(
          "maxTokens: "
              + maxTokens
              + " leaves no room for the special tokens, which are "
              + template.specials());
    }
    return room;
  }

  private IntList tokens(String text) {
    String valid = withoutUnpairedSurrogates(text);
    IntList out = new IntList();
    rawTokens.scan(
        valid,
        new AddedTokenMatcher.Sink() {
          @Override
          public void text(int from, int to) {
            normalizedTokens(normalizer.normalize(valid, from, to), out);
          }

          @Override
          public void token(int id) {
            out.add(id);
          }
        });
    return out;
  }

  private void normalizedTokens(String text, IntList out) {
    normalizedTokens.scan(
        text,
        new AddedTokenMatcher.Sink() {
          @Override
          public void text(int from, int to) {
            words(text, from, to, out);
          }

          @Override
          public void token(int id) {
            out.add(id);
          }
        });
  }

  private void words(String text, int from, int to, IntList out) {
    int start = from;
    for (int i = from; i < to; ) {
      int c = text.codePointAt(i);
      int next = i + Character.charCount(c);
      boolean punctuation = CodePoints.isPunctuation(c);
      if (punctuation || CodePoints.isWhitespace(c)) {
        if (start < i) {
          model.split(text, start, i, out);
        }
        if (punctuation) {
          model.split(text, i, next, out);
        }
        start = next;
      }
      i = next;
    }
    if (start < to) {
      model.split(text, start, to, out);
    }
  }

  private static String withoutUnpairedSurrogates(String text) {
    StringBuilder repaired = null;
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
        if (repaired == null) {
          repaired = new StringBuilder(text);
        }
        repaired.setCharAt(i, '\uFFFD');
      }
      i += Character.charCount(c);
    }
    return repaired == null ? text : repaired.toString();
  }
}
