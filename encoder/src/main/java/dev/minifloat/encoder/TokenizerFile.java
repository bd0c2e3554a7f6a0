package dev.minifloat.encoder;

import dev.minifloat.MinifloatException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Reads the {@code tokenizer.json} of Hugging Face's tokenizers, version 1.0, as far as BERT-family
 * models use it. The fields may come in any order; what one says about another is checked at the
 * end.
 */
final class TokenizerFile {
  private static final int MAX_WORD_LENGTH_LIMIT = 10_000;

  private final JsonCursor json;

  private final List<AddedToken> addedTokens = new ArrayList<>();
  private BertNormalizer normalizer;
  private boolean preTokenizer;
  private PostProcessor postProcessor;

  private boolean model;
  private final Vocabulary.Builder vocabulary = new Vocabulary.Builder();
  private boolean vocabularyRead;
  private String unknownToken;
  private String prefix;
  private int maxWordLength;

  private TokenizerFile(JsonCursor json) {
    this.json = json;
  }

  static WordPieceTokenizer read(InputStream in, String source) {
    WordPieceTokenizer[] result = new WordPieceTokenizer[1];
    JsonCursor.read(in, source, json -> result[0] = new TokenizerFile(json).read());
    return result[0];
  }

  private WordPieceTokenizer read() {
    json.object(
        name -> {
          switch (name) {
            case "version" -> expectString("1.0");
            case "truncation", "padding", "decoder" -> json.skip();
            case "added_tokens" -> json.array(() -> addedTokens.add(addedToken()));
            case "normalizer" -> normalizer = normalizer();
            case "pre_tokenizer" -> readPreTokenizer();
            case "post_processor" -> postProcessor = PostProcessor.read(json);
            case "model" -> readModel();
            default -> throw json.unknownField();
          }
        });
    require(normalizer != null, "normalizer");
    require(preTokenizer, "pre_tokenizer");
    require(postProcessor != null, "post_processor");
    require(model, "model");
    return build();
  }

  private AddedToken addedToken() {
    int[] id = {-1};
    String[] content = new String[1];
    // single_word, lstrip, rstrip, normalized, special
    Boolean[] flags = new Boolean[5];
    json.object(
        name -> {
          switch (name) {
            case "id" -> id[0] = json.integer(0, Vocabulary.ID_LIMIT - 1);
            case "content" -> content[0] = json.string();
            case "single_word" -> flags[0] = json.bool();
            case "lstrip" -> flags[1] = json.bool();
            case "rstrip" -> flags[2] = json.bool();
            case "normalized" -> flags[3] = json.bool();
            case "special" -> flags[4] = json.bool();
            default -> throw json.unknownField();
          }
        });
    require(id[0] >= 0, "id");
    require(content[0] != null, "content");
    require(flags[0] != null, "single_word");
    require(flags[1] != null, "lstrip");
    require(flags[2] != null, "rstrip");
    require(flags[3] != null, "normalized");
    require(flags[4] != null, "special");
    if (content[0].isEmpty()) {
      throw json.error("the token's content is empty");
    }
    return new AddedToken(id[0], content[0], flags[0], flags[1], flags[2], flags[3], flags[4]);
  }

  private BertNormalizer normalizer() {
    expectNotNull("BertNormalizer");
    String[] type = new String[1];
    // clean_text, handle_chinese_chars, strip_accents, lowercase
    Boolean[] flags = new Boolean[4];
    json.object(
        name -> {
          switch (name) {
            case "type" -> type[0] = expectString("BertNormalizer");
            case "clean_text" -> flags[0] = json.bool();
            case "handle_chinese_chars" -> flags[1] = json.bool();
            case "strip_accents" -> flags[2] = json.isNull() ? null : (Boolean) json.bool();
            case "lowercase" -> flags[3] = json.bool();
            default -> throw json.unknownField();
          }
        });
    require(type[0] != null, "type");
    require(flags[0] != null, "clean_text");
    require(flags[1] != null, "handle_chinese_chars");
    require(flags[3] != null, "lowercase");
    boolean stripAccents = flags[2] == null ? flags[3] : flags[2];
    return new BertNormalizer(flags[0], flags[1], stripAccents, flags[3]);
  }

  private void readPreTokenizer() {
    expectNotNull("BertPreTokenizer");
    json.object(
        name -> {
          if (!name.equals("type")) {
            throw json.unknownField();
          }
          expectString("BertPreTokenizer");
          preTokenizer = true;
        });
    require(preTokenizer, "type");
  }

  private void readModel() {
    expectNotNull("WordPiece");
    json.object(
        name -> {
          switch (name) {
            case "type" -> {
              expectString("WordPiece");
              model = true;
            }
            case "unk_token" -> unknownToken = json.string();
            case "continuing_subword_prefix" -> prefix = json.string();
            case "max_input_chars_per_word" ->
                maxWordLength = json.integer(1, MAX_WORD_LENGTH_LIMIT);
            case "vocab" -> readVocabulary();
            default -> throw json.unknownField();
          }
        });
    require(model, "type");
    require(unknownToken != null, "unk_token");
    require(prefix != null, "continuing_subword_prefix");
    require(maxWordLength != 0, "max_input_chars_per_word");
    require(vocabularyRead, "vocab");
  }

  private void readVocabulary() {
    json.largeObject(
        token -> {
          String problem = vocabulary.add(token, json.integer());
          if (problem != null) {
            throw json.error(problem);
          }
        });
    vocabularyRead = true;
  }

  private WordPieceTokenizer build() {
    Vocabulary tokens = vocabulary.build();
    int unknownId = tokens.id(unknownToken);
    if (unknownId < 0) {
      throw json.error(
          "/model/unk_token",
          "the vocabulary lacks \"" + JsonCursor.shortened(unknownToken) + "\"");
    }
    Vocabulary added = addedVocabulary(tokens);
    PostProcessor.Names names =
        token -> {
          int id = tokens.id(token);
          return id >= 0 ? id : added.id(token);
        };
    return new WordPieceTokenizer(
        normalizer,
        AddedTokenMatcher.of(patterns(false)),
        AddedTokenMatcher.of(patterns(true)),
        new WordPiece(tokens, unknownId, prefix, maxWordLength),
        added,
        postProcessor.single(json, names),
        postProcessor.pair(json, names));
  }

  /** The added tokens that the model's vocabulary lacks; the others must agree with it. */
  private Vocabulary addedVocabulary(Vocabulary tokens) {
    BitSet seen = new BitSet();
    Vocabulary.Builder lacking = new Vocabulary.Builder();
    for (int i = 0; i < addedTokens.size(); i++) {
      AddedToken token = addedTokens.get(i);
      int id = tokens.id(token.content());
      String problem =
          seen.get(token.id()) ? "the id " + token.id() + " is given to two added tokens" : null;
      seen.set(token.id());
      if (problem == null && id < 0) {
        String other = tokens.token(token.id());
        problem =
            other == null
                ? lacking.add(token.content(), token.id())
                : "the id "
                    + token.id()
                    + " belongs to \""
                    + JsonCursor.shortened(other)
                    + "\" in the vocabulary";
      } else if (problem == null && id != token.id()) {
        problem = "the id is " + token.id() + " here and " + id + " in the vocabulary";
      }
      if (problem != null) {
        throw json.error("/added_tokens/" + i, problem);
      }
    }
    return lacking.build();
  }

  private List<AddedTokenMatcher.Pattern> patterns(boolean normalized) {
    List<AddedTokenMatcher.Pattern> patterns = new ArrayList<>();
    for (int i = 0; i < addedTokens.size(); i++) {
      AddedToken token = addedTokens.get(i);
      if (token.normalized() == normalized) {
        String content = token.content();
        String text = normalized ? normalizer.normalize(content, 0, content.length()) : content;
        if (text.isEmpty()) {
          throw json.error("/added_tokens/" + i, "nothing is left of the content once normalized");
        }
        patterns.add(new AddedTokenMatcher.Pattern(text, token));
      }
    }
    return patterns;
  }

  private void expectNotNull(String supported) {
    if (json.isNull()) {
      throw json.error("only \"" + supported + "\" is supported, this is null");
    }
  }

  private String expectString(String supported) {
    String value = json.string();
    if (!value.equals(supported)) {
      throw json.error(
          "only \""
              + supported
              + "\" is supported, this is \""
              + JsonCursor.shortened(value)
              + "\"");
    }
    return value;
  }

  private void require(boolean present, String field) {
    if (!present) {
      throw missing(json, field);
    }
  }

  static MinifloatException missing(JsonCursor json, String field) {
    return json.error("the field \"" + field + "\" is missing");
  }
}
