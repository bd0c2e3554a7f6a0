package dev.minifloat.cpu.internal;

/**
 * How work is cut: into tasks, which threads share, and those into runs, which stay in the first
 * cache. Both are sizes, never shares of a number of threads.
 */
final class Work {
  /** Elements of a task; a multiple of 64, so that no two tasks write to one cache line. */
  static final int TASK = 1 << 15;

  /** Elements of a run. */
  static final int RUN = 1 << 12;

  private Work() {}

  /** Number of tasks for so many elements. */
  static int tasks(long elements) {
    return count(elements, TASK);
  }

  /** Number of parts of at most {@code size}. */
  static int count(long total, long size) {
    return toInt("operand", Math.ceilDiv(total, size), "tasks");
  }

  /**
   * An extent, or a number of tasks, as an int.
   *
   * @param argument whose it is
   * @param unit what is counted
   * @throws IllegalArgumentException if it is more than an int holds
   */
  static int toInt(String argument, long count, String unit) {
    if (count > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "%s: %d %s, but this backend takes at most %d"
              .formatted(argument, count, unit, Integer.MAX_VALUE));
    }
    return (int) count;
  }

  /** Rows of a task, so that it has about {@link #TASK} elements. */
  static int rowsOfTask(long columns) {
    return (int) Math.max(1, TASK / Math.max(1, columns));
  }
}
