package dev.minifloat.cpu.internal.runtime;

/**
 * How work is cut: into tasks, which threads share, and those into runs, which stay in the first
 * cache. Both are sizes, never shares of a number of threads.
 */
public final class Work {
  /** Elements of a task; a multiple of 64, so that no two tasks write to one cache line. */
  public static final int TASK = 1 << 15;

  /** Elements of a run. */
  public static final int RUN = 1 << 12;

  private Work() {}

  /** How many pieces of {@link #TASK} elements a task has at most; see {@link #piecesOfTask}. */
  private static final int PIECES = 16;

  /** Number of tasks for so many elements. */
  public static int tasks(long elements) {
    return count(elements, TASK);
  }

  /**
   * Pieces that one task takes, one after the other, so that it can read ahead of each but the
   * first: fewer than 64 pieces are a task each, and never so many that threads would wait for the
   * last task.
   */
  public static int piecesOfTask(int pieces) {
    return Math.clamp(pieces / 32, 1, PIECES);
  }

  /** Number of parts of at most {@code size}. */
  public static int count(long total, long size) {
    return toInt("operand", Math.ceilDiv(total, size), "tasks");
  }

  /**
   * An extent, or a number of tasks, as an int.
   *
   * @param argument whose it is
   * @param unit what is counted
   * @throws IllegalArgumentException if it is more than an int holds
   */
  public static int toInt(String argument, long count, String unit) {
    if (count > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "%s: %d %s, but this backend takes at most %d"
              .formatted(argument, count, unit, Integer.MAX_VALUE));
    }
    return (int) count;
  }

  /** Rows of a task, so that it has about {@link #TASK} elements. */
  public static int rowsOfTask(long columns) {
    return (int) Math.max(1, TASK / Math.max(1, columns));
  }
}
