package dev.minifloat;

/**
 * Owns every tensor made in it: closing the scope closes them all, latest first. Scopes of one
 * backend are independent of each other; any thread may use or close one. Closing twice is fine.
 */
public interface Scope extends Operations, AutoCloseable {
  /** Where its tensors live. */
  Backend backend();

  /**
   * Takes a tensor out of the scope: from now on it is the caller's, who closes it.
   *
   * @throws IllegalArgumentException if this scope does not own it
   */
  Tensor detach(Tensor tensor);

  @Override
  void close();
}
