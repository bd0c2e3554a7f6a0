package dev.minifloat.bench;

import java.util.Optional;

/** Other people's code that can do some workloads. */
public interface Peer extends AutoCloseable {
  /** What the table calls it. */
  String name();

  /** Version, and which variant or core its library chose for this processor. */
  String variant();

  /** A contestant for a workload, or empty if it has nothing that does that work. */
  Optional<Contestant> prepare(Workload workload);

  /** Unloads it. */
  @Override
  void close();
}
