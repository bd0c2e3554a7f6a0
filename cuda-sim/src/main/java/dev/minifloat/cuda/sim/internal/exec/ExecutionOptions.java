package dev.minifloat.cuda.sim.internal.exec;

import java.util.Objects;

/**
 * How launches run.
 *
 * @param architecture the simulated device's, as 80 or 89
 * @param arithmetic how matrix instructions add
 * @param seed decides the order of blocks and warps
 * @param detectRaces whether races in shared memory are faults
 * @param checkInitialized whether reads of memory that nobody wrote are faults
 * @param maxInstructions warp instructions after which a launch is stopped; it may never end
 * @param sharedBytes shared memory that a block can have
 * @param multiprocessors how many the device says it has
 */
public record ExecutionOptions(
    int architecture,
    MmaArithmetic arithmetic,
    long seed,
    boolean detectRaces,
    boolean checkInitialized,
    long maxInstructions,
    int sharedBytes,
    int multiprocessors) {
  public ExecutionOptions {
    Objects.requireNonNull(arithmetic, "arithmetic");
    if (maxInstructions <= 0) {
      throw new IllegalArgumentException("maxInstructions is " + maxInstructions);
    }
  }

  /** Every check on, exact sums, no practical limit, for an architecture such as 80. */
  public static ExecutionOptions of(int architecture) {
    return new ExecutionOptions(
        architecture, MmaArithmetic.EXACT, 0, true, true, 1L << 40, 227 << 10, 16);
  }

  public ExecutionOptions withArithmetic(MmaArithmetic value) {
    return new ExecutionOptions(
        architecture,
        value,
        seed,
        detectRaces,
        checkInitialized,
        maxInstructions,
        sharedBytes,
        multiprocessors);
  }

  public ExecutionOptions withSeed(long value) {
    return new ExecutionOptions(
        architecture,
        arithmetic,
        value,
        detectRaces,
        checkInitialized,
        maxInstructions,
        sharedBytes,
        multiprocessors);
  }

  public ExecutionOptions withRaceDetection(boolean value) {
    return new ExecutionOptions(
        architecture,
        arithmetic,
        seed,
        value,
        checkInitialized,
        maxInstructions,
        sharedBytes,
        multiprocessors);
  }

  public ExecutionOptions withInitializedCheck(boolean value) {
    return new ExecutionOptions(
        architecture,
        arithmetic,
        seed,
        detectRaces,
        value,
        maxInstructions,
        sharedBytes,
        multiprocessors);
  }

  public ExecutionOptions withMaxInstructions(long value) {
    return new ExecutionOptions(
        architecture,
        arithmetic,
        seed,
        detectRaces,
        checkInitialized,
        value,
        sharedBytes,
        multiprocessors);
  }
}
