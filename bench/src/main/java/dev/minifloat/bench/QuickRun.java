package dev.minifloat.bench;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Lets contestants take turns at each workload: ours, a peer, another peer, ours, and so on, so
 * that what else the machine does favours nobody. A figure is the median of the rounds.
 */
public final class QuickRun {
  /** Below this part of the best probe of the clock a group is said to have been throttled. */
  private static final double THROTTLED = 0.85;

  /** A limit that differs more between start and end makes the run doubtful. */
  private static final double DIFFERS = 0.15;

  private static final int LEAST_ROUNDS = 3;

  /** Seconds of all rounds above which a contestant takes part in every second or third only. */
  private static final double MOST_SECONDS = 1;

  private static final double LONG_RUN = 0.02;

  /** Runs whose garbage is counted. */
  private static final long ALLOCATION_RUNS = 100;

  private static final double VERY_LONG_RUN = 1;

  private final Contestants contestants;
  private final PrintStream out;
  private final LimitMeter meter;
  private final MemoryTraffic traffic;
  private final double budget;
  private final double lastStart;
  private final Oracle oracle = new Oracle();
  private final Measurements measured = new Measurements();
  private final List<String> failures = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();
  private final List<String> allocating = new ArrayList<>();
  private final List<String> leftOut = new ArrayList<>();
  private final List<String> cutShort = new ArrayList<>();
  private final Map<String, Double> probes = new LinkedHashMap<>();
  private final long start = System.nanoTime();

  /**
   * Prepares a run.
   *
   * @param contestants who takes part
   * @param threads the most threads
   * @param budget seconds after which rounds are cut short
   * @param lastStart seconds after which groups are left out
   * @param out where the table goes
   */
  public QuickRun(
      Contestants contestants, int threads, double budget, double lastStart, PrintStream out) {
    this(contestants, new LimitMeter(threads), budget, lastStart, out);
  }

  QuickRun(
      Contestants contestants, LimitMeter meter, double budget, double lastStart, PrintStream out) {
    this.contestants = contestants;
    this.meter = meter;
    this.traffic = new MemoryTraffic(meter.dram());
    this.budget = budget;
    this.lastStart = lastStart;
    this.out = out;
  }

  /** Runs all groups, once; prints each line when its group is done. */
  public RunReport run(List<Plan.Group> groups, Map<String, String> facts) {
    try (traffic) {
      return runAll(groups, facts);
    }
  }

  private RunReport runAll(List<Plan.Group> groups, Map<String, String> facts) {
    Limits first = meter.measure();
    TextTable.limits(out, first);
    for (Plan.Group group : groups) {
      if (elapsed() > lastStart) {
        leftOut.add(name(group));
        continue;
      }
      probes.put(name(group), meter.probe());
      run(group);
      for (Workload workload : group.workloads()) {
        if (!measured.of(workload).isEmpty()) {
          TextTable.row(out, workload, measured, first);
        }
      }
    }
    Limits last = meter.measure();
    if (measured.workloads().isEmpty()) {
      failures.add("nothing was measured: the limits alone took " + Math.round(elapsed()) + " s");
    }
    if (!cutShort.isEmpty()) {
      warnings.add(
          "only " + LEAST_ROUNDS + " rounds, for want of time: " + String.join(", ", cutShort));
    }
    if (!leftOut.isEmpty()) {
      warnings.add("left out for want of time: " + String.join(", ", leftOut));
    }
    if (!allocating.isEmpty()) {
      warnings.add("ours allocates where it should not: " + String.join(", ", allocating));
    }
    checkLimits(first, last);
    Map<String, String> all = new LinkedHashMap<>(facts);
    all.put(Machine.DURATION, Math.round(elapsed()) + " s");
    return new RunReport(
        all,
        contestants.variants(),
        contestants.absent(),
        first.max(last),
        measured,
        failures,
        warnings);
  }

  private static String name(Plan.Group group) {
    Workload first = group.workloads().getFirst();
    return first.subject() + " " + first.format() + " " + first.size() + " " + first.threads();
  }

  private double elapsed() {
    return (System.nanoTime() - start) * 1e-9;
  }

  /** One contestant at one workload. */
  private static final class Turn {
    private final Workload workload;
    private final Contestant contestant;
    private double once;
    private long times;
    private int every;
    private final double[] seconds;
    private int taken;

    Turn(Workload workload, Contestant contestant, int rounds, double once) {
      this.workload = workload;
      this.contestant = contestant;
      this.once = once;
      this.seconds = new double[rounds];
    }

    /** Decides how many runs a turn has, and which rounds who is very slow takes part in. */
    void plan() {
      if (once < LONG_RUN) {
        // Again, as the compiler may have gone on while others were warmed up.
        once = Stopwatch.calibrate(contestant);
      }
      times = Stopwatch.timesOfTurn(once);
      every = (int) Math.clamp(Math.ceil(once * seconds.length / MOST_SECONDS), 1, 3);
    }

    void take(int round) {
      if (round % every == 0) {
        if (workload.threads() > 1) {
          Stopwatch.awaitQuiet();
          Stopwatch.spread(contestant);
        }
        seconds[taken++] = Stopwatch.seconds(contestant, times, workload.threads() == 1);
      }
    }

    double median() {
      double[] sorted = Arrays.copyOf(seconds, taken);
      Arrays.sort(sorted);
      return taken % 2 == 1 ? sorted[taken / 2] : (sorted[taken / 2 - 1] + sorted[taken / 2]) / 2;
    }
  }

  private void run(Plan.Group group) {
    List<Turn> turns = new ArrayList<>();
    try {
      for (Workload workload : group.workloads()) {
        for (Peer peer : contestants.all()) {
          if (!Plan.isLeftOut(peer.name(), workload)) {
            prepare(workload, peer, group.rounds()).ifPresent(turns::add);
          }
        }
        traffic
            .prepare(workload)
            .forEach(limit -> turns.add(warm(workload, limit, group.rounds())));
      }
      // Arrays of inputs and results are garbage now; collected later, they would be timed.
      System.gc();
      turns.forEach(Turn::plan);
      int rounds = elapsed() < budget ? group.rounds() : LEAST_ROUNDS;
      if (rounds < group.rounds()) {
        cutShort.add(name(group));
      }
      for (int round = 0; round < rounds; round++) {
        for (Turn turn : turns) {
          turn.take(round);
        }
      }
      turns.forEach(this::checkAllocation);
      turns.forEach(t -> measured.add(t.workload, t.contestant.name(), t.median()));
    } finally {
      turns.forEach(turn -> turn.contestant.close());
    }
  }

  /** Kernels of ours leave no garbage; an encoder returns new arrays. */
  private static boolean isTidy(Contestant contestant, Workload workload) {
    return contestant.name().equals(Ours.NAME) && !(workload instanceof Workload.Encode);
  }

  /** What leaves garbage all the same was compiled badly, which explains its time. */
  private void checkAllocation(Turn turn) {
    if (!isTidy(turn.contestant, turn.workload)) {
      return;
    }
    double bytes = Stopwatch.bytes(turn.contestant, Math.min(turn.times, ALLOCATION_RUNS));
    if (bytes >= 1) {
      allocating.add("%s (%.0f B a call)".formatted(TextTable.title(turn.workload), bytes));
    }
  }

  /** A contestant that is right and warm, or nothing, with the reason among the failures. */
  private Optional<Turn> prepare(Workload workload, Peer peer, int rounds) {
    Contestant contestant = null;
    try {
      contestant = peer.prepare(workload).orElse(null);
      if (contestant == null) {
        return Optional.empty();
      }
      double first = Stopwatch.seconds(contestant, 1, false);
      Optional<String> fault = oracle.fault(workload, contestant);
      if (fault.isEmpty()) {
        // What is this slow was warmed up by smaller work, and by itself.
        return Optional.of(
            first > VERY_LONG_RUN
                ? new Turn(workload, contestant, rounds, first)
                : warm(workload, contestant, rounds));
      }
      fail(workload, peer, "wrong: " + fault.get());
    } catch (RuntimeException e) {
      fail(workload, peer, e.toString());
    }
    if (contestant != null) {
      contestant.close();
    }
    return Optional.empty();
  }

  private static Turn warm(Workload workload, Contestant contestant, int rounds) {
    return new Turn(
        workload,
        contestant,
        rounds,
        Stopwatch.warmUp(contestant, isTidy(contestant, workload), workload.threads() == 1));
  }

  private void fail(Workload workload, Peer peer, String reason) {
    String failure = peer.name() + ", " + TextTable.title(workload) + ": " + reason;
    failures.add(failure);
    out.println("FAILED " + failure);
  }

  private void checkLimits(Limits first, Limits last) {
    compare("FP32 multiply-adds", first.one().fma(), last.one().fma());
    compare("FP32 multiply-adds, all threads", first.all().fma(), last.all().fma());
    compare("loads from L1", first.one().l1(), last.one().l1());
    compare("DRAM read", first.one().dramRead(), last.one().dramRead());
    compare("DRAM read, all threads", first.all().dramRead(), last.all().dramRead());
    compare("DRAM copy", first.one().dramCopy(), last.one().dramCopy());
    double peak = Math.max(first.one().fma(), last.one().fma());
    double best = Math.max(peak, probes.values().stream().mapToDouble(x -> x).max().orElse(0));
    List<String> slow =
        probes.entrySet().stream()
            .filter(probe -> probe.getValue() < THROTTLED * best)
            .map(probe -> "%s (%.0f %%)".formatted(probe.getKey(), 100 * probe.getValue() / best))
            .toList();
    if (!slow.isEmpty()) {
      warnings.add(
          "this run looks throttled: multiply-adds fell far below the run's best before "
              + String.join(", ", slow));
    }
  }

  private void compare(String what, double first, double last) {
    if (Math.abs(first - last) > DIFFERS * Math.max(first, last)) {
      warnings.add(
          "this run looks throttled or disturbed: %s went from %.1f to %.1f"
              .formatted(what, first, last));
    }
  }
}
