package dev.minifloat.encoder;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;

/** Writes small {@code tokenizer.json} texts for tests; the first ids are [UNK] [CLS] [SEP]. */
final class TokenizerJson {
  private String normalizer =
      """
      {"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,\
      "strip_accents":null,"lowercase":true}""";
  private String postProcessor =
      """
      {"type":"BertProcessing","sep":["[SEP]",2],"cls":["[CLS]",1]}""";
  private final List<String> addedTokens = new ArrayList<>();
  private final StringBuilder vocabulary =
      new StringBuilder("{\"[UNK]\":0,\"[CLS]\":1,\"[SEP]\":2");
  private int nextId = 3;

  TokenizerJson normalizer(boolean clean, boolean ideographs, Boolean strip, boolean lowercase) {
    normalizer =
        """
        {"type":"BertNormalizer","clean_text":%s,"handle_chinese_chars":%s,\
        "strip_accents":%s,"lowercase":%s}"""
            .formatted(clean, ideographs, strip, lowercase);
    return this;
  }

  TokenizerJson postProcessor(String json) {
    postProcessor = json;
    return this;
  }

  /** A token of the vocabulary, with the next id. */
  TokenizerJson token(String token) {
    vocabulary.append(",\"").append(escaped(token)).append("\":").append(nextId++);
    return this;
  }

  /** An added token; {@code flags} holds w, l, r, n, s for the flags that are true. */
  TokenizerJson added(int id, String content, String flags) {
    addedTokens.add(
        """
        {"id":%d,"content":"%s","single_word":%s,"lstrip":%s,"rstrip":%s,"normalized":%s,\
        "special":%s}"""
            .formatted(
                id,
                escaped(content),
                flags.contains("w"),
                flags.contains("l"),
                flags.contains("r"),
                flags.contains("n"),
                flags.contains("s")));
    return this;
  }

  int nextId() {
    return nextId;
  }

  byte[] bytes() {
    return toString().getBytes(UTF_8);
  }

  @Override
  public String toString() {
    return """
    {"version":"1.0","truncation":null,"padding":null,"added_tokens":[%s],"normalizer":%s,\
    "pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":%s,"decoder":null,\
    "model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",\
    "max_input_chars_per_word":100,"vocab":%s}}}"""
        .formatted(String.join(",", addedTokens), normalizer, postProcessor, vocabulary);
  }

  private static String escaped(String text) {
    StringBuilder out = new StringBuilder();
    text.chars()
        .forEach(
            c -> {
              if (c < ' ' || c == '"' || c == '\\') {
                out.append("\\u%04x".formatted(c));
              } else {
                out.append((char) c);
              }
            });
    return out.toString();
  }
}
