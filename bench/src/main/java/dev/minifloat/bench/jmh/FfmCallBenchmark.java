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

/** Calls between Java and C. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class FfmCallBenchmark extends WorkloadState {
  /** Which kind of call. */
  @Param({"DOWNCALL", "CRITICAL", "UPCALL"})
  public Workload.Call format;

  @Override
  Workload workload() {
    return new Workload.FfmCall(format);
  }

  /** The work. */
  @Benchmark
  public void run() {
    work();
  }
}
