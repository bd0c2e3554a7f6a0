package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.ptx.SpecialRegister;
import dev.minifloat.cuda.sim.internal.ptx.Variable;

/**
 * A value that a frame has in a register of its own from the start, so that instructions read
 * nothing but registers.
 */
sealed interface Constant {
  /** The same everywhere. */
  record Value(long bits) implements Constant {}

  /** What a launch sets for each thread. */
  record Special(SpecialRegister register) implements Constant {}

  /** The address of a variable in shared memory, which differs from kernel to kernel. */
  record Shared(Variable variable, long offset) implements Constant {}

  /** The address of a variable on the thread's stack. */
  record Local(int offset) implements Constant {}
}
