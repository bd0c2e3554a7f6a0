package dev.minifloat.bench.jmh;

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

/** Softmax, norms and activations of rows of F32. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class NormsBenchmark extends WorkloadState {
  /** Which function. */
  @Param({"SOFTMAX", "LAYER_NORM", "RMS_NORM", "GELU_ERF", "GELU_TANH", "SILU"})
  public Workload.Function format;

  /** Rows and columns. */
  @Param({"512x384", "4096x4096"})
  public String size;

  /** Threads. */
  @Param({"1", "2"})
  public int threads;

  @Override
  Workload workload() {
    return new Workload.Norm(format, Extents.of(size)[0], Extents.of(size)[1], threads);
  }

  /** The work. */
  @Benchmark
  public void run() {
    work();
  }
}
