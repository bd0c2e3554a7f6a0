package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Bytes;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;

/** The stacks of a warp's lanes: every call takes its variables from the top of the lane's own. */
final class LocalMemory {
  /** A stack grows no larger: what a device gives a thread at most. */
  private static final int LARGEST = 512 << 10;

  private final byte[][] stacks = new byte[32][];

  /** How much of its stack each lane may touch: as far as calls have taken it. */
  private final int[] reach = new int[32];

  private final int initial;

  LocalMemory(int initial) {
    this.initial = initial;
  }

  /** Makes sure that a lane's stack reaches an end. */
  void reserve(int lane, int end) {
    if (end > LARGEST) {
      throw new DeviceFault(
          DeviceFault.Kind.STACK_OVERFLOW,
          "a thread's stack would take %d bytes; it may take %d".formatted(end, LARGEST));
    }
    byte[] stack = stacks[lane];
    reach[lane] = Math.max(reach[lane], Math.max(end, initial));
    if (stack == null) {
      stacks[lane] = new byte[reach[lane]];
    } else if (stack.length < end) {
      // By half of what there is, or each step of a deep recursion would copy the whole stack.
      int grown = Math.min(LARGEST, stack.length + stack.length / 2);
      stacks[lane] = java.util.Arrays.copyOf(stack, Math.max(end, grown));
    }
  }

  private byte[] check(int lane, long address, int bytes) {
    int length = Math.max(reach[lane], initial);
    if (address < 0 || address + bytes > length) {
      throw new DeviceFault(
          DeviceFault.Kind.OUT_OF_BOUNDS,
          "%d bytes at local address 0x%x don't lie within the thread's %d bytes"
              .formatted(bytes, address, length));
    }
    if ((address & (bytes - 1)) != 0) {
      throw new DeviceFault(
          DeviceFault.Kind.MISALIGNED,
          "local address 0x%x is no multiple of the access's %d bytes".formatted(address, bytes));
    }
    if (stacks[lane] == null) {
      reserve(lane, initial);
    }
    return stacks[lane];
  }

  /** Checks a whole access, of which parts are then loaded or stored. */
  void checkAccess(int lane, long address, int bytes) {
    check(lane, address, bytes);
  }

  long load(int lane, long address, int bytes) {
    return Bytes.get(check(lane, address, bytes), (int) address, bytes);
  }

  void store(int lane, long address, int bytes, long value) {
    Bytes.put(check(lane, address, bytes), (int) address, bytes, value);
  }
}
