package dev.minifloat.cuda.internal.driver;

import java.util.List;

/** Closes several things, all of them, whatever fails. */
public final class Closing {
  private Closing() {}

  /**
   * Closes, in order.
   *
   * @throws RuntimeException the first failure, the others being suppressed by it
   */
  public static void all(List<? extends AutoCloseable> things) {
    RuntimeException first = null;
    for (AutoCloseable thing : things) {
      try {
        thing.close();
      } catch (Exception e) {
        RuntimeException failure =
            e instanceof RuntimeException unchecked
                ? unchecked
                : new IllegalStateException("closing " + thing + " failed", e);
        if (first == null) {
          first = failure;
        } else {
          first.addSuppressed(failure);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }

  /** Closes something because of a failure, which is the one to be told. */
  public static void because(Throwable failure, AutoCloseable thing) {
    try {
      thing.close();
    } catch (Exception e) {
      failure.addSuppressed(e);
    }
  }
}
