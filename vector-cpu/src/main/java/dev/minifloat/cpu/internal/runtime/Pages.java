package dev.minifloat.cpu.internal.runtime;

import dev.minifloat.codec.PackedElements;
import java.lang.foreign.MemorySegment;

/**
 * Reads ahead of kernels that stream.
 *
 * <p>A processor's prefetchers follow a stream within a page of 4 KiB and begin anew in the next
 * one, waiting for memory a few times before they run ahead. Touching the first lines of all pages
 * of a task at once makes those waits overlap.
 */
public final class Pages {
  private static final long PAGE = 4096;
  private static final long LINE = 64;

  /** How many lines of a page set a prefetcher going. */
  private static final int LINES = 16;

  private Pages() {}

  /**
   * Touches the pages of {@code bytes} bytes at {@code from}. What it returns means nothing, but
   * must be used, or the compiler leaves out the reads.
   */
  public static int touch(MemorySegment segment, long from, long bytes) {
    MemorySegment s = Segments.exact(segment);
    int pages = (int) (bytes / PAGE);
    int touched = 0;
    for (int line = 0; line < LINES; line++) {
      for (int page = 0; page < pages; page++) {
        touched |= s.get(PackedElements.INT, from + line * LINE + page * PAGE);
      }
    }
    return touched;
  }

  /** Uses the result of a touch: it goes to scratch memory, where it is overwritten. */
  public static void keep(MemorySegment scratch, int touched) {
    scratch.set(PackedElements.INT, 0, touched);
  }
}
