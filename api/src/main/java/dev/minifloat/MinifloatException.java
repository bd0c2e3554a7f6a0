package dev.minifloat;

/**
 * Something outside the caller's arguments went wrong: a file is damaged, a backend can't run, a
 * device failed. The message says what was attempted, on what, what went wrong and what to do.
 *
 * <p>Wrong arguments are {@link IllegalArgumentException}, use after close is {@link
 * IllegalStateException}; neither is of this kind.
 */
public class MinifloatException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** An exception whose message tells the whole story. */
  public MinifloatException(String message) {
    super(message);
  }

  /** An exception caused by another, whose text is part of {@code message} where it helps. */
  public MinifloatException(String message, Throwable cause) {
    super(message, cause);
  }
}
