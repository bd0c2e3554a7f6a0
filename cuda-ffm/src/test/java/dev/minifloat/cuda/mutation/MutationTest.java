package dev.minifloat.cuda.mutation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Broken kernels are found out: a sample of the mutants; all of them where the system property
 * {@code mutation.report} names the file for the report; those of some kernels where {@code
 * mutation.kernels} lists their names, with commas between.
 */
class MutationTest {
  private static final Logger LOG = LoggerFactory.getLogger(MutationTest.class);

  /** The sample may not shrink to nothing as survivors are explained. */
  private static final int FEWEST = 30;

  @Test
  void mutantsAreKilled() throws Exception {
    String report = System.getProperty("mutation.report");
    String kernels = System.getProperty("mutation.kernels");
    boolean sampled = report == null && kernels == null;
    long start = System.nanoTime();
    KernelTexts texts = new KernelTexts();
    KnownSurvivors known = KnownSurvivors.load();
    List<Mutant> mutants = sampled ? sample(texts, known) : some(texts, kernels);
    MutationRun run;
    try (Laboratory laboratory = new Laboratory(texts, sampled ? Probes.sample() : Probes.all())) {
      run =
          MutationRun.of(
              laboratory, mutants, (mutant, outcome) -> LOG.info("{}: {}", mutant, outcome));
    }
    if (report != null) {
      double seconds = (System.nanoTime() - start) / 1e9;
      Files.writeString(Path.of(report), MutationReport.of(run, known, seconds));
    }
    assertEquals(List.of(), run.refused());
    assertEquals(
        List.of(),
        run.survivors().stream().filter(mutant -> !known.contains(mutant)).toList(),
        "survivors that nobody has explained");
    Set<String> killed =
        run.outcomes().keySet().stream()
            .filter(mutant -> !run.survivors().contains(mutant))
            .map(Mutant::id)
            .filter(known.ids()::contains)
            .collect(Collectors.toSet());
    assertEquals(Set.of(), killed, "in survivors.txt, but killed");
  }

  private static List<Mutant> sample(KernelTexts texts, KnownSurvivors known) {
    List<Mutant> sample =
        MutatedKernels.sample(texts).stream().filter(mutant -> !known.contains(mutant)).toList();
    assertTrue(sample.size() >= FEWEST, sample.size() + " mutants");
    return sample;
  }

  /** Those of the kernels in a list; all where there is none. */
  private static List<Mutant> some(KernelTexts texts, String kernels) {
    if (kernels == null) {
      return MutatedKernels.all(texts);
    }
    List<String> names = Arrays.asList(kernels.split(",", -1));
    List<Mutant> some =
        MutatedKernels.all(texts).stream()
            .filter(mutant -> names.contains(mutant.kernel()))
            .toList();
    assertTrue(!some.isEmpty(), "no mutants of " + kernels);
    return some;
  }
}
