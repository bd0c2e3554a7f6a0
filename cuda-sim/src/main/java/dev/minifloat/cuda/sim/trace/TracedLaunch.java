package dev.minifloat.cuda.sim.trace;

import java.util.Map;

/** A launch: a kernel, its grid, and what it has done so far. */
public interface TracedLaunch {
  /** The kernel's name. */
  String kernel();

  /** The PTX line of the kernel's name. */
  int line();

  /** Blocks of the grid along each dimension. */
  Place grid();

  /** Threads of a block along each dimension. */
  Place block();

  /** Bytes of shared memory that a block has. */
  int sharedBytes();

  /** Warp instructions that have run. */
  long instructions();

  /** Warp instructions that have run, by the names of their classes. */
  Map<String, Long> byClass();

  /** Further passes over shared memory because words of one bank were wanted at once. */
  long bankConflicts();
}
