package dev.minifloat;

/**
 * A backend does not offer an operation for a combination of element type and scaling, as {@link
 * Backend#supports} would have said.
 */
public final class UnsupportedOpException extends MinifloatException {
  private static final long serialVersionUID = 1L;

  /** Names the backend, the operation and the operand, and what to do instead. */
  public UnsupportedOpException(String message) {
    super(message);
  }
}
