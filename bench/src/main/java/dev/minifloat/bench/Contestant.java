package dev.minifloat.bench;

/** Someone who does a workload, with everything prepared that isn't to be timed. */
public interface Contestant extends AutoCloseable {
  /** What the table calls it. */
  String name();

  /** Does the work once. */
  void run();

  /**
   * What the last {@link #run} computed: the whole output as F32 values, row-major (of quantized
   * output the values it decodes to; of embeddings the normalized vectors, one after the other).
   */
  float[] result();

  /**
   * Whether the output follows from the inputs as this workload's formats hold them, within the
   * bounds of our numerics; false for one that computes with other formats, say by quantizing its
   * activations.
   */
  default boolean isExact() {
    return true;
  }

  /**
   * The largest relative error allowed to one that is not {@link #isExact}: of the output as a
   * whole, ‖result − exact‖ / ‖exact‖, where exact is the result of the F32 inputs.
   */
  default double tolerance() {
    return 0;
  }

  /** Whether machine code does the work that no just-in-time compiler has to make first. */
  default boolean isNative() {
    return false;
  }

  /** Frees what was prepared. */
  @Override
  void close();
}
