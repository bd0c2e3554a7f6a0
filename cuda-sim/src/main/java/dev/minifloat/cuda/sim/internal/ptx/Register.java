package dev.minifloat.cuda.sim.internal.ptx;

/**
 * A declared register of a function.
 *
 * @param name as written
 * @param type its declared type
 * @param index its number among the function's predicates, or among its other registers
 */
public record Register(String name, PtxType type, int index) {
  public boolean isPredicate() {
    return type == PtxType.PRED;
  }
}
