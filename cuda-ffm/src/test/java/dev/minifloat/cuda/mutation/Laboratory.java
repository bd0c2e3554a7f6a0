package dev.minifloat.cuda.mutation;

import dev.minifloat.HostTensor;
import dev.minifloat.Scope;
import dev.minifloat.reference.ReferenceBackend;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs probes on simulated devices, with the kernels as they are or with a mutant among them. */
final class Laboratory implements AutoCloseable {
  private final KernelTexts texts;
  private final List<Probe> probes;
  private final Map<Probe, List<HostTensor>> expected = new HashMap<>();
  private final Map<Probe, Map<String, BitSet>> covered = new HashMap<>();
  private final Map<Probe, Long> nanos = new HashMap<>();
  private final Map<String, Coverage> coverages = new ConcurrentHashMap<>();
  private final Map<String, Queue<Subject>> idle = new ConcurrentHashMap<>();

  /** What came of a mutant. */
  sealed interface Outcome {
    /** A probe had another result, or the simulator stopped the kernel. */
    record Killed(Probe by, String how, boolean fault) implements Outcome {}

    /** All probes that come to the line had the right results; none may come to it. */
    record Survived(int probes) implements Outcome {}

    /** The driver refused the text: it is no kernel at all, and doesn't count. */
    record Refused(String why) implements Outcome {}
  }

  /**
   * Runs all probes with the kernels as they are, to see which blocks of which kernels each
   * reaches.
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
    Map<String, Queue<Subject>> covering = new ConcurrentHashMap<>();
    try (ExecutorService threads =
        Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())) {
      Map<Probe, Future<Trial>> trials = new LinkedHashMap<>();
      probes.forEach(probe -> trials.put(probe, threads.submit(() -> cover(covering, probe))));
      for (Map.Entry<Probe, Future<Trial>> each : trials.entrySet()) {
        Trial trial = each.getValue().get();
        if (trial.outcome() instanceof Outcome.Killed(_, String how, _)) {
          failures.add(each.getKey() + ": " + how);
        }
        covered.put(each.getKey(), trial.covered());
        nanos.put(each.getKey(), trial.nanos());
      }
    } finally {
      covering.values().forEach(subjects -> subjects.forEach(Subject::close));
    }
    if (!failures.isEmpty()) {
      throw new AssertionError("without any mutant fail " + String.join("\n", failures));
    }
  }

  private record Trial(Outcome outcome, Map<String, BitSet> covered, long nanos) {}

  private Trial cover(Map<String, Queue<Subject>> subjects, Probe probe) {
    Subject subject = borrow(subjects, probe.device(), true);
    long start = System.nanoTime();
    Outcome outcome = subject.run(probe, expected.get(probe), null);
    long end = System.nanoTime();
    Map<String, BitSet> blocks = subject.usable() ? subject.covered() : Map.of();
    giveBack(subjects, probe.device(), subject);
    return new Trial(outcome, blocks, end - start);
  }

  private Subject borrow(Map<String, Queue<Subject>> from, String device, boolean covering) {
    Subject subject = from.computeIfAbsent(device, _ -> new ConcurrentLinkedQueue<>()).poll();
    return subject != null ? subject : new Subject(device, texts, covering);
  }

  private static void giveBack(Map<String, Queue<Subject>> to, String device, Subject subject) {
    if (subject.usable()) {
      to.get(device).add(subject);
    } else {
      subject.close();
    }
  }

  /** The probes that come to the line that a mutant changes, the quickest first. */
  List<Probe> probesOf(Mutant mutant) {
    int block =
        coverages
            .computeIfAbsent(mutant.kernel(), kernel -> new Coverage(mutant.file(), kernel))
            .block(mutant.line());
    return probes.stream()
        .filter(
            probe -> {
              BitSet blocks = covered.get(probe).get(mutant.kernel());
              return blocks != null && blocks.get(block);
            })
        .sorted(Comparator.comparingLong(nanos::get))
        .toList();
  }

  /** What becomes of a mutant. */
  Outcome outcome(Mutant mutant) {
    List<Probe> coming = probesOf(mutant);
    for (Probe probe : coming) {
      Subject subject = borrow(idle, probe.device(), false);
      Outcome outcome = subject.run(probe, expected.get(probe), mutant);
      giveBack(idle, probe.device(), subject);
      if (!(outcome instanceof Outcome.Survived)) {
        return outcome;
      }
    }
    return new Outcome.Survived(coming.size());
  }

  @Override
  public void close() {
    idle.values().forEach(subjects -> subjects.forEach(Subject::close));
  }
}
