package dev.minifloat;

/**
 * Computes with tensors, in memory of its own. {@link Backends} finds the ones that are there.
 *
 * <p>Any thread, virtual ones too, may use it. The operations of one thread run in its order;
 * between threads the caller orders. Closing it frees every tensor made on it.
 */
public interface Backend extends Operations, AutoCloseable {
  /** Its name among {@link Backends#names}, such as {@code vector} or {@code reference}. */
  String name();

  /** What it runs on. */
  BackendInfo info();

  /** A new scope. */
  Scope scope();

  /**
   * Whether an operation takes a format and scaling; {@link Op} says of which operand. The answer
   * for every combination is the published support table.
   */
  boolean supports(Op op, DType dtype, Scaling scaling);

  /** Waits for all work given so far; where a device's pending error surfaces. */
  void synchronize();

  @Override
  void close();
}
