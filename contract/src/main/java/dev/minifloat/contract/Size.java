package dev.minifloat.contract;

/** How much a run of the contract covers. */
public enum Size {
  /** Every area at every format, on few shapes: some 20 seconds on two cores. */
  QUICK,
  /** All pairs of formats and scalings and more shapes: minutes. */
  FULL
}
