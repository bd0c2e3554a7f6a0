package dev.minifloat;

/** A backend was asked for by name and can't run here; the message gives reasons and remedies. */
public final class BackendUnavailableException extends MinifloatException {
  private static final long serialVersionUID = 1L;

  /** Names the backend, each reason why it can't run, and what helps. */
  public BackendUnavailableException(String message) {
    super(message);
  }
}
