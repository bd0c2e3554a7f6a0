package dev.minifloat.cpu.internal.runtime;

import dev.minifloat.codec.PackedElements;
import java.lang.foreign.MemorySegment;

/**
 * Fetches memory before a kernel streams through it.
 *
 * <p>A processor's prefetchers follow a stream within a page of 4 KiB and begin anew in the next
 * one, waiting for memory a few times before they run ahead. Several streams at once, some pages
 * apart, overlap those waits: one thread then reads up to twice as fast as along a single stream.
 */
public final class Pages {
  /** Bytes of a line of the caches, the least that is fetched. */
  public static final int LINE = 64;

  /** Streams that are read at once. */
  public static final int STREAMS = 8;

  private Pages() {}

  /**
   * Touches {@code bytes} bytes at {@code from}, but for what is left of whole lines in all
   * streams. What it returns means nothing, but must be used, or the compiler leaves out the reads.
   */
  public static int touch(MemorySegment segment, long from, long bytes) {
    MemorySegment s = Segments.exact(segment);
    long apart = apart(bytes);
    int lines = (int) (apart / LINE);
    int touched = 0;
    for (int line = 0; line < lines; line++) {
      long at = from + (long) line * LINE;
      touched |= s.get(PackedElements.INT, at) | s.get(PackedElements.INT, at + apart);
      touched |=
          s.get(PackedElements.INT, at + 2 * apart) | s.get(PackedElements.INT, at + 3 * apart);
      touched |=
          s.get(PackedElements.INT, at + 4 * apart) | s.get(PackedElements.INT, at + 5 * apart);
      touched |=
          s.get(PackedElements.INT, at + 6 * apart) | s.get(PackedElements.INT, at + 7 * apart);
    }
    return touched;
  }

  /** Bytes from one stream to the next where all of them cover so many bytes. */
  static long apart(long bytes) {
    return bytes / STREAMS & -LINE;
  }

  /** Uses the result of a touch: it goes to scratch memory, where it is overwritten. */
  public static void keep(MemorySegment scratch, int touched) {
    scratch.set(PackedElements.INT, 0, touched);
  }
}
