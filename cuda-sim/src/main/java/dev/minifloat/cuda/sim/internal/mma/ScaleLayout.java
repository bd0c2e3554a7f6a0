package dev.minifloat.cuda.sim.internal.mma;

/**
 * Where the scales of {@code mma.sync} with {@code .block_scale} stand (PTX ISA, "Block Scaling for
 * mma.sync"). A lane's register holds the scales of one row of A, or of one column of B, a byte for
 * each block of K; of the four lanes of a quad the thread's number says which:
 *
 * <pre>
 *   lane % 4          0      1      2      3
 *   A, thread 0     row g  g + 8                      g = lane / 4
 *      thread 1                   row g  g + 8
 *   B, thread t     column g, in lane t of the quad
 *
 *   bits      31      24 23      16 15       8 7        0
 *             | byte 3  | byte 2  | byte 1  | byte 0  |
 *   1X        the byte that is named
 *   2X        the two from the named one on, 0 or 2: blocks 0 and 1
 *   4X        all four
 * </pre>
 */
public final class ScaleLayout {
  /** How many threads of a quad can hold the scales of A, two lanes each. */
  public static final int THREADS_OF_A = 2;

  /** How many threads of a quad can hold the scales of B. */
  public static final int THREADS_OF_B = 4;

  private ScaleLayout() {}

  public static int laneOfA(int row, int thread) {
    return 4 * (row & 7) + 2 * thread + (row >>> 3);
  }

  public static int laneOfB(int column, int thread) {
    return 4 * column + thread;
  }

  /** Whether scales may begin with a byte: they lie aligned within 32 bits. */
  public static boolean mayBegin(int at, int blocks) {
    return at >= 0 && at + blocks <= 4 && at % blocks == 0;
  }
}
