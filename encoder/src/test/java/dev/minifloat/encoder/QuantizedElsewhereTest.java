package dev.minifloat.encoder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.Backend;
import dev.minifloat.Pooling;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.reference.ReferenceBackend;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Weights that one backend quantizes and another computes with. */
class QuantizedElsewhereTest {
  static List<WeightFormat> formats() {
    return WeightFormat.all();
  }

  @ParameterizedTest
  @MethodSource("formats")
  void vectorsHaveTheSameBits(WeightFormat format) {
    BertWeights weights = BertWeights.of(TinyBert.weights(4), TinyBert.CONFIG.heads());
    EncoderOptions options = EncoderOptions.of(Pooling.MEAN).maxTokens(24).weights(format);
    try (Backend backend = VectorBackend.threads(1);
        SentenceEncoder here = new SentenceEncoder(backend, weights, null, options);
        SentenceEncoder elsewhere = quantizedByTheReference(backend, weights, options)) {
      int[][] texts = TinyBert.texts(1, 24, 7, 9);
      List<float[]> expected = here.embedTokens(texts);
      List<float[]> actual = elsewhere.embedTokens(texts);
      for (int i = 0; i < texts.length; i++) {
        assertArrayEquals(expected.get(i), actual.get(i), 0f);
      }
      assertEquals(here.footprint(), elsewhere.footprint());
    }
  }

  /** The encoder outlives the backend that quantized its weights. */
  private static SentenceEncoder quantizedByTheReference(
      Backend backend, BertWeights weights, EncoderOptions options) {
    try (Backend quantizer = new ReferenceBackend()) {
      return new SentenceEncoder(backend, quantizer, weights, null, options);
    }
  }
}
