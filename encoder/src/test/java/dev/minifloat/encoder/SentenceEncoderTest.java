package dev.minifloat.encoder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MxScaleRule;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.reference.ReferenceBackend;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The encoder with random weights on the reference backend, against plain loops over doubles. */
class SentenceEncoderTest {
  private static final int HEADS = TinyBert.CONFIG.heads();
  private static final EncoderOptions MEAN = EncoderOptions.of(Pooling.MEAN).maxTokens(24);

  /** Each rounding to F32 on the way moves a component, of about 0.1, by some 1e-8. */
  private static final double F32_TOLERANCE = 2e-6;

  private final Map<String, HostTensor> tensors = TinyBert.weights(1);
  private final BertWeights weights = BertWeights.of(tensors, HEADS);
  private final ReferenceBackend backend = new ReferenceBackend();

  @AfterEach
  void nothingIsLeftBehind() {
    assertEquals(0, backend.liveTensors());
    backend.close();
  }

  private SentenceEncoder encoder(EncoderOptions options) {
    return new SentenceEncoder(backend, weights, null, options);
  }

  @Test
  void extentsFollowFromTheShapes() {
    assertEquals(TinyBert.CONFIG, weights.config());
  }

  @ParameterizedTest
  @EnumSource(Pooling.class)
  void embeddingsAreThoseOfPlainLoops(Pooling pooling) {
    PlainBert plain = new PlainBert(tensors, TinyBert.CONFIG);
    int[][] texts = TinyBert.texts(2, 1, 2, 7, 24);
    try (SentenceEncoder encoder = encoder(EncoderOptions.of(pooling).maxTokens(24))) {
      List<float[]> vectors = encoder.embedTokens(texts);
      for (int i = 0; i < texts.length; i++) {
        assertClose(plain.embed(texts[i], pooling), vectors.get(i), F32_TOLERANCE);
      }
    }
  }

  static List<WeightFormat> formats() {
    List<WeightFormat> formats = new ArrayList<>(WeightFormat.all());
    formats.add(WeightFormat.linear("I8 rows", DType.I8, Scaling.rows()));
    formats.add(
        new WeightFormat(
            "all MXFP6",
            QuantSpec.of(DType.F6_E2M3).scaling(Scaling.mx()).mxRule(MxScaleRule.RCEIL),
            QuantSpec.of(DType.F6_E3M2).scaling(Scaling.mx())));
    return formats;
  }

  /** The oracle takes the weights that the format can express; only the products remain. */
  @ParameterizedTest
  @MethodSource("formats")
  void everyFormatComputesWithItsRoundedWeights(WeightFormat format) {
    PlainBert plain = new PlainBert(rounded(format), TinyBert.CONFIG);
    int[][] texts = TinyBert.texts(3, 5, 9);
    try (SentenceEncoder encoder = encoder(MEAN.weights(format))) {
      List<float[]> vectors = encoder.embedTokens(texts);
      for (int i = 0; i < texts.length; i++) {
        assertClose(plain.embed(texts[i], Pooling.MEAN), vectors.get(i), F32_TOLERANCE);
      }
    }
  }

  private Map<String, HostTensor> rounded(WeightFormat format) {
    Map<String, HostTensor> rounded = new HashMap<>();
    try (Scope scope = backend.scope()) {
      tensors.forEach(
          (name, host) -> {
            QuantSpec spec =
                host.shape().rank() == 1
                    ? QuantSpec.of(DType.F32)
                    : name.startsWith("embeddings.") ? format.tables() : format.linear();
            rounded.put(
                name, scope.download(scope.dequantize(scope.quantize(scope.upload(host), spec))));
          });
    }
    return rounded;
  }

  @Test
  void embeddingDoesNotDependOnItsBatch() {
    int[][] texts = TinyBert.texts(4, 3, 17, 1, 24, 8, 8);
    try (SentenceEncoder encoder = encoder(MEAN)) {
      List<float[]> together = encoder.embedTokens(texts);
      for (int i = 0; i < texts.length; i++) {
        assertArrayEquals(encoder.embedTokens(texts[i]).getFirst(), together.get(i));
      }
    }
  }

  @Test
  void batchesOfAnySizeKeepTheOrderOfTexts() {
    int[][] texts = TinyBert.texts(5, 9, 2, 24, 2, 13, 1);
    try (SentenceEncoder large = encoder(MEAN.batchTokens(1000));
        SentenceEncoder small = encoder(MEAN.batchTokens(1))) {
      List<float[]> expected = large.embedTokens(texts);
      List<float[]> actual = small.embedTokens(texts);
      for (int i = 0; i < texts.length; i++) {
        assertArrayEquals(expected.get(i), actual.get(i));
      }
      assertEquals(List.of(), large.embedTokens());
    }
  }

  @Test
  void manyThreadsGetTheSameBits() throws Exception {
    int[][] texts = TinyBert.texts(6, 4, 11, 6);
    try (SentenceEncoder encoder = encoder(MEAN);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<float[]> expected = encoder.embedTokens(texts);
      Callable<List<float[]>> task = () -> encoder.embedTokens(texts);
      List<Future<List<float[]>>> results = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        results.add(threads.submit(task));
      }
      for (Future<List<float[]>> result : results) {
        for (int i = 0; i < texts.length; i++) {
          assertArrayEquals(expected.get(i), result.get().get(i));
        }
      }
    }
  }

  @Test
  void narrowActivationsAreCloseAndRounded() {
    int[][] texts = TinyBert.texts(7, 6, 12);
    try (SentenceEncoder exact = encoder(MEAN);
        SentenceEncoder half = encoder(MEAN.activations(DType.F16));
        SentenceEncoder brain = encoder(MEAN.activations(DType.BF16))) {
      List<float[]> expected = exact.embedTokens(texts);
      double f16 = Fidelity.of(expected, half.embedTokens(texts)).minCosine();
      double bf16 = Fidelity.of(expected, brain.embedTokens(texts)).minCosine();
      assertTrue(f16 > 0.99999, "F16 " + f16);
      assertTrue(bf16 > 0.999 && bf16 < f16, "BF16 " + bf16 + ", F16 " + f16);
    }
  }

  static List<QuantSpec> inputs() {
    return List.of(
        QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()),
        QuantSpec.of(DType.F8_E4M3).scaling(Scaling.block(1, 128)),
        QuantSpec.of(DType.F8_E5M2).scaling(Scaling.tensor()),
        QuantSpec.of(DType.I8).scaling(Scaling.rows()),
        QuantSpec.of(DType.F8_E4M3).scaling(Scaling.mx()));
  }

  @ParameterizedTest
  @MethodSource("inputs")
  void inputsOfLinearLayersCanBeQuantizedOnTheFly(QuantSpec input) {
    int[][] texts = TinyBert.texts(8, 6, 12);
    try (SentenceEncoder exact = encoder(MEAN);
        SentenceEncoder quantized =
            encoder(MEAN.weights(WeightFormat.F8_ROWS).linearInputs(input))) {
      double cosine =
          Fidelity.of(exact.embedTokens(texts), quantized.embedTokens(texts)).minCosine();
      assertTrue(cosine > 0.98 && cosine < 0.9999999, input + ": " + cosine);
    }
  }

  @Test
  void bytesOfTheWeightsAreCounted() {
    BertConfig c = TinyBert.CONFIG;
    long matrices =
        c.layers() * (4L * c.hidden() * c.hidden() + 2L * c.hidden() * c.intermediate());
    long rows = c.layers() * (5L * c.hidden() + c.intermediate());
    long tables = (long) c.hidden() * (c.vocabulary() + c.positions() + c.types());
    long vectors = 2L * c.hidden() + c.layers() * (rows / c.layers() + 4L * c.hidden());
    try (SentenceEncoder f32 = encoder(MEAN);
        SentenceEncoder f16 = encoder(MEAN.weights(WeightFormat.F16));
        SentenceEncoder f8 = encoder(MEAN.weights(WeightFormat.F8_ROWS))) {
      assertEquals(new Footprint(4 * matrices, 0, 4 * tables, 4 * vectors), f32.footprint());
      assertEquals(new Footprint(2 * matrices, 0, 2 * tables, 4 * vectors), f16.footprint());
      assertEquals(new Footprint(matrices + 4 * rows, 0, 4 * tables, 4 * vectors), f8.footprint());
      assertEquals(4 * (matrices + tables + vectors), f32.footprint().total());
    }
  }

  @Test
  void onlyTheWeightsStayBetweenCalls() {
    try (SentenceEncoder encoder = encoder(MEAN)) {
      int before = backend.liveTensors();
      encoder.embedTokens(TinyBert.texts(9, 3, 5));
      assertEquals(before, backend.liveTensors());
      assertEquals(3 + 2 + TinyBert.CONFIG.layers() * 12, before);
    }
  }

  @Test
  void useAfterCloseIsAnIllegalState() {
    SentenceEncoder encoder = encoder(MEAN);
    encoder.close();
    encoder.close();
    assertThrows(IllegalStateException.class, () -> encoder.embedTokens(new int[] {1}));
    assertThrows(IllegalStateException.class, () -> encoder.embed("a"));
  }

  @Test
  void textsNeedATokenizer() {
    try (SentenceEncoder encoder = encoder(MEAN)) {
      IllegalStateException e = assertThrows(IllegalStateException.class, () -> encoder.embed("a"));
      assertTrue(e.getMessage().contains("tokenizer"), e.getMessage());
    }
  }

  @Test
  void wrongTokensAreNamed() {
    try (SentenceEncoder encoder = encoder(MEAN)) {
      assertNames("texts[1]: 0 tokens", () -> encoder.embedTokens(new int[] {1}, new int[0]));
      assertNames("texts[0]: 25 tokens", () -> encoder.embedTokens(new int[25]));
      assertNames("texts[0][1]: id 50", () -> encoder.embedTokens(new int[] {1, 50}));
      assertNames("texts[0][0]: id -1", () -> encoder.embedTokens(new int[] {-1}));
    }
  }

  @Test
  void optionsMustFitTheModel() {
    assertNames("options: up to 25 tokens", () -> encoder(MEAN.maxTokens(25)));
    assertNames("activations: I8", () -> MEAN.activations(DType.I8));
    assertNames("maxTokens: 0", () -> MEAN.maxTokens(0));
    assertNames("batchTokens: 0", () -> MEAN.batchTokens(0));
    assertNames("heads: 48", () -> BertWeights.of(tensors, 5));
  }

  private static void assertNames(String start, Executable call) {
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call);
    assertTrue(e.getMessage().startsWith(start), e.getMessage());
  }

  private static void assertClose(double[] expected, float[] actual, double tolerance) {
    assertEquals(expected.length, actual.length);
    assertFalse(Arrays.stream(expected).allMatch(value -> value == 0));
    for (int i = 0; i < expected.length; i++) {
      assertEquals(expected[i], actual[i], tolerance);
    }
  }
}
