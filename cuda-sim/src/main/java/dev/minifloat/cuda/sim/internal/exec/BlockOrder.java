package dev.minifloat.cuda.sim.internal.exec;

import java.util.SplittableRandom;

/**
 * The order in which a grid's blocks begin: a permutation that needs no memory, i ↦ (a·i + b) mod n
 * with a random a that has no divisor in common with n.
 */
final class BlockOrder {
  /** Larger grids begin in their natural order, so that products fit into 64 bits. */
  private static final long LARGEST_SHUFFLED = 1L << 31;

  private final long count;
  private final long step;
  private final long start;

  BlockOrder(long count, SplittableRandom random) {
    this.count = count;
    if (count > LARGEST_SHUFFLED) {
      start = 0;
      step = 1;
      return;
    }
    this.start = random.nextLong(count);
    long candidate = count == 1 ? 1 : 1 + random.nextLong(count - 1);
    while (greatestCommonDivisor(candidate, count) != 1) {
      candidate++;
    }
    this.step = candidate;
  }

  private static long greatestCommonDivisor(long a, long b) {
    return b == 0 ? a : greatestCommonDivisor(b, a % b);
  }

  /** The block that begins i-th. */
  long block(long i) {
    return (step * i % count + start) % count;
  }
}
