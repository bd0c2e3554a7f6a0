package dev.minifloat.bench.jmh;

import dev.minifloat.bench.Contestant;
import dev.minifloat.bench.Contestants;
import dev.minifloat.bench.Workload;
import jdk.incubator.vector.FloatVector;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A contestant at one workload. Threads are the contestant's own; JMH calls it from one. */
@State(Scope.Benchmark)
public abstract class WorkloadState {
  /** Who does it. */
  @Param("minifloat")
  public String contestant;

  /**
   * Width of vectors. It takes a JVM of its own, so this only says what {@code -XX:MaxVectorSize}
   * was given; 0 for whatever the machine prefers.
   */
  @Param("0")
  public int vectorBits;

  private Contestants contestants;
  private Contestant prepared;

  /** What is to be done, by the parameters of the subclass. */
  abstract Workload workload();

  /** Prepares the contestant, and asserts that what it computes is right. */
  @Setup(Level.Trial)
  public void prepare() {
    int bits = FloatVector.SPECIES_PREFERRED.vectorBitSize();
    if (vectorBits != 0 && vectorBits != bits) {
      throw new IllegalStateException(
          "vectors have %d bits; start the JVM with -XX:MaxVectorSize=%d"
              .formatted(bits, vectorBits / 8));
    }
    contestants = Contestants.gather();
    prepared = contestants.prepareChecked(contestant, workload());
  }

  /** Does the work once. */
  final void work() {
    prepared.run();
  }

  /** Frees what was prepared. */
  @TearDown(Level.Trial)
  public void close() {
    if (prepared != null) {
      prepared.close();
    }
    if (contestants != null) {
      contestants.close();
    }
  }
}
