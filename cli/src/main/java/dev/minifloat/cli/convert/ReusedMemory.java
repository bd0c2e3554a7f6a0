package dev.minifloat.cli.convert;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * An arena that starts again from its beginning whenever it is closed, so that a chunk's buffers
 * cost neither allocation nor page faults. What it hands out is not zeroed, and is valid until the
 * next {@link #close}; the memory itself is the underlying arena's.
 */
final class ReusedMemory implements Arena {
  private static final long ALIGNMENT = 64;

  private final Arena arena;
  private MemorySegment block = MemorySegment.NULL;
  private long used;

  ReusedMemory(Arena arena) {
    this.arena = arena;
  }

  @Override
  public MemorySegment allocate(long byteSize, long byteAlignment) {
    long start = Math.ceilDiv(used, ALIGNMENT) * ALIGNMENT;
    if (byteAlignment > ALIGNMENT || start + byteSize > block.byteSize()) {
      // Grown by need, during the first chunks; what was handed out before stays valid.
      block = arena.allocate(Math.max(2 * block.byteSize(), byteSize + ALIGNMENT), ALIGNMENT);
      start = 0;
    }
    used = start + byteSize;
    return block.asSlice(start, byteSize);
  }

  @Override
  public MemorySegment.Scope scope() {
    return arena.scope();
  }

  @Override
  public void close() {
    used = 0;
  }
}
