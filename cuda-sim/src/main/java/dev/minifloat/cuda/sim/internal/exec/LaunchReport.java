package dev.minifloat.cuda.sim.internal.exec;

/**
 * What a launch leaves besides the memory it wrote.
 *
 * @param kernel its entry
 * @param grid its blocks
 * @param block threads of a block
 * @param sharedBytes shared memory of a block, static and dynamic
 * @param counters what it did
 * @param output what its threads printed, in the order they ran
 */
public record LaunchReport(
    String kernel, Dim3 grid, Dim3 block, int sharedBytes, Counters counters, String output) {}
