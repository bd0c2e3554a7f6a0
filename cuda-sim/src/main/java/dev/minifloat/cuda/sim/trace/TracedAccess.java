package dev.minifloat.cuda.sim.trace;

import java.util.List;

/**
 * The memory that an instruction accesses.
 *
 * @param space {@code global}, {@code shared}, {@code local}, {@code const}, {@code param}
 * @param bytes of each lane
 * @param lanes the lanes that access it: those whose guard holds
 * @param addresses of all 32 lanes, those of others being of no meaning; shared ones are offsets
 */
public record TracedAccess(String space, int bytes, int lanes, List<Long> addresses) {
  /** Copies the list. */
  public TracedAccess {
    addresses = List.copyOf(addresses);
  }
}
