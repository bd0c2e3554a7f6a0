package dev.minifloat.cuda.sim.trace;

import java.util.List;

/** A block that runs. */
public interface TracedBlock {
  /** Its launch. */
  TracedLaunch launch();

  /** Its place in the grid. */
  Place place();

  /** Its warps, in their order; those that have exited too. */
  List<TracedWarp> warps();

  /** The barriers at which some warp has arrived. */
  List<TracedBarrier> barriers();

  /** The barriers in its shared memory, by their offsets. */
  List<TracedMbarrier> mbarriers();

  /**
   * Bytes of its shared memory.
   *
   * @param offset of the first
   * @param length how many; fewer are returned where the memory ends
   */
  byte[] shared(int offset, int length);

  /** Whether somebody wrote a byte of its shared memory. */
  boolean isWritten(int offset);
}
