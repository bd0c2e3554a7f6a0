package dev.minifloat.cuda.sim.internal.memory;

/** One bit for each byte of a piece of memory: whether somebody wrote it. */
final class InitializedBits {
  private final long[] words;

  InitializedBits(int bytes) {
    words = new long[(bytes + 63) >>> 6];
  }

  /** Whether all bytes of an aligned access of at most 16 bytes were written. */
  boolean allSet(int offset, int size) {
    long mask = ((1L << size) - 1) << offset;
    return (words[offset >>> 6] & mask) == mask;
  }

  /** Marks an aligned access of at most 16 bytes. */
  void set(int offset, int size) {
    words[offset >>> 6] |= ((1L << size) - 1) << offset;
  }

  boolean get(int offset) {
    return (words[offset >>> 6] >>> offset & 1) != 0;
  }

  void setRange(int offset, int length) {
    int at = offset;
    int end = offset + length;
    while (at < end) {
      if ((at & 63) == 0 && end - at >= 64) {
        words[at >>> 6] = -1;
        at += 64;
      } else {
        words[at >>> 6] |= 1L << at;
        at++;
      }
    }
  }

  /** Makes a range's bits those of another range; the two may overlap. */
  void copy(int offset, InitializedBits from, int fromOffset, int length) {
    boolean backward = from == this && fromOffset < offset;
    for (int i = 0; i < length; i++) {
      int at = backward ? length - 1 - i : i;
      long bit = 1L << (offset + at);
      if (from.get(fromOffset + at)) {
        words[(offset + at) >>> 6] |= bit;
      } else {
        words[(offset + at) >>> 6] &= ~bit;
      }
    }
  }

  /** The first byte of a range that nobody wrote; −1 if all were. */
  int firstUnset(int offset, int length) {
    for (int at = offset; at < offset + length; at++) {
      if ((at & 63) == 0 && offset + length - at >= 64 && words[at >>> 6] == -1) {
        at += 63;
      } else if (!get(at)) {
        return at;
      }
    }
    return -1;
  }
}
