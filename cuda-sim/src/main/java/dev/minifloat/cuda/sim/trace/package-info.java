/**
 * Kernels seen while they run, instruction by instruction: a {@link Tracer} is told before each,
 * and looks at registers, fragments, shared memory and barriers. Nothing can be changed.
 */
package dev.minifloat.cuda.sim.trace;
