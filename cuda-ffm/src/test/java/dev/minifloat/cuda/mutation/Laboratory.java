package dev.minifloat.cuda.mutation;

import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.CudaBackend;
import dev.minifloat.cuda.sim.Arithmetic;
import dev.minifloat.cuda.sim.SimulatedDriver;
import dev.minifloat.reference.ReferenceBackend;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs probes on simulated devices, with the kernels as they are or with a mutant among them. */
final class Laboratory {
  /** Warp instructions of a launch; no probe needs a tenth of them. */
  private static final long MOST_INSTRUCTIONS = 5_000_000;

  private final KernelTexts texts;
  private final List<Probe> probes;
  private final Map<Probe, List<HostTensor>> expected = new HashMap<>();
  private final Map<Probe, Set<String>> kernels = new LinkedHashMap<>();
  private final Map<Probe, Long> nanos = new HashMap<>();

  /** What came of a mutant. */
  sealed interface Outcome {
    /** A probe had another result, or the simulator stopped the kernel. */
    record Killed(Probe by, String how, boolean fault) implements Outcome {}

    /** All probes had the right results. */
    record Survived() implements Outcome {}

    /** The driver refused the text: it is no kernel at all, and doesn't count. */
    record Refused(String why) implements Outcome {}
  }

  /**
   * Runs all probes with the kernels as they are.
   *
   * @throws AssertionError if one fails
   */
  Laboratory(KernelTexts texts, List<Probe> probes)
      throws InterruptedException, ExecutionException {
    this.texts = texts;
    this.probes = List.copyOf(probes);
    try (ReferenceBackend reference = new ReferenceBackend()) {
      for (Probe probe : probes) {
        try (Scope scope = reference.scope()) {
          List<HostTensor> results = new ArrayList<>();
          probe.use().on(scope).forEach(result -> results.add(scope.download(result)));
          expected.put(probe, results);
        }
      }
    }
    List<String> failures = new ArrayList<>();
    try (ExecutorService threads =
        Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())) {
      Map<Probe, Future<Trial>> trials = new LinkedHashMap<>();
      probes.forEach(probe -> trials.put(probe, threads.submit(() -> run(probe, null))));
      for (Map.Entry<Probe, Future<Trial>> each : trials.entrySet()) {
        Trial trial = each.getValue().get();
        if (trial.outcome() instanceof Outcome.Killed(_, String how, _)) {
          failures.add(each.getKey() + ": " + how);
        }
        kernels.put(each.getKey(), trial.kernels());
        nanos.put(each.getKey(), trial.nanos());
      }
    }
    if (!failures.isEmpty()) {
      throw new AssertionError("without any mutant fail " + String.join("\n", failures));
    }
  }

  private record Trial(Outcome outcome, Set<String> kernels, long nanos) {}

  /** The probes that run a kernel, the quickest first. */
  List<Probe> probesOf(String kernel) {
    return probes.stream()
        .filter(probe -> kernels.get(probe).contains(kernel))
        .sorted((p, q) -> Long.compare(nanos.get(p), nanos.get(q)))
        .toList();
  }

  /** What becomes of a mutant. */
  Outcome outcome(Mutant mutant) {
    for (Probe probe : probesOf(mutant.kernel())) {
      Outcome outcome = run(probe, mutant).outcome();
      if (!(outcome instanceof Outcome.Survived)) {
        return outcome;
      }
    }
    return new Outcome.Survived();
  }

  /** Whether any probe comes to the line that a mutant changes. */
  boolean reaches(Mutant mutant) {
    Mutant trap =
        new Mutant(
            mutant.file(),
            mutant.kernel(),
            mutant.operator(),
            mutant.line(),
            "trap; " + mutant.before());
    return outcome(trap) instanceof Outcome.Killed;
  }

  private Trial run(Probe probe, Mutant mutant) {
    long start = System.nanoTime();
    try (SimulatedDriver driver =
            SimulatedDriver.builder()
                .device("sim:" + probe.device())
                // Products are exact, so that any order of their sums will do: this is the
                // quickest.
                .arithmetic(Arithmetic.SEQUENTIAL_F32)
                .maxInstructions(MOST_INSTRUCTIONS)
                .build();
        Arena arena = Arena.ofShared()) {
      MutatedDriver mutated =
          new MutatedDriver(driver.lookup(), arena, texts, mutant, probe.limit());
      Outcome outcome;
      try (CudaBackend backend = CudaBackend.on("mutated", mutated, 0)) {
        outcome = compare(probe, backend);
      } catch (MinifloatException e) {
        String why = driver.lastTrap().orElse(e.getMessage());
        outcome =
            mutated.refused() ? new Outcome.Refused(why) : new Outcome.Killed(probe, why, true);
      }
      return new Trial(outcome, mutated.kernels(), System.nanoTime() - start);
    }
  }

  private Outcome compare(Probe probe, CudaBackend backend) {
    try (Scope scope = backend.scope()) {
      List<Tensor> results = probe.use().on(scope);
      for (int i = 0; i < results.size(); i++) {
        String difference =
            probe.difference(expected.get(probe).get(i), scope.download(results.get(i)));
        if (difference != null) {
          return new Outcome.Killed(probe, difference, false);
        }
      }
    }
    return new Outcome.Survived();
  }
}
