package dev.minifloat.bench.jmh;

import dev.minifloat.bench.Format;
import dev.minifloat.bench.Workload;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Warmup;

/** Activations times weights, square and skinny. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class GemmBenchmark extends WorkloadState {
  /** Format of both. */
  @Param({"F32", "BF16", "E4M3", "MXFP4"})
  public Format format;

  /** M, N and K. */
  @Param({"1x2048x2048", "4x2048x2048", "16x2048x2048", "1024x1024x1024", "2048x2048x2048"})
  public String size;

  /** Threads. */
  @Param({"1", "2"})
  public int threads;

  @Override
  Workload workload() {
    return new Workload.Gemm(
        format, Extents.of(size)[0], Extents.of(size)[1], Extents.of(size)[2], threads);
  }

  /** The work. */
  @Benchmark
  public void run() {
    work();
  }
}
