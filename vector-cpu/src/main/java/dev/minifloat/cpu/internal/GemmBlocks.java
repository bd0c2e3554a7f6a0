package dev.minifloat.cpu.internal;

/**
 * How a product is cut, from its shape alone, so that results don't depend on the number of
 * threads.
 *
 * <p>The outer blocks bound the packed panels: {@code outerRows} × {@code outerDepth} of A and
 * {@code outerDepth} × {@code outerColumns} of B, {@value #PANEL_FLOATS} floats each or so. Inside,
 * a task computes {@code taskRows} × {@code taskColumns} sums, which stay in the second-level cache
 * while K advances by {@link Packing#DEPTH}; a panel of B of that depth stays in the first-level
 * cache.
 *
 * @param outerRows rows of A packed at a time, a multiple of {@link GemmTile#ROWS}
 * @param outerColumns columns of B packed at a time, a multiple of {@link GemmTile#COLUMNS}
 * @param outerDepth steps of K packed at a time
 * @param outerMatrices matrices packed at a time; 1 unless a whole matrix is packed at a time
 * @param taskRows rows of a task, a multiple of {@link GemmTile#ROWS}
 * @param taskColumns columns of a task, a multiple of {@link GemmTile#COLUMNS}
 */
record GemmBlocks(
    int outerRows,
    int outerColumns,
    int outerDepth,
    int outerMatrices,
    int taskRows,
    int taskColumns) {

  /** Floats of packed A, and of packed B, that are held at a time (16 MiB). */
  private static final int PANEL_FLOATS = 1 << 22;

  private static final int LEAST_OUTER = 1024;
  private static final int MOST_DEPTH = 4096;
  private static final int TASK_ROWS = 96;
  private static final int TASK_COLUMNS = 256;

  /** With fewer tasks than this, threads would wait for each other. */
  private static final int ENOUGH_TASKS = 16;

  /** The blocks of a stack of products. */
  static GemmBlocks of(long matrices, long m, long n, long k) {
    int depth = (int) Math.min(k, MOST_DEPTH);
    int most = Math.max(LEAST_OUTER, PANEL_FLOATS / Math.max(1, depth));
    int rows = roundUp(Math.min(m, most), GemmTile.ROWS);
    int columns = roundUp(Math.min(n, most), GemmTile.COLUMNS);
    int stack = 1;
    if (rows >= m && columns >= n && depth == k) {
      int largest = Math.max(rows, columns) * Math.max(1, depth);
      stack = (int) Math.clamp((long) PANEL_FLOATS / largest, 1, matrices);
    }
    int taskRows = roundUp(Math.ceilDiv(rows, Math.ceilDiv(rows, TASK_ROWS)), GemmTile.ROWS);
    int taskColumns = roundUp(TASK_COLUMNS, GemmTile.COLUMNS);
    while (taskColumns > 2 * GemmTile.COLUMNS
        && (long) stack * Math.ceilDiv(rows, taskRows) * Math.ceilDiv(columns, taskColumns)
            < ENOUGH_TASKS) {
      taskColumns = roundUp(taskColumns / 2, GemmTile.COLUMNS);
    }
    return new GemmBlocks(rows, columns, depth, stack, taskRows, Math.min(columns, taskColumns));
  }

  private static int roundUp(long value, int multiple) {
    return (int) (Math.ceilDiv(value, multiple) * multiple);
  }
}
