package dev.minifloat.cli;

/** A command did its work and the answer is bad: exit code 1, and one line that says why. */
final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CommandFailure(String message) {
    super(message);
  }

  CommandFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
