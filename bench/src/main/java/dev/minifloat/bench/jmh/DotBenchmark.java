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

/** Dot products of two vectors of one format. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class DotBenchmark extends WorkloadState {
  /** Format of both. */
  @Param({"F32", "F16", "BF16", "E4M3", "E5M2", "I8", "MXFP4", "NVFP4"})
  public Format format;

  /** Elements. */
  @Param({"256", "1024", "4096", "65536"})
  public int size;

  @Override
  Workload workload() {
    return new Workload.Dot(format, size);
  }

  /** The work. */
  @Benchmark
  public void run() {
    work();
  }
}
