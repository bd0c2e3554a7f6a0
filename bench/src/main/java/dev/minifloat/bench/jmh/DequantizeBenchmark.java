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

/** Formats with scales to F32. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class DequantizeBenchmark extends WorkloadState {
  /** Format of the argument. */
  @Param({"E4M3", "E5M2", "I8", "MXFP4", "NVFP4"})
  public Format format;

  /** Rows and columns. */
  @Param({"64x4096", "4096x4096"})
  public String size;

  /** Threads. */
  @Param({"1", "2"})
  public int threads;

  @Override
  Workload workload() {
    return new Workload.Dequantize(format, Extents.of(size)[0], Extents.of(size)[1], threads);
  }

  /** The work. */
  @Benchmark
  public void run() {
    work();
  }
}
