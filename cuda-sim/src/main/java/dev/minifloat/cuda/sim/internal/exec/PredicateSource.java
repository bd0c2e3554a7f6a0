package dev.minifloat.cuda.sim.internal.exec;

/**
 * A predicate as an operand.
 *
 * @param index its number; negative for a constant
 * @param negated whether its opposite is meant; for a constant, whether it is false
 */
record PredicateSource(int index, boolean negated) {
  /** The lanes for which it holds. */
  int lanes(Frame frame) {
    int mask = index < 0 ? -1 : frame.predicates[index];
    return negated ? ~mask : mask;
  }
}
