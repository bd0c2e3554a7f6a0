package dev.minifloat.cuda.mutation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Broken kernels are found out: a sample of the mutants, or all of them where the system property
 * {@code mutation.report} names the file for the report.
 */
class MutationTest {
  private static final Logger LOG = LoggerFactory.getLogger(MutationTest.class);

  /** The sample may not shrink to nothing as survivors are explained. */
  private static final int FEWEST = 30;

  @Test
  void mutantsAreKilled() throws Exception {
    String report = System.getProperty("mutation.report");
    long start = System.nanoTime();
    KernelTexts texts = new KernelTexts();
    KnownSurvivors known = KnownSurvivors.load();
    List<Mutant> mutants =
        report == null
            ? MutatedKernels.sample(texts).stream()
                .filter(mutant -> !known.contains(mutant))
                .toList()
            : MutatedKernels.all(texts);
    assertTrue(mutants.size() >= FEWEST, mutants.size() + " mutants");
    Laboratory laboratory = new Laboratory(texts, report == null ? Probes.sample() : Probes.all());
    MutationRun run =
        MutationRun.of(
            laboratory, mutants, (mutant, outcome) -> LOG.info("{}: {}", mutant, outcome));
    if (report != null) {
      double seconds = (System.nanoTime() - start) / 1e9;
      Files.writeString(Path.of(report), MutationReport.of(run, known, seconds));
    }
    assertEquals(List.of(), run.refused());
    assertEquals(
        List.of(),
        run.survivors().stream().filter(mutant -> !known.contains(mutant)).toList(),
        "survivors that nobody has explained");
  }
}
