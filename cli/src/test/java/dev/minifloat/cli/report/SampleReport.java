package dev.minifloat.cli.report;

import dev.minifloat.BackendInfo;
import dev.minifloat.encoder.Fidelity;
import dev.minifloat.encoder.Footprint;
import dev.minifloat.encoder.WeightFormat;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** A report with invented results. */
final class SampleReport {
  private SampleReport() {}

  static Report of(String... backends) {
    List<BackendResult> results = new ArrayList<>();
    for (String name : backends) {
      results.add(backend(name));
    }
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("JDK", "25 <early access> & more");
    return new Report(
        "minilm",
        "./minifloat demo --model minilm",
        facts,
        List.of(new Report.Neighbour("Is 1 < 2?", "\"Yes\" & no", 0.75)),
        123,
        results);
  }

  static BackendResult backend(String name) {
    List<FormatResult> formats = new ArrayList<>();
    List<float[]> exact = vectors(0);
    double spread = 0;
    for (WeightFormat format : WeightFormat.all()) {
      List<float[]> vectors = vectors(spread);
      formats.add(
          new FormatResult(
              name,
              format,
              new Footprint(
                  40_000_000L * format.linear().dtype().bits() / 32, 0, 47_000_000, 123_456),
              spread == 0 ? new Fidelity(1, 1, 0) : Fidelity.of(exact, vectors),
              ErrorHistogram.of(exact, vectors),
              1000,
              5));
      spread = spread == 0 ? 1e-5 : spread * 3;
    }
    return new BackendResult(name, new BackendInfo("a processor", 512, 2), 3.2e-7, formats);
  }

  private static List<float[]> vectors(double spread) {
    SplittableRandom random = new SplittableRandom(1);
    List<float[]> vectors = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      float[] vector = new float[64];
      for (int h = 0; h < vector.length; h++) {
        vector[h] = (float) (random.nextDouble(-0.1, 0.1) + spread * random.nextDouble(-1, 1));
      }
      vectors.add(vector);
    }
    return vectors;
  }
}
