package dev.minifloat.cpu.internal.dot;

import dev.minifloat.cpu.internal.runtime.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The buffers of one dot product.
 *
 * @param floats native, {@link #CHUNK} floats for each operand, 64-byte aligned
 * @param sums a heap array of {@link #SUMS} floats: the compiler vectorises a loop that reads
 *     native memory and writes an array, not one that writes native memory, which it can't tell
 *     apart from what it reads
 */
@SuppressWarnings("ArrayRecordComponent") // never compared, hashed or printed
public record DotScratch(MemorySegment floats, float[] sums) {
  /** Elements decoded at a time: operands and what is kept beside them fit the first cache. */
  static final int CHUNK = 2048;

  /** Sums kept at a time, in a third of a first cache of 48 KiB. */
  static final int SUMS = 4096;

  /** Byte offset of the second operand's floats. */
  static final long SECOND = (long) CHUNK * Float.BYTES;

  @SuppressWarnings("MustBeClosedChecker") // freed with the record, by the garbage collector
  private static DotScratch create() {
    return new DotScratch(Arena.ofAuto().allocate(2 * SECOND, Memory.ALIGNMENT), new float[SUMS]);
  }

  /**
   * Free buffers. Threads whose numbers are alike share a slot; who finds it empty makes buffers,
   * and all but one of these are left to the garbage collector.
   */
  public static final class Pool {
    private static final int SLOTS = 16;

    /** Slots lie a cache line apart. */
    private static final int APART = 16;

    private final AtomicReferenceArray<DotScratch> free = new AtomicReferenceArray<>(SLOTS * APART);

    private static int slot() {
      return ((int) Thread.currentThread().threadId() & (SLOTS - 1)) * APART;
    }

    /** Buffers of any content, the caller's until it gives them back. */
    DotScratch take() {
      DotScratch scratch = free.getAndSet(slot(), null);
      return scratch == null ? create() : scratch;
    }

    /** Gives buffers back; not done when a kernel throws, so that no slot is filled twice. */
    void give(DotScratch scratch) {
      free.setRelease(slot(), scratch);
    }
  }
}
