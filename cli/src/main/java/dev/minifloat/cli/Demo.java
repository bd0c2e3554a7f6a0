package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.cli.report.BackendResult;
import dev.minifloat.cli.report.ErrorHistogram;
import dev.minifloat.cli.report.FormatResult;
import dev.minifloat.cli.report.Report;
import dev.minifloat.encoder.BertWeights;
import dev.minifloat.encoder.EncoderOptions;
import dev.minifloat.encoder.ExpectedEmbeddings;
import dev.minifloat.encoder.Fidelity;
import dev.minifloat.encoder.KnownModel;
import dev.minifloat.encoder.ModelArchive;
import dev.minifloat.encoder.SampleSentences;
import dev.minifloat.encoder.SentenceEncoder;
import dev.minifloat.encoder.WeightFormat;
import dev.minifloat.encoder.WordPieceTokenizer;
import dev.minifloat.formats.OnnxFile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Embeds the sample sentences with the weights in every format, on one backend after another. */
final class Demo implements AutoCloseable {
  private static final List<String> SENTENCES = SampleSentences.dozen();

  /**
   * Where one turn of all formats takes longer, it is the measurement: warming up would not change
   * it much, and repetitions would take minutes.
   */
  private static final double LONG_TURN_SECONDS = 20;

  /**
   * How long to run. Formats take turns, so that neither the JIT compiler's progress nor other work
   * of the machine favours some of them.
   *
   * @param warmUp seconds of turns before any is measured
   * @param measuring seconds of turns that are measured
   * @param minRounds turns of each format that are measured, at least
   * @param maxRounds turns of each format that are measured, at most
   */
  record Effort(double warmUp, double measuring, int minRounds, int maxRounds) {
    /** Enough for figures that mean something. */
    static final Effort NORMAL = new Effort(4, 6, 3, 25);

    /** The embeddings, and times that mean nothing. */
    static final Effort LEAST = new Effort(0, 0, 1, 1);
  }

  private final KnownModel model;
  private final WordPieceTokenizer tokenizer;
  private final OnnxFile file;
  private final BertWeights weights;
  private final Effort effort;
  private final int tokens;
  private List<float[]> exact;

  /** Opens a model's files. */
  Demo(KnownModel model, ModelArchive archive, Effort effort) {
    this.model = model;
    this.effort = effort;
    this.tokenizer = archive.tokenizer();
    this.file = OnnxFile.open(archive.onnx());
    try {
      this.weights = BertWeights.read(file, model.heads());
    } catch (RuntimeException e) {
      file.close();
      throw e;
    }
    this.tokens =
        SENTENCES.stream()
            .mapToInt(sentence -> tokenizer.encode(model.queryPrefix() + sentence).length())
            .sum();
  }

  /** Tokens of all sentences, special ones included. */
  int tokens() {
    return tokens;
  }

  /** Steps of {@link #run}'s progress. */
  int steps(List<WeightFormat> formats) {
    return formats.size() * (1 + effort.minRounds);
  }

  /**
   * All formats on a backend, the first being what the others are compared with.
   *
   * @param progress stepped {@link #steps} times
   */
  BackendResult run(Backend backend, List<WeightFormat> formats, Progress progress) {
    List<Turns> all = new ArrayList<>();
    try {
      for (WeightFormat format : formats) {
        progress.message(backend.name() + " " + format.name());
        // Packed, all formats would take the time and the memory of one.
        EncoderOptions options = EncoderOptions.of(model).weights(format).packed(false);
        Turns turns = new Turns(new SentenceEncoder(backend, weights, tokenizer, options));
        all.add(turns);
        turns.first();
        progress.step(1);
      }
      // By the fastest: on a busy machine the others' first turns are mostly the compiler's time.
      double least = all.stream().mapToDouble(turns -> turns.firstSeconds).min().orElse(0);
      if (least * all.size() > LONG_TURN_SECONDS) {
        progress.step((long) effort.minRounds * formats.size());
      } else {
        progress.message(backend.name() + " warming up");
        long start = System.nanoTime();
        while (secondsSince(start) < effort.warmUp) {
          all.forEach(Turns::warmUp);
        }
        measure(all, progress);
      }
      List<float[]> reference = all.getFirst().vectors;
      exact = exact == null ? reference : exact;
      return new BackendResult(
          backend.name(),
          backend.info(),
          ExpectedEmbeddings.largestDifference(model, reference),
          all.stream().map(turns -> result(backend.name(), turns, reference)).toList());
    } finally {
      all.forEach(Turns::close);
    }
  }

  private void measure(List<Turns> all, Progress progress) {
    long start = System.nanoTime();
    for (int round = 0;
        round < effort.minRounds
            || (round < effort.maxRounds && secondsSince(start) < effort.measuring);
        round++) {
      for (Turns turns : all) {
        progress.message("measuring " + turns.encoder.options().weights().name());
        turns.measure();
        if (round < effort.minRounds) {
          progress.step(1);
        }
      }
    }
  }

  private FormatResult result(String backend, Turns turns, List<float[]> reference) {
    return new FormatResult(
        backend,
        turns.encoder.options().weights(),
        turns.encoder.footprint(),
        Fidelity.of(reference, turns.vectors),
        ErrorHistogram.of(reference, turns.vectors),
        tokens / turns.medianSeconds(),
        Math.max(1, turns.seconds.size()));
  }

  /** One format's runs. */
  private static final class Turns implements AutoCloseable {
    private final SentenceEncoder encoder;
    private final List<Double> seconds = new ArrayList<>();
    private List<float[]> vectors;
    private double firstSeconds;

    Turns(SentenceEncoder encoder) {
      this.encoder = encoder;
    }

    void first() {
      long start = System.nanoTime();
      vectors = encoder.embed(SENTENCES);
      firstSeconds = secondsSince(start);
    }

    void warmUp() {
      vectors = encoder.embed(SENTENCES);
    }

    void measure() {
      long start = System.nanoTime();
      vectors = encoder.embed(SENTENCES);
      seconds.add(secondsSince(start));
    }

    double medianSeconds() {
      return seconds.isEmpty()
          ? firstSeconds
          : median(seconds.stream().mapToDouble(Double::doubleValue).sorted().toArray());
    }

    @Override
    public void close() {
      encoder.close();
    }
  }

  private static double secondsSince(long nanos) {
    return (System.nanoTime() - nanos) / 1e9;
  }

  private static double median(double[] sorted) {
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1
        ? sorted[middle]
        : Arrays.stream(sorted, middle - 1, middle + 1).average().orElseThrow();
  }

  /** Each sentence with the one most like it, by the first backend's F32 weights. */
  List<Report.Neighbour> neighbours() {
    List<Report.Neighbour> neighbours = new ArrayList<>();
    for (int i = 0; i < SENTENCES.size(); i++) {
      int nearest = -1;
      double best = Double.NEGATIVE_INFINITY;
      for (int j = 0; j < SENTENCES.size(); j++) {
        double cosine = Fidelity.cosine(exact.get(i), exact.get(j));
        if (j != i && cosine > best) {
          best = cosine;
          nearest = j;
        }
      }
      neighbours.add(new Report.Neighbour(SENTENCES.get(i), SENTENCES.get(nearest), best));
    }
    return neighbours;
  }

  @Override
  public void close() {
    file.close();
  }
}
