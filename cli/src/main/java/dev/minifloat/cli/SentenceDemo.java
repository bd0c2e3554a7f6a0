package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.BackendInfo;
import dev.minifloat.encoder.BertWeights;
import dev.minifloat.encoder.EncoderOptions;
import dev.minifloat.encoder.ExpectedEmbeddings;
import dev.minifloat.encoder.Fidelity;
import dev.minifloat.encoder.KnownModel;
import dev.minifloat.encoder.ModelArchive;
import dev.minifloat.encoder.SentenceEncoder;
import dev.minifloat.encoder.WeightFormat;
import dev.minifloat.formats.OnnxFile;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Embeds one sentence on a CPU backend and on another, with the same weights in FP8. Both start
 * from the same bits and compute in F32, so their vectors may differ by the order of sums only.
 */
final class SentenceDemo {
  private static final WeightFormat FORMAT = WeightFormat.F8_ROWS;

  /** Components of a vector that are printed to people. */
  private static final int SHOWN = 5;

  /** Steps of {@link #run}'s progress. */
  static final int STEPS = 4;

  /** What one backend did. */
  static final class Run {
    private final String backend;
    private final BackendInfo info;
    private final double loadSeconds;
    private final double embedSeconds;
    private final float[] vector;

    /**
     * A backend's part.
     *
     * @param loadSeconds until the weights lay on the device
     * @param embedSeconds for the sentence, the first one that it ever saw
     * @param vector the embedding
     */
    Run(String backend, BackendInfo info, double loadSeconds, double embedSeconds, float[] vector) {
      this.backend = backend;
      this.info = info;
      this.loadSeconds = loadSeconds;
      this.embedSeconds = embedSeconds;
      this.vector = vector;
    }

    String backend() {
      return backend;
    }
  }

  /**
   * What came out.
   *
   * @param tokens of the sentence, special ones included
   * @param linearBytes of the linear layers' matrices, with their scales
   */
  record Result(
      KnownModel model, String sentence, int tokens, long linearBytes, Run cpu, Run other) {
    double cosine() {
      return Fidelity.cosine(cpu.vector, other.vector);
    }

    /** The largest difference of a component; NaN if there is one. */
    double largestDifference() {
      return IntStream.range(0, cpu.vector.length)
          .mapToDouble(i -> Math.abs((double) other.vector[i] - cpu.vector[i]))
          .reduce(0, Math::max);
    }

    /** Whether the vectors differ no more than the order of sums explains. */
    boolean agrees() {
      return largestDifference() <= ExpectedEmbeddings.TOLERANCE;
    }
  }

  private final KnownModel model;
  private final ModelArchive archive;
  private final String sentence;
  private final Progress progress;

  SentenceDemo(KnownModel model, ModelArchive archive, String sentence, Progress progress) {
    this.model = model;
    this.archive = archive;
    this.sentence = sentence;
    this.progress = progress;
  }

  /** The sentence on both backends. The CPU one quantizes the weights for both. */
  Result run(Backend cpu, Backend other) {
    EncoderOptions options = EncoderOptions.of(model).weights(FORMAT).packed(false);
    try (OnnxFile file = OnnxFile.open(archive.onnx())) {
      BertWeights weights = BertWeights.read(file, model.heads());
      int tokens;
      long linearBytes;
      Run first;
      long start = start(cpu, "loading");
      try (SentenceEncoder encoder =
          new SentenceEncoder(cpu, weights, archive.tokenizer(), options)) {
        tokens = encoder.tokenize(sentence).length();
        linearBytes = encoder.footprint().linear();
        first = embed(cpu, encoder, start);
      }
      start = start(other, "loading");
      try (SentenceEncoder encoder =
          new SentenceEncoder(other, cpu, weights, archive.tokenizer(), options)) {
        return new Result(
            model, sentence, tokens, linearBytes, first, embed(other, encoder, start));
      }
    }
  }

  private Run embed(Backend backend, SentenceEncoder encoder, long loadingStart) {
    // What is left to do on the device belongs to loading.
    backend.synchronize();
    double loadSeconds = secondsSince(loadingStart);
    progress.step(1);
    long start = start(backend, "embedding");
    float[] vector = encoder.embed(sentence);
    double embedSeconds = secondsSince(start);
    progress.step(1);
    return new Run(backend.name(), backend.info(), loadSeconds, embedSeconds, vector);
  }

  private long start(Backend backend, String doing) {
    progress.message(backend.name() + " " + doing);
    return System.nanoTime();
  }

  private static double secondsSince(long nanos) {
    return (System.nanoTime() - nanos) / 1e9;
  }

  /** Prints the result to people. */
  static void print(Result result, PrintWriter out) {
    out.println("model: " + result.model.modelName());
    out.println("sentence: \"" + result.sentence + "\", " + result.tokens + " tokens");
    out.println(
        String.format(
            Locale.ROOT,
            "weights: %s, %.2f MB of linear layers, quantized on %s for both",
            FORMAT.name(),
            result.linearBytes / 1e6,
            result.cpu.backend));
    out.println();
    Table table =
        new Table()
            .text("backend", "backend")
            .text("device", "device")
            .number("load", "load s", "%.1f")
            .number("embed", "embed s", "%.1f")
            .text("vector", "embedding");
    for (Run run : List.of(result.cpu, result.other)) {
      table.row(
          run.backend, run.info.device(), run.loadSeconds, run.embedSeconds, beginning(run.vector));
    }
    table.print(out);
    out.println();
    out.println(
        String.format(
            Locale.ROOT,
            "The cosine of the two is %.10f; no component of %d differs by more than %.1e.",
            result.cosine(),
            result.cpu.vector.length,
            result.largestDifference()));
    out.flush();
  }

  private static String beginning(float[] vector) {
    return IntStream.range(0, Math.min(SHOWN, vector.length))
        .mapToObj(i -> String.format(Locale.ROOT, "%+.7f", vector[i]))
        .collect(Collectors.joining(" ", "", " …"));
  }

  /** The result for programs. */
  static Map<String, Object> map(Result result) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("model", result.model.modelName());
    map.put("sentence", result.sentence);
    map.put("tokens", result.tokens);
    map.put("format", FORMAT.name());
    map.put("linearBytes", result.linearBytes);
    map.put("cosine", result.cosine());
    map.put("largestDifference", result.largestDifference());
    map.put("agrees", result.agrees());
    map.put("backends", List.of(map(result.cpu), map(result.other)));
    return map;
  }

  private static Map<String, Object> map(Run run) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("backend", run.backend);
    map.put("device", run.info.device());
    map.put("loadSeconds", run.loadSeconds);
    map.put("embedSeconds", run.embedSeconds);
    map.put("vector", run.vector);
    return map;
  }
}
