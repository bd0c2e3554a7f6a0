package dev.minifloat.cuda.sim.trace;

import java.util.List;

/**
 * One of a block's barriers.
 *
 * @param id its number
 * @param arrived warps that have arrived
 * @param threads how many have to arrive; 0 for all that have not exited
 */
public record TracedBarrier(int id, List<Integer> arrived, int threads) {
  /** Copies the list. */
  public TracedBarrier {
    arrived = List.copyOf(arrived);
  }
}
