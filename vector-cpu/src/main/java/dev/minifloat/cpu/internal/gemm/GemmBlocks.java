package dev.minifloat.cpu.internal.gemm;

/**
 * How a product is cut.
 *
 * <p>A task computes {@code rows} × {@code columns} sums. It has a strip of packed B, as a rule one
 * block of {@code step} × {@code columns}, in the second-level cache, and goes through it once for
 * each panel of A, which comes from a cache further away as one stream. Sums stay in registers for
 * a whole block, so deep blocks are worth more than wide strips, and more than blocks that would
 * fit into the first-level cache. The more rows, the less it matters that the strip was packed; but
 * twice as many were slower by a third in a product of 2048, for the number of their pages as it
 * seems. Sums are chains of FMAs with K ascending however they are cut, so that the cut may depend
 * on the number of threads.
 */
final class GemmBlocks {
  /** Floats of a strip of B (512 KiB), beside which panels of A pass through the cache. */
  static final int STRIP_FLOATS = 128 << 10;

  /** Steps of K that strips shall have room for: their sums need not wait in a far cache. */
  private static final int STRIP_DEPTH = 2048;

  private static final int MOST_COLUMNS = 512;
  private static final int MOST_ROWS = 1092;

  /** Rows and columns below which packing twice costs more than a thread gains. */
  private static final int LEAST_ROWS = 96;

  private static final int LEAST_COLUMNS = 64;

  /** Tasks of each thread above which it does not matter that they end at different times. */
  private static final int ENOUGH_TASKS = 8;

  private int step;
  private int rows;
  private int columns;

  /** Steps of K of a block, a multiple of {@link Packing#ROUND}. */
  int step() {
    return step;
  }

  /** Rows of a task, a multiple of {@link GemmTile#ROWS}. */
  int rows() {
    return rows;
  }

  /** Columns of a task, a multiple of {@link GemmTile#COLUMNS}. */
  int columns() {
    return columns;
  }

  /** Steps of K in a block: as even parts of K as there must be. */
  static int stepOf(long k) {
    if (k <= Packing.DEPTH) {
      return Packing.rounded((int) k);
    }
    return Packing.rounded((int) Math.ceilDiv(k, Math.ceilDiv(k, Packing.DEPTH)));
  }

  /** Cuts a stack of products for a number of threads. */
  void cut(long matrices, long m, long n, long k, int threads) {
    step = stepOf(k);
    int widest =
        Math.min(MOST_COLUMNS, STRIP_FLOATS / Packing.rounded((int) Math.min(k, STRIP_DEPTH)));
    widest -= widest % GemmTile.COLUMNS;
    long down = Math.ceilDiv(m, MOST_ROWS);
    long across = Math.ceilDiv(n, widest);
    while (threads > 1
        && matrices * down * across % threads != 0
        && matrices * down * across < (long) ENOUGH_TASKS * threads) {
      boolean rowsLeft = m / (down + 1) >= LEAST_ROWS;
      boolean columnsLeft = n / (across + 1) >= LEAST_COLUMNS;
      // Rows first: as long as there is one strip, a panel of A is packed for one task only.
      if (rowsLeft && (across == 1 || !columnsLeft || m > n)) {
        down++;
      } else if (columnsLeft) {
        across++;
      } else {
        break;
      }
    }
    rows = roundUp(Math.ceilDiv(m, down), GemmTile.ROWS);
    columns = roundUp(Math.ceilDiv(n, across), GemmTile.COLUMNS);
  }

  private static int roundUp(long value, int multiple) {
    return (int) (Math.ceilDiv(value, multiple) * multiple);
  }
}
