package dev.minifloat.spi;

import java.util.stream.Stream;

/** Does several things that end something, all of them, whatever fails. */
final class Closing {
  private Closing() {}

  /**
   * Runs steps in order.
   *
   * @throws RuntimeException the first failure, the others being suppressed by it
   */
  static void all(Stream<Runnable> steps) {
    RuntimeException[] first = new RuntimeException[1];
    steps.forEach(
        step -> {
          try {
            step.run();
          } catch (RuntimeException e) {
            if (first[0] == null) {
              first[0] = e;
            } else {
              first[0].addSuppressed(e);
            }
          }
        });
    if (first[0] != null) {
      throw first[0];
    }
  }

  /** Runs a step because of a failure, which is the one to be told. */
  static void because(Throwable failure, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }
}
