package dev.minifloat.cli;

/**
 * Something to clean up should the JVM be told to end (Ctrl-C, SIGTERM) before this is closed.
 * Closing it does nothing but forget it.
 */
final class AtExit implements AutoCloseable {
  private final Thread hook;

  private AtExit(Thread hook) {
    this.hook = hook;
  }

  /** Remembers a clean-up, which must bear being called at any time, on any thread. */
  static AtExit run(Runnable cleanUp) {
    Thread hook = new Thread(cleanUp, "minifloat-clean-up");
    Runtime.getRuntime().addShutdownHook(hook);
    return new AtExit(hook);
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException _) {
      // The JVM is ending: the hook runs anyway.
    }
  }
}
