package dev.minifloat.cuda.sim.trace;

/**
 * A register.
 *
 * @param name as the PTX has it
 * @param type its declared type, as {@code .f32} or {@code .pred}
 * @param bits how wide it is; 1 for a predicate
 * @param index its number among the function's predicates, or among its other registers
 */
public record TracedRegister(String name, String type, int bits, int index) {
  /** Whether it is a predicate. */
  public boolean isPredicate() {
    return bits == 1;
  }
}
