package dev.minifloat.bench.jmh;

import dev.minifloat.DType;
import dev.minifloat.Rounding;
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

/** Conversions between F32 and unscaled types. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class ConvertBenchmark extends WorkloadState {
  /** The type that is not F32. */
  @Param({"BF16", "F16", "F8_E4M3"})
  public DType format;

  /** From F32 to nearest even, stochastically, or to F32. */
  @Param({"NARROW", "STOCHASTIC", "WIDEN"})
  public Direction direction;

  /** Elements. */
  @Param({"262144", "16777216"})
  public int size;

  /** Threads. */
  @Param({"1", "2"})
  public int threads;

  /** Which way it goes. */
  public enum Direction {
    /** F32 to the type, to nearest even. */
    NARROW,
    /** F32 to the type, stochastically. */
    STOCHASTIC,
    /** The type to F32. */
    WIDEN
  }

  @Override
  Workload workload() {
    return switch (direction) {
      case NARROW -> convert(DType.F32, format, Rounding.NEAREST_EVEN);
      case STOCHASTIC -> convert(DType.F32, format, Rounding.stochastic(1));
      case WIDEN -> convert(format, DType.F32, Rounding.NEAREST_EVEN);
    };
  }

  private Workload convert(DType from, DType to, Rounding rounding) {
    return new Workload.Convert(from, to, rounding, size, threads);
  }

  /** The work. */
  @Benchmark
  public void run() {
    work();
  }
}
