package dev.minifloat.encoder;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Backend;
import dev.minifloat.Backends;
import dev.minifloat.formats.OnnxFile;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What each format of the weights does to real embeddings. */
class WeightFormatTest {
  private static final Map<WeightFormat, Fidelity> FIDELITY = new LinkedHashMap<>();

  @BeforeAll
  static void embedInEveryFormat() {
    ModelArchive archive = ModelArchive.open(KnownModel.MINILM, Path.of("target", "models"));
    WordPieceTokenizer tokenizer = archive.tokenizer();
    try (Backend backend = Backends.open("vector");
        OnnxFile file = OnnxFile.open(archive.onnx())) {
      BertWeights weights = BertWeights.read(file, KnownModel.MINILM.heads());
      List<float[]> exact = null;
      for (WeightFormat format : WeightFormat.all()) {
        EncoderOptions options = EncoderOptions.of(KnownModel.MINILM).weights(format);
        try (SentenceEncoder encoder = new SentenceEncoder(backend, weights, tokenizer, options)) {
          List<float[]> vectors = encoder.embed(SampleSentences.dozen());
          exact = exact == null ? vectors : exact;
          FIDELITY.put(format, Fidelity.of(exact, vectors));
        }
      }
    }
  }

  private static void assertCosine(WeightFormat format, double least) {
    double cosine = FIDELITY.get(format).minCosine();
    assertTrue(cosine >= least, format.name() + ": " + cosine);
  }

  @Test
  void halfPrecisionHardlyMovesAnEmbedding() {
    assertCosine(WeightFormat.F16, 0.9999);
    assertCosine(WeightFormat.BF16, 0.999);
  }

  @Test
  void eightBitsKeepTheDirection() {
    assertCosine(WeightFormat.F8_ROWS, 0.99);
    assertCosine(WeightFormat.F8_TENSOR, 0.99);
    assertCosine(WeightFormat.F8_BLOCKS, 0.99);
    assertCosine(WeightFormat.MXFP8, 0.99);
  }

  /** Measured rather than promised: a fault would turn vectors by far more. */
  @Test
  void fourBitsKeepMostOfTheDirection() {
    assertCosine(WeightFormat.MXFP4, 0.8);
    assertCosine(WeightFormat.NVFP4, 0.9);
  }

  @Test
  void fewerMantissaBitsAreFarther() {
    List<WeightFormat> falling =
        List.of(
            WeightFormat.F32,
            WeightFormat.F16,
            WeightFormat.BF16,
            WeightFormat.F8_ROWS,
            WeightFormat.NVFP4,
            WeightFormat.MXFP4);
    for (int i = 1; i < falling.size(); i++) {
      assertTrue(
          FIDELITY.get(falling.get(i)).meanCosine() < FIDELITY.get(falling.get(i - 1)).meanCosine(),
          falling.get(i).name() + " after " + falling.get(i - 1).name());
    }
  }
}
