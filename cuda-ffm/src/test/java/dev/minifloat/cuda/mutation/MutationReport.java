package dev.minifloat.cuda.mutation;

import dev.minifloat.cuda.mutation.Laboratory.Outcome;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** A run's figures, as docs/MUTATION.md has them. */
final class MutationReport {
  private final MutationRun run;
  private final KnownSurvivors known;
  private final StringBuilder text = new StringBuilder();

  private MutationReport(MutationRun run, KnownSurvivors known) {
    this.run = run;
    this.known = known;
  }

  /** What one group of mutants came to. */
  private static final class Count {
    private int all;
    private int wrong;
    private int stopped;
    private int survived;

    void add(Outcome outcome) {
      all++;
      switch (outcome) {
        case Outcome.Killed killed when killed.fault() -> stopped++;
        case Outcome.Killed _ -> wrong++;
        case Outcome.Survived _ -> survived++;
        case Outcome.Refused _ -> all--;
      }
    }
  }

  /**
   * The report.
   *
   * @param seconds that the run took
   */
  static String of(MutationRun run, KnownSurvivors known, double seconds) {
    MutationReport report = new MutationReport(run, known);
    report.write(seconds);
    return report.text.toString();
  }

  private void line(String line) {
    text.append(line).append('\n');
  }

  private void write(double seconds) {
    Count sum = new Count();
    run.outcomes().values().forEach(sum::add);
    int killed = sum.wrong + sum.stopped;
    long equivalent = run.survivors().stream().filter(mutant -> known.isEquivalent(mutant)).count();
    line("# Mutants of the kernels");
    line("");
    line(
        "`cuda-ffm/mutate` writes this file. It changes one line of a kernel's PTX at a time, as the");
    line("operators below say, and runs the kernel on a simulated device against the reference");
    line("backend: products of small integers, whose sums have one right result, and all other");
    line(
        "operations, on ragged extents, with grids so small that CTAs go round. A mutant is killed by");
    line(
        "a wrong result, or by the simulator (a race, memory that nobody wrote, an address out of");
    line(
        "bounds, a barrier that not all reach, a launch that doesn't end). The seed is fixed: the same");
    line("PTX has the same mutants.");
    line("");
    line(
        "- %d mutants of %d kernels, %.0f s"
            .formatted(sum.all, group(Mutant::kernel).size(), seconds));
    line(
        "- %d killed (%.1f %%): %d by wrong results, %d by the simulator"
            .formatted(killed, 100.0 * killed / sum.all, sum.wrong, sum.stopped));
    line(
        "- %d survived, %d of which change nothing that can be seen"
            .formatted(sum.survived, equivalent));
    if (!run.refused().isEmpty()) {
      line("- %d more were refused as PTX and are not counted".formatted(run.refused().size()));
    }
    line(
        "- without those that change nothing: %.1f %% killed"
            .formatted(100.0 * killed / (sum.all - equivalent)));
    table("operator", group(mutant -> mutant.operator().name().toLowerCase(Locale.ROOT)));
    table("kernel", group(Mutant::kernel));
    survivors();
  }

  private Map<String, Count> group(Function<Mutant, String> by) {
    Map<String, Count> counts = new TreeMap<>();
    run.outcomes()
        .forEach(
            (mutant, outcome) ->
                counts.computeIfAbsent(by.apply(mutant), _ -> new Count()).add(outcome));
    return counts;
  }

  private void table(String what, Map<String, Count> counts) {
    line("");
    line("| %s | mutants | wrong result | stopped | survived |".formatted(what));
    line("|---|---:|---:|---:|---:|");
    counts.forEach(
        (name, count) ->
            line(
                "| %s | %d | %d | %d | %d |"
                    .formatted(name, count.all, count.wrong, count.stopped, count.survived)));
  }

  private void survivors() {
    line("");
    line("## Survivors");
    for (Mutant mutant : run.survivors()) {
      line("");
      line("`" + mutant.id() + "`, before: `" + mutant.before() + "`  ");
      line(known.explanation(mutant).orElse("Not explained yet."));
    }
  }
}
