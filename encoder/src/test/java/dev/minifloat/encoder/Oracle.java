package dev.minifloat.encoder;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Map;

/** The Rust tokenizer, behind JNI, as the oracle of {@link WordPieceTokenizer}. */
final class Oracle implements AutoCloseable {
  private final HuggingFaceTokenizer tokenizer;

  private Oracle(byte[] json, Map<String, String> options) {
    try {
      tokenizer = HuggingFaceTokenizer.newInstance(new ByteArrayInputStream(json), options);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Oracle of(byte[] json) {
    return new Oracle(json, Map.of("truncation", "false", "padding", "false"));
  }

  static Oracle truncating(byte[] json, int maxTokens) {
    return new Oracle(
        json,
        Map.of("truncation", "true", "padding", "false", "maxLength", Integer.toString(maxTokens)));
  }

  int[] ids(String text) {
    return ints(tokenizer.encode(text).getIds());
  }

  Encoding encode(String text) {
    var encoding = tokenizer.encode(text);
    return new Encoding(
        ints(encoding.getIds()), ints(encoding.getTypeIds()), encoding.exceedMaxLength());
  }

  Encoding encode(String text, String second) {
    var encoding = tokenizer.encode(text, second);
    return new Encoding(
        ints(encoding.getIds()), ints(encoding.getTypeIds()), encoding.exceedMaxLength());
  }

  @Override
  public void close() {
    tokenizer.close();
  }

  private static int[] ints(long[] values) {
    return Arrays.stream(values).mapToInt(Math::toIntExact).toArray();
  }
}
