package dev.minifloat.contract;

/**
 * A backend broke the contract. The message says what was computed, what came out, what should have
 * come out and within what bound, and the seed and shapes that reproduce it.
 */
public final class ContractViolation extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A violation whose message tells the whole story. */
  public ContractViolation(String message) {
    super(message);
  }

  /** A violation that showed as an exception. */
  public ContractViolation(String message, Throwable cause) {
    super(message, cause);
  }
}
