package dev.minifloat.cpu.internal;

import java.lang.foreign.MemorySegment;

/** A dot product straight from memory, of two operands of one format. */
interface DotFused {
  /**
   * The dot product of {@code steps · 4 · LANES} elements, none of which may be {@link
   * DotFormat#anySpecial special}.
   *
   * @param aFrom byte offset of the first element
   * @param bFrom likewise
   */
  float dot(MemorySegment a, long aFrom, MemorySegment b, long bFrom, int steps);
}
