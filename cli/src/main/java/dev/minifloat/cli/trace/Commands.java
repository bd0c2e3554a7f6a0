package dev.minifloat.cli.trace;

import java.io.IOException;

/** Where the commands of a trace come from. */
public interface Commands extends AutoCloseable {
  /**
   * The next command.
   *
   * @param prompt what to ask with
   * @return null at the end
   */
  String next(String prompt) throws IOException;

  /** Whether the user has pressed Ctrl-C since this was last asked. */
  boolean isInterrupted();

  /** Whether somebody types them, who may press Ctrl-C. */
  boolean areTyped();

  @Override
  void close() throws IOException;
}
