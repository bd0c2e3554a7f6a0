package dev.minifloat.cpu.internal.runtime;

/**
 * F32s that a kernel touches while it computes others, so that they are in the second cache when
 * their turn comes: waiting for memory and arithmetic overlap, which they don't where one step
 * follows the other.
 *
 * <p>A kernel touches a line for every {@link Pages#LINE} bytes of F32s that it takes, in {@link
 * Pages#STREAMS} streams {@link #apart} bytes apart, in turn:
 *
 * <pre>
 *   element i:  at + (i / 16 mod 8) · apart + i / 128 · 64
 * </pre>
 *
 * in the segment of its own F32s, and then calls {@link #advance}. It does so without a condition:
 * with nothing to read ahead it touches the line where its own elements begin.
 */
public final class ReadAhead {
  private static final int TURN = Pages.STREAMS * Pages.LINE / Float.BYTES;

  private long at;

  /** Elements of a turn through all streams that is not at its end. */
  private int rest;

  private long apart;
  private int seen;

  /** Begins with {@code bytes} bytes at {@code from}, for kernels that take as many in all. */
  public void open(long from, long bytes) {
    at = from;
    rest = 0;
    apart = Pages.apart(bytes);
  }

  /** The byte offset of the next line in the first stream. */
  public long at() {
    return at;
  }

  /** Bytes from one stream to the next. */
  public long apart() {
    return apart;
  }

  /**
   * Goes on by {@code elements} F32s.
   *
   * @param touched what was read; kept, or the compiler would leave out the reads
   */
  public void advance(int elements, int touched) {
    rest += elements;
    at += (long) (rest / TURN) * Pages.LINE;
    rest %= TURN;
    seen |= touched;
  }

  /** All that was read; of no use but to be there. */
  int seen() {
    return seen;
  }
}
