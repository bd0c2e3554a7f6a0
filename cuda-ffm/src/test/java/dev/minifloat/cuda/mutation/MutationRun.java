package dev.minifloat.cuda.mutation;

import dev.minifloat.cuda.mutation.Laboratory.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;

/**
 * What became of some mutants.
 *
 * @param outcomes of each
 */
record MutationRun(Map<Mutant, Outcome> outcomes) {
  /**
   * Runs mutants on all cores.
   *
   * @param progress hears of each when it is done
   */
  static MutationRun of(
      Laboratory laboratory, List<Mutant> mutants, BiConsumer<Mutant, Outcome> progress)
      throws InterruptedException, ExecutionException {
    Map<Mutant, Outcome> outcomes = new LinkedHashMap<>();
    try (ExecutorService threads =
        Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())) {
      List<Future<Outcome>> coming = new ArrayList<>();
      for (Mutant mutant : mutants) {
        coming.add(threads.submit(() -> laboratory.outcome(mutant)));
      }
      for (int i = 0; i < mutants.size(); i++) {
        Outcome outcome = coming.get(i).get();
        outcomes.put(mutants.get(i), outcome);
        progress.accept(mutants.get(i), outcome);
      }
    }
    return new MutationRun(outcomes);
  }

  /** Those that every probe let pass. */
  List<Mutant> survivors() {
    return outcomes.keySet().stream()
        .filter(mutant -> outcomes.get(mutant) instanceof Outcome.Survived)
        .toList();
  }

  /** Those that no driver takes: an operator went wrong. */
  List<Mutant> refused() {
    return outcomes.keySet().stream()
        .filter(mutant -> outcomes.get(mutant) instanceof Outcome.Refused)
        .toList();
  }
}
