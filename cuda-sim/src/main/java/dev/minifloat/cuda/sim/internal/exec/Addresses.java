package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;

/**
 * Where the state spaces lie among generic addresses. Global memory and constants have the same
 * addresses in their own space and generically; the others lie in windows.
 *
 * <pre>
 *   0x0100_0000_0000 + a   shared address a: bits 24–27 the block's rank in its cluster
 *   0x0200_0000_0000 + a   local address a of whoever asks
 *   0x0300_0000_0000 + a   parameter address a
 *   0x0400_0000_0000 + 16f function f of the module, which can only be called
 *   0x7f00_0000_0000 …     global memory
 * </pre>
 */
final class Addresses {
  static final long SHARED_WINDOW = 0x0100_0000_0000L;
  static final long LOCAL_WINDOW = 0x0200_0000_0000L;
  static final long PARAM_WINDOW = 0x0300_0000_0000L;
  private static final long FUNCTION_WINDOW = 0x0400_0000_0000L;
  static final long WINDOW_BYTES = 1L << 28;

  /** Parameter addresses from here on are the kernel's; below, the running function's own. */
  static final int KERNEL_PARAMETERS = 1 << 24;

  private static final int BLOCK_SHIFT = 24;

  private Addresses() {}

  /** The address of a module's n-th function of those that have one. */
  static long function(int number) {
    return FUNCTION_WINDOW + 16L * number;
  }

  /** The space of a generic address; global if it lies in no window. */
  static StateSpace space(long address) {
    if (inWindow(address, SHARED_WINDOW)) {
      return StateSpace.SHARED;
    }
    if (inWindow(address, LOCAL_WINDOW)) {
      return StateSpace.LOCAL;
    }
    if (inWindow(address, PARAM_WINDOW)) {
      return StateSpace.PARAM;
    }
    return StateSpace.GLOBAL;
  }

  /** A shared address, stated as such or generically. */
  static long shared(long address, StateSpace stated) {
    if (stated != StateSpace.GENERIC && address < SHARED_WINDOW) {
      return address;
    }
    if (space(address) != StateSpace.SHARED) {
      throw new DeviceFault(
          DeviceFault.Kind.OUT_OF_BOUNDS, "0x%x is no address in .shared".formatted(address));
    }
    return address - SHARED_WINDOW;
  }

  /** The rank of the block in whose shared memory an address lies. */
  static int rank(long shared) {
    return (int) (shared >>> BLOCK_SHIFT);
  }

  /** Where in its block's shared memory an address lies. */
  static long offset(long shared) {
    return shared & (1L << BLOCK_SHIFT) - 1;
  }

  /** The address in another block that has the same place as this one. */
  static long inBlock(int rank, long shared) {
    return (long) rank << BLOCK_SHIFT | offset(shared);
  }

  private static boolean inWindow(long address, long window) {
    return address >= window && address < window + WINDOW_BYTES;
  }

  /** What is added to an address in a space to make it generic. */
  static long window(StateSpace space) {
    return switch (space) {
      case SHARED, SHARED_CLUSTER -> SHARED_WINDOW;
      case LOCAL -> LOCAL_WINDOW;
      case PARAM -> PARAM_WINDOW;
      case GLOBAL, CONST, GENERIC -> 0;
    };
  }
}
