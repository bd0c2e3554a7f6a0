package dev.minifloat.cpu.internal.dot;

import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Species;
import java.lang.foreign.MemorySegment;

/**
 * A dot product straight from memory, of two operands without scales and gaps whose formats the
 * implementation knows.
 *
 * <p>What all of them heed: the body of a loop is written out, since the compiler inlines no method
 * of ours once the operations before it have grown to a few thousand bytecodes, and then every
 * vector goes to the heap; indices are ints, since a loop over longs checks its bounds on each call
 * anew; the rest that fills no step comes before the loop, since whatever is needed behind it takes
 * registers, and addresses that move between kinds of registers in the loop halve its speed; sums
 * of lanes are added in one order.
 */
interface DotFused {
  /**
   * Elements that one call takes at most of any kernel: byte offsets of F32 and sums of I8 fit an
   * int.
   */
  int MOST = 1 << 16;

  /**
   * Elements that a brief call takes at most: 64 steps of four vectors of F32. The loop of a kernel
   * for brief calls works on slices of its operands, and so starts at once ({@link
   * Segments#slice}).
   *
   * <p>A call of many more steps spends its first times in the loop, which then is compiled before
   * the method is; what stands before the loop the compiler takes for seldom executed, inlines
   * nothing there, and slices are garbage. Beyond 68 steps that was seen. So longer operands are
   * cut in pieces of this size, or go to a copy of the kernel that takes them where they lie.
   */
  int BRIEF = 64 * 4 * Species.LANES;

  /** Elements that one call takes at most, {@link #BRIEF} or {@link #MOST}. */
  default int most() {
    return MOST;
  }

  /**
   * The sum of {@code n} products, {@code n} at most {@link #most}.
   *
   * @param aFrom byte offset of the first element
   * @param bFrom likewise
   * @param pool buffers for those that need some
   */
  float dot(MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n, DotScratch.Pool pool);

  /** The same with its operands exchanged. */
  default DotFused turned() {
    return (a, aFrom, b, bFrom, n, pool) -> dot(b, bFrom, a, aFrom, n, pool);
  }
}
