package dev.minifloat.bench;

import dev.minifloat.DType;
import dev.minifloat.Rounding;
import dev.minifloat.bench.jmh.ConvertBenchmark;
import dev.minifloat.bench.jmh.DequantizeBenchmark;
import dev.minifloat.bench.jmh.DotBenchmark;
import dev.minifloat.bench.jmh.FfmCallBenchmark;
import dev.minifloat.bench.jmh.GemmBenchmark;
import dev.minifloat.bench.jmh.GemvBenchmark;
import dev.minifloat.bench.jmh.NormsBenchmark;
import dev.minifloat.bench.jmh.QuantizeBenchmark;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The benchmark of a workload and its parameters.
 *
 * @param benchmark the class
 * @param parameters values of its parameters by their names
 */
record JmhJob(Class<?> benchmark, Map<String, String> parameters) {
  /** Empty for what only the quick run measures: whole embeddings. */
  static Optional<JmhJob> of(Workload workload) {
    return switch (workload) {
      case Workload.Dot w -> Optional.of(job(DotBenchmark.class, w.type(), w));
      case Workload.Gemv w -> threaded(GemvBenchmark.class, w.weights(), w);
      case Workload.Gemm w -> threaded(GemmBenchmark.class, w.type(), w);
      case Workload.Quantize w -> threaded(QuantizeBenchmark.class, w.to(), w);
      case Workload.Dequantize w -> threaded(DequantizeBenchmark.class, w.from(), w);
      case Workload.Norm w -> threaded(NormsBenchmark.class, w.function(), w);
      case Workload.Convert w -> {
        boolean widen = w.to() == DType.F32;
        Optional<JmhJob> job = threaded(ConvertBenchmark.class, widen ? w.from() : w.to(), w);
        ConvertBenchmark.Direction direction =
            widen
                ? ConvertBenchmark.Direction.WIDEN
                : w.rounding() instanceof Rounding.Stochastic
                    ? ConvertBenchmark.Direction.STOCHASTIC
                    : ConvertBenchmark.Direction.NARROW;
        job.orElseThrow().parameters.put("direction", direction.name());
        yield job;
      }
      case Workload.FfmCall w ->
          Optional.of(new JmhJob(FfmCallBenchmark.class, Map.of("format", w.kind().name())));
      case Workload.Encode _ -> Optional.empty();
    };
  }

  private static JmhJob job(Class<?> benchmark, Enum<?> format, Workload workload) {
    Map<String, String> parameters = new LinkedHashMap<>();
    parameters.put("format", format.name());
    parameters.put("size", workload.size());
    return new JmhJob(benchmark, parameters);
  }

  private static Optional<JmhJob> threaded(Class<?> benchmark, Enum<?> format, Workload workload) {
    JmhJob job = job(benchmark, format, workload);
    job.parameters.put("threads", Integer.toString(workload.threads()));
    return Optional.of(job);
  }
}
