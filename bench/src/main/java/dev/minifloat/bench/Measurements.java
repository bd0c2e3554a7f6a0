package dev.minifloat.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;

/** Seconds of one run of each contestant at each workload, in the order they were measured. */
public final class Measurements {
  private final Map<Workload, Map<String, Double>> seconds = new LinkedHashMap<>();

  /** Makes an empty collection. */
  public Measurements() {}

  /** Adds the median of a contestant's rounds. */
  public void add(Workload workload, String contestant, double median) {
    seconds.computeIfAbsent(workload, _ -> new LinkedHashMap<>()).put(contestant, median);
  }

  /** All workloads that someone did. */
  public Set<Workload> workloads() {
    return seconds.keySet();
  }

  /** Seconds of each contestant at a workload. */
  public Map<String, Double> of(Workload workload) {
    return seconds.getOrDefault(workload, Map.of());
  }

  /** Seconds of one contestant at a workload. */
  public OptionalDouble of(Workload workload, String contestant) {
    Double found = of(workload).get(contestant);
    return found == null ? OptionalDouble.empty() : OptionalDouble.of(found);
  }
}
