package dev.minifloat.bench.peers;

import dev.minifloat.bench.Values;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** F32 matrices in native memory, 64-byte aligned. */
final class NativeFloats {
  static final long ALIGNMENT = 64;

  private NativeFloats() {}

  /** All rows of a matrix, row-major. */
  static MemorySegment of(Values values, Arena arena) {
    float[] distinct = values.distinct();
    MemorySegment segment = allocate((long) values.rows() * values.columns(), arena);
    MemorySegment period = segment.asSlice(0, 4L * distinct.length);
    MemorySegment.copy(distinct, 0, period, ValueLayout.JAVA_FLOAT, 0, distinct.length);
    repeat(segment, period.byteSize());
    return segment;
  }

  /** Room for {@code elements} values. */
  static MemorySegment allocate(long elements, Arena arena) {
    return arena.allocate(4 * elements, ALIGNMENT);
  }

  /** Repeats the first {@code bytes} bytes of a segment to its end, doubling what is there. */
  static void repeat(MemorySegment segment, long bytes) {
    for (long done = bytes; done < segment.byteSize(); ) {
      long more = Math.min(done, segment.byteSize() - done);
      MemorySegment.copy(segment, 0, segment, done, more);
      done += more;
    }
  }
}
