package dev.minifloat.bench;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * The long run: JMH, a JVM for each parameter, contestants one after the other, with the bytes that
 * a call allocates. Our own benchmarks run at each vector width too.
 */
final class LongRun {
  /** Bytes a call below which an allocation is JMH's own, spread over its calls. */
  private static final double JMH_NOISE = 1;

  private final Contestants contestants;
  private final PrintStream out;
  private final LimitMeter meter;
  private final Measurements measured = new Measurements();
  private final List<String> failures = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();

  private final List<Integer> widths;
  private final long start = System.nanoTime();

  /**
   * Prepares a run.
   *
   * @param widths vector widths in bits that ours is measured at beside the preferred one
   */
  LongRun(Contestants contestants, int threads, List<Integer> widths, PrintStream out) {
    this.contestants = contestants;
    this.widths = List.copyOf(widths);
    this.out = out;
    this.meter = new LimitMeter(threads);
  }

  /** Runs the workloads of all groups that JMH has a class for. */
  RunReport run(List<Plan.Group> groups, Map<String, String> facts) {
    Limits limits = meter.measure();
    TextTable.limits(out, limits);
    for (Plan.Group group : groups) {
      for (Workload workload : group.workloads()) {
        for (Peer peer : contestants.all()) {
          if (does(peer, workload)) {
            run(workload, peer.name(), Optional.empty());
          }
        }
        if (!(workload instanceof Workload.FfmCall)) {
          widths.forEach(bits -> run(workload, Ours.NAME, Optional.of(bits)));
        }
        if (!measured.of(workload).isEmpty()) {
          TextTable.row(out, workload, measured, limits);
        }
      }
    }
    Map<String, String> all = new LinkedHashMap<>(facts);
    all.put(Machine.DURATION, Math.round((System.nanoTime() - start) * 1e-9) + " s");
    return new RunReport(
        all,
        contestants.variants(),
        contestants.absent(),
        limits.max(meter.measure()),
        measured,
        failures,
        warnings);
  }

  private boolean does(Peer peer, Workload workload) {
    try {
      return peer.prepare(workload)
          .map(
              contestant -> {
                contestant.close();
                return true;
              })
          .orElse(false);
    } catch (RuntimeException e) {
      failures.add(peer.name() + ", " + TextTable.title(workload) + ": " + e);
      return false;
    }
  }

  private void run(Workload workload, String contestant, Optional<Integer> bits) {
    JmhJob job = JmhJob.of(workload).orElse(null);
    if (job == null) {
      return;
    }
    OptionsBuilder options = new OptionsBuilder();
    options
        .include("^" + job.benchmark().getName().replace(".", "\\.") + "\\.run$")
        .param("contestant", contestant)
        .addProfiler(GCProfiler.class)
        .verbosity(VerboseMode.SILENT)
        .shouldFailOnError(true);
    job.parameters().forEach(options::param);
    bits.ifPresent(
        width ->
            options
                .param("vectorBits", Integer.toString(width))
                .jvmArgsAppend("-XX:MaxVectorSize=" + width / 8));
    String name = contestant + bits.map(width -> ", " + width + " bits").orElse("");
    try {
      for (RunResult result : new Runner(options.build()).run()) {
        // The benchmarks' unit is the nanosecond.
        measured.add(workload, name, result.getPrimaryResult().getScore() * 1e-9);
        checkAllocation(workload, name, result);
      }
    } catch (RunnerException e) {
      failures.add(name + ", " + TextTable.title(workload) + ": " + e.getMessage());
      out.println("FAILED " + failures.getLast());
    }
  }

  private void checkAllocation(Workload workload, String name, RunResult result) {
    Result<?> allocated = result.getSecondaryResults().get("gc.alloc.rate.norm");
    if (name.startsWith(Ours.NAME) && allocated != null && allocated.getScore() > JMH_NOISE) {
      warnings.add(
          String.format(
              Locale.ROOT,
              "%s, %s: %.0f bytes allocated by a call",
              name,
              TextTable.title(workload),
              allocated.getScore()));
    }
  }
}
