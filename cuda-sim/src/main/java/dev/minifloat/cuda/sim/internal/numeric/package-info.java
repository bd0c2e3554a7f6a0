/**
 * Floating point as PTX defines it: every format, every rounding, exact. It shares nothing with the
 * library's codec, so that the two can witness against each other.
 */
package dev.minifloat.cuda.sim.internal.numeric;
