package dev.minifloat.bench.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.bench.Format;
import dev.minifloat.bench.Workload;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

class BenchmarksTest {
  private static List<WorkloadState> benchmarks() {
    DotBenchmark dot = new DotBenchmark();
    dot.format = Format.BF16;
    dot.size = 256;
    GemvBenchmark gemv = new GemvBenchmark();
    gemv.format = Format.MXFP4;
    gemv.size = "40x64";
    gemv.threads = 2;
    GemmBenchmark gemm = new GemmBenchmark();
    gemm.format = Format.E4M3;
    gemm.size = "9x20x64";
    gemm.threads = 2;
    QuantizeBenchmark quantize = new QuantizeBenchmark();
    quantize.format = Format.NVFP4;
    quantize.size = "8x64";
    quantize.threads = 1;
    DequantizeBenchmark dequantize = new DequantizeBenchmark();
    dequantize.format = Format.I8;
    dequantize.size = "8x64";
    dequantize.threads = 1;
    NormsBenchmark norms = new NormsBenchmark();
    norms.format = Workload.Function.LAYER_NORM;
    norms.size = "8x48";
    norms.threads = 1;
    FfmCallBenchmark call = new FfmCallBenchmark();
    call.format = Workload.Call.UPCALL;
    List<WorkloadState> all =
        new ArrayList<>(List.of(dot, gemv, gemm, quantize, dequantize, norms, call));
    for (ConvertBenchmark.Direction direction : ConvertBenchmark.Direction.values()) {
      ConvertBenchmark convert = new ConvertBenchmark();
      convert.format = DType.F16;
      convert.direction = direction;
      convert.size = 4096;
      convert.threads = 1;
      all.add(convert);
    }
    all.forEach(benchmark -> benchmark.contestant = "minifloat");
    return all;
  }

  /** {@code prepare} compares the result with the oracle. */
  @TestFactory
  Stream<DynamicTest> eachComputesWhatTheOracleSays() {
    return benchmarks().stream()
        .map(
            benchmark ->
                DynamicTest.dynamicTest(
                    benchmark.getClass().getSimpleName() + " " + benchmark.workload(),
                    () -> {
                      benchmark.prepare();
                      benchmark.work();
                      benchmark.close();
                    }));
  }

  @Test
  void anotherVectorWidthThanTheJvmsIsRefused() {
    WorkloadState benchmark = benchmarks().getFirst();
    benchmark.vectorBits = 64;
    IllegalStateException e = assertThrows(IllegalStateException.class, benchmark::prepare);
    assertTrue(e.getMessage().contains("-XX:MaxVectorSize=8"), e.getMessage());
  }

  @Test
  void jmhFindsAndRunsThem() throws RunnerException {
    Collection<RunResult> results =
        new Runner(
                new OptionsBuilder()
                    .include(FfmCallBenchmark.class.getName())
                    .param("format", "CRITICAL")
                    .forks(0)
                    .warmupIterations(0)
                    .measurementIterations(1)
                    .measurementTime(TimeValue.milliseconds(20))
                    .verbosity(VerboseMode.SILENT)
                    .build())
            .run();
    assertEquals(1, results.size());
    assertTrue(results.iterator().next().getPrimaryResult().getScore() > 0);
  }
}
