package dev.minifloat.cuda.mutation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/** The mutants of some kernels that a seed chooses. */
final class Mutants {
  private final KernelTexts texts;
  private final long seed;

  Mutants(KernelTexts texts, long seed) {
    this.texts = texts;
    this.seed = seed;
  }

  /**
   * Mutants of a kernel.
   *
   * @param each how many of each operator, or all that it has
   */
  List<Mutant> of(String kernel, int each) {
    PtxFile file = texts.fileOf(texts.entry(kernel));
    KernelBody body = new KernelBody(file, texts.entry(kernel));
    List<Mutant> chosen = new ArrayList<>();
    // Each operator draws for itself: a new one, put last, leaves the others' mutants as they are.
    int index = 0;
    for (Operator operator : Operator.values()) {
      List<Mutant> all = new ArrayList<>();
      for (int i = body.from(); i < body.to(); i++) {
        for (String after : operator.mutations(body, body.line(i))) {
          all.add(new Mutant(file, kernel, operator, i, after));
        }
      }
      SplittableRandom random =
          new SplittableRandom(seed ^ ((long) kernel.hashCode() << 8) ^ index++);
      List<Mutant> picked = new ArrayList<>();
      while (picked.size() < each && !all.isEmpty()) {
        picked.add(all.remove(random.nextInt(all.size())));
      }
      picked.sort(Comparator.comparingInt(Mutant::line));
      chosen.addAll(picked);
    }
    return chosen;
  }
}
