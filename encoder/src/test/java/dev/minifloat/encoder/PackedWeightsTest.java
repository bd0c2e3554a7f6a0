package dev.minifloat.encoder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.Backend;
import dev.minifloat.Pooling;
import dev.minifloat.cpu.VectorBackend;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Packed matrices against plain ones, on the backend that packs. */
class PackedWeightsTest {
  static List<WeightFormat> formats() {
    return WeightFormat.all();
  }

  @ParameterizedTest
  @MethodSource("formats")
  void vectorsHaveTheSameBits(WeightFormat format) {
    BertWeights weights = BertWeights.of(TinyBert.weights(4), TinyBert.CONFIG.heads());
    EncoderOptions options = EncoderOptions.of(Pooling.MEAN).maxTokens(24).weights(format);
    try (Backend backend = VectorBackend.threads(1);
        SentenceEncoder packed = new SentenceEncoder(backend, weights, null, options.packed(true));
        SentenceEncoder plain =
            new SentenceEncoder(backend, weights, null, options.packed(false))) {
      int[][] texts = TinyBert.texts(1, 24, 7, 9);
      List<float[]> expected = plain.embedTokens(texts);
      List<float[]> actual = packed.embedTokens(texts);
      for (int i = 0; i < texts.length; i++) {
        assertArrayEquals(expected.get(i), actual.get(i), 0f);
      }
      assertEquals(0, plain.footprint().packed());
      assertEquals(plain.footprint().linear(), packed.footprint().linear());
    }
  }
}
