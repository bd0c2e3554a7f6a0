package dev.minifloat.bench;

import dev.minifloat.bench.peers.Peers;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A made-up run. */
public final class Samples {
  /** Round numbers. */
  public static final Limits LIMITS =
      new Limits(
          2,
          new Limits.Rates(160, 250, 130, 26, 16, 20),
          new Limits.Rates(320, 500, 260, 50, 30, 38),
          48 << 10,
          2 << 20,
          300 << 20,
          1 << 30);

  private Samples() {}

  /** Figures of every workload of the quick plan, by invented contestants. */
  public static RunReport report() {
    Measurements measured = new Measurements();
    for (Plan.Group group : Plan.quick(2)) {
      for (Workload workload : group.workloads()) {
        double figure = workload.unit() == Unit.NANOS ? 10 : 30;
        double seconds =
            workload.unit() == Unit.NANOS
                ? figure * 1e-9 * workload.work()
                : workload.work() / (figure * 1e9);
        measured.add(workload, Ours.NAME, seconds);
        measured.add(workload, "ggml", seconds * 1.25);
        measured.add(workload, Scalar.NAME, seconds * 9);
      }
    }
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("Processor", "Sample <CPU>");
    facts.put("JDK", "25");
    facts.put(Machine.COMMAND, "./minifloat bench cpu --quick");
    Map<String, String> peers = new LinkedHashMap<>();
    peers.put(Ours.NAME, "512 bits");
    peers.put("ggml", "sample");
    peers.put(Scalar.NAME, "Java");
    return new RunReport(
        facts,
        peers,
        List.of(new Peers.Absent("Jlama", "it isn't there")),
        LIMITS,
        measured,
        List.of(),
        List.of("this run looks throttled: sample"));
  }
}
