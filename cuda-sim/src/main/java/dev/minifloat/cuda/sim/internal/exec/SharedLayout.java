package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.SharedMemory;
import dev.minifloat.cuda.sim.internal.ptx.Variable;
import java.util.IdentityHashMap;

/**
 * Where a kernel's shared variables lie: static ones in order of declaration, dynamic ones all at
 * the same place after them, and behind a gap what is reserved for the system.
 */
final class SharedLayout {
  private final IdentityHashMap<Variable, Integer> offsets = new IdentityHashMap<>();
  private final int staticBytes;
  private final int dynamicStart;
  private final boolean usesReserved;

  /**
   * Places variables.
   *
   * @param usesReserved whether the kernel asks for the system's part
   */
  SharedLayout(Iterable<Variable> variables, boolean usesReserved) {
    this.usesReserved = usesReserved;
    long at = 0;
    // The dynamic part starts at 16 bytes at least, as on devices.
    int dynamicAlign = 16;
    for (Variable variable : variables) {
      if (variable.isDynamic()) {
        dynamicAlign = Math.max(dynamicAlign, variable.align());
      } else {
        at = alignUp(at, variable.align());
        offsets.put(variable, Math.toIntExact(at));
        at += variable.bytes();
      }
    }
    staticBytes = Math.toIntExact(at);
    dynamicStart = Math.toIntExact(alignUp(at, dynamicAlign));
    for (Variable variable : variables) {
      if (variable.isDynamic()) {
        offsets.put(variable, dynamicStart);
      }
    }
  }

  /**
   * Where the system's part begins: so far behind all else that what strays over the end doesn't
   * meet it. {@link SharedMemory#NONE} for a kernel that doesn't ask for it.
   *
   * @param bytes of static and dynamic variables
   */
  int reservedStart(int bytes) {
    int gap = SharedMemory.RESERVED;
    return usesReserved ? Math.toIntExact(alignUp(bytes, gap)) + gap : SharedMemory.NONE;
  }

  private static long alignUp(long at, int align) {
    return (at + align - 1) / align * align;
  }

  int offset(Variable variable) {
    return offsets.get(variable);
  }

  int staticBytes() {
    return staticBytes;
  }

  int dynamicStart() {
    return dynamicStart;
  }
}
