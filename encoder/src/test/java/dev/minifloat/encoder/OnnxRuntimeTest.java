package dev.minifloat.encoder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Backend;
import dev.minifloat.Backends;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.formats.OnnxFile;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The encoder in F32 against ONNX Runtime on the same file and the same token ids. */
class OnnxRuntimeTest {
  private static final Path MODELS = Path.of("target", "models");
  private static final double TOLERANCE = ExpectedEmbeddings.TOLERANCE;

  private static Backend backend;
  private static OnnxFile file;
  private static SentenceEncoder encoder;
  private static OnnxRuntime oracle;

  @BeforeAll
  static void load() throws Exception {
    ModelArchive archive = ModelArchive.open(KnownModel.MINILM, MODELS);
    backend = Backends.open("vector");
    file = OnnxFile.open(archive.onnx());
    encoder = encoder(file, archive, KnownModel.MINILM);
    oracle = new OnnxRuntime(archive.onnx());
  }

  @AfterAll
  static void close() throws Exception {
    oracle.close();
    encoder.close();
    file.close();
    backend.close();
  }

  private static SentenceEncoder encoder(OnnxFile file, ModelArchive archive, KnownModel model) {
    return new SentenceEncoder(
        backend,
        BertWeights.read(file, model.heads()),
        archive.tokenizer(),
        EncoderOptions.of(model));
  }

  @Test
  void singleSentences() throws Exception {
    for (String sentence : SampleSentences.dozen()) {
      int[][] text = {encoder.tokenize(sentence).ids()};
      assertAgree(text, List.of(encoder.embed(sentence)));
    }
  }

  @Test
  void paddedBatch() throws Exception {
    int[][] texts =
        SampleSentences.dozen().stream()
            .map(sentence -> encoder.tokenize(sentence).ids())
            .toArray(int[][]::new);
    assertAgree(texts, encoder.embed(SampleSentences.dozen()));
  }

  @Test
  void oneToken() throws Exception {
    assertAgree(new int[][] {{2_054}});
  }

  @Test
  void theEmptyText() throws Exception {
    assertAgree(new int[][] {encoder.tokenize("").ids()}, List.of(encoder.embed("")));
  }

  @Test
  void asManyTokensAsThereArePositions() throws Exception {
    String text = String.join(" ", SampleSentences.dozen()).repeat(3);
    int[] ids = encoder.tokenize(text).ids();
    assertEquals(512, ids.length);
    assertAgree(new int[][] {ids}, List.of(encoder.embed(text)));
  }

  @Test
  void shortAndLongTextsTogether() throws Exception {
    SplittableRandom random = new SplittableRandom(7);
    int[][] texts = new int[5][];
    int[] lengths = {1, 130, 17, 64, 2};
    for (int i = 0; i < texts.length; i++) {
      texts[i] = random.ints(lengths[i], 1_000, 30_000).toArray();
    }
    assertAgree(texts);
  }

  /** bge-small: twelve layers, and the first token's vector. */
  @Test
  void firstTokenPooling() throws Exception {
    ModelArchive archive = ModelArchive.open(KnownModel.BGE_SMALL, MODELS);
    try (OnnxFile bge = OnnxFile.open(archive.onnx());
        SentenceEncoder first = encoder(bge, archive, KnownModel.BGE_SMALL)) {
      assertAgree(
          WriteExpectedEmbeddings.compute(KnownModel.BGE_SMALL, MODELS),
          first.embed(SampleSentences.dozen()));
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = KnownModel.class,
      names = {"MINILM", "BGE_SMALL"})
  void shippedEmbeddingsAreThoseOfTheRuntime(KnownModel model) throws Exception {
    assertAgree(WriteExpectedEmbeddings.compute(model, MODELS), ExpectedEmbeddings.of(model));
  }

  @Test
  void differencesFromTheShippedEmbeddingsAreSeen() {
    List<float[]> vectors = ExpectedEmbeddings.of(KnownModel.E5_SMALL);
    assertEquals(0, ExpectedEmbeddings.largestDifference(KnownModel.E5_SMALL, vectors));
    vectors.getLast()[383] += 0.25f;
    assertEquals(0.25, ExpectedEmbeddings.largestDifference(KnownModel.E5_SMALL, vectors), 1e-6);
    vectors.getFirst()[0] = Float.NaN;
    assertTrue(Double.isNaN(ExpectedEmbeddings.largestDifference(KnownModel.E5_SMALL, vectors)));
  }

  @Test
  void bitsDoNotDependOnTheNumberOfThreads() {
    List<float[]> expected = encoder.embed(SampleSentences.dozen());
    BertWeights weights = BertWeights.read(file, KnownModel.MINILM.heads());
    WordPieceTokenizer tokenizer = ModelArchive.open(KnownModel.MINILM, MODELS).tokenizer();
    for (int threads : new int[] {1, 3}) {
      try (Backend other = VectorBackend.threads(threads);
          SentenceEncoder same =
              new SentenceEncoder(
                  other, weights, tokenizer, EncoderOptions.of(KnownModel.MINILM))) {
        List<float[]> actual = same.embed(SampleSentences.dozen());
        for (int i = 0; i < expected.size(); i++) {
          assertArrayEquals(expected.get(i), actual.get(i));
        }
      }
    }
  }

  @Test
  void paraphrasesAreMoreAlikeThanOthers() {
    List<float[]> vectors = encoder.embed(SampleSentences.dozen());
    for (int first = 0; first < 4; first += 2) {
      double pair = Fidelity.cosine(vectors.get(first), vectors.get(first + 1));
      for (int other = 0; other < vectors.size(); other++) {
        if (other != first && other != first + 1) {
          assertTrue(pair > 0.2 + Fidelity.cosine(vectors.get(first), vectors.get(other)));
        }
      }
    }
  }

  private static void assertAgree(int[][] texts) throws Exception {
    assertAgree(texts, encoder.embedTokens(texts));
  }

  private static void assertAgree(int[][] texts, List<float[]> actual) throws Exception {
    assertAgree(oracle.embed(texts, KnownModel.MINILM.pooling()), actual);
  }

  private static void assertAgree(double[][] expected, List<float[]> actual) {
    assertEquals(expected.length, actual.size());
    for (int i = 0; i < expected.length; i++) {
      assertEquals(expected[i].length, actual.get(i).length);
      for (int h = 0; h < expected[i].length; h++) {
        assertEquals(expected[i][h], actual.get(i)[h], TOLERANCE, "text " + i + ", " + h);
      }
    }
  }
}
