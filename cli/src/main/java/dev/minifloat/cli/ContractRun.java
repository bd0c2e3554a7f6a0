package dev.minifloat.cli;

import dev.minifloat.contract.Check;
import dev.minifloat.contract.ContractViolation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Runs checks of the contract, group by group, and tells how it goes: a line for each violation
 * when it is found, and one for each group when it is done.
 */
final class ContractRun {
  private final String backend;
  private final Consumer<String> lines;
  private final Progress progress;
  private final List<Outcome> outcomes = new ArrayList<>();

  /**
   * A run that begins.
   *
   * @param backend the name of what is checked
   * @param lines takes what it tells
   * @param progress is stepped for each check
   */
  ContractRun(String backend, Consumer<String> lines, Progress progress) {
    this.backend = backend;
    this.lines = lines;
    this.progress = progress;
  }

  /** Runs the checks; a group's stand together, as its first one does. */
  List<Outcome> run(List<Check> checks) {
    Map<String, List<Check>> groups = new LinkedHashMap<>();
    checks.forEach(
        check -> groups.computeIfAbsent(check.group(), _ -> new ArrayList<>()).add(check));
    groups.forEach(this::runGroup);
    return List.copyOf(outcomes);
  }

  private void runGroup(String group, List<Check> checks) {
    long start = System.nanoTime();
    int violations = 0;
    for (Check check : checks) {
      progress.message(check.name());
      Outcome outcome = outcome(check);
      outcomes.add(outcome);
      if (!outcome.ok()) {
        violations++;
        lines.accept("  " + outcome);
      }
      progress.step(1);
    }
    lines.accept(
        String.format(
            Locale.ROOT,
            "  %s: %s, %s, %.1f s",
            group,
            checks.size() == 1 ? "1 check" : checks.size() + " checks",
            violations == 0 ? "OK" : violations + " FAILED",
            (System.nanoTime() - start) / 1e9));
  }

  private Outcome outcome(Check check) {
    long start = System.nanoTime();
    String failure = null;
    String trace = null;
    try {
      check.run();
    } catch (ContractViolation e) {
      failure = e.getMessage();
      trace = Outcome.trace(e);
    }
    return new Outcome(backend, check.name(), failure, trace, (System.nanoTime() - start) * 1e-9);
  }
}
