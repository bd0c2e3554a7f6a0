package dev.minifloat.cuda.sim.trace;

/**
 * A barrier in a block's shared memory.
 *
 * @param offset of its 8 bytes
 * @param phase the number of the phase that goes on, from 0; its parity is what waits name
 * @param expected how many arrivals complete a phase
 * @param missing of these, how many haven't come in this phase
 * @param bytes of copies that it waits for besides
 */
public record TracedMbarrier(int offset, long phase, int expected, int missing, int bytes) {}
