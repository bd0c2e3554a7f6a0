package dev.minifloat.formats;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/** Reads a memory segment in order, of any size; skipping costs nothing. */
final class SegmentInputStream extends InputStream {
  private final MemorySegment segment;
  private long position;

  SegmentInputStream(MemorySegment segment) {
    this.segment = segment;
  }

  @Override
  public int read() {
    return position == segment.byteSize()
        ? -1
        : segment.get(ValueLayout.JAVA_BYTE, position++) & 0xFF;
  }

  @Override
  public int read(byte[] target, int from, int length) {
    Objects.checkFromIndexSize(from, length, target.length);
    if (length == 0) {
      return 0;
    }
    int count = (int) Math.min(length, segment.byteSize() - position);
    if (count == 0) {
      return -1;
    }
    MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, position, target, from, count);
    position += count;
    return count;
  }

  @Override
  public long skip(long count) {
    long skipped = Math.clamp(count, 0, segment.byteSize() - position);
    position += skipped;
    return skipped;
  }

  @Override
  public int available() {
    return (int) Math.min(Integer.MAX_VALUE, segment.byteSize() - position);
  }
}
