package dev.minifloat.cpu.internal.gemm;

import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Workers;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;

/**
 * The matrix product for operands of any format: panels of both are packed to F32, tiles are
 * multiplied, and the {@link Epilogue} stores the rows of a panel while they are in the first-level
 * cache, a few after each tile of the next panel.
 *
 * <pre>
 *   for each group of matrices, for each outer block of rows:
 *     in parallel: pack panels of A, if several strips need them      {@link Packing#packA}
 *     in parallel: for each strip of columns and block of rows        {@link GemmBlocks}
 *       for each few blocks of K that a strip of B has room for:
 *         pack the strip, unless B is a {@link PackedOperand}         {@link Packing#packB}
 *         for each panel of A, for each block of K:
 *           pack the panel, if it has not been
 *           for each panel of the strip: one {@link GemmTile}
 *         after the last block of K of a panel: epilogue
 * </pre>
 *
 * <p>Each sum is a chain of FMAs with K ascending, so the error is within γ_K of the contract, and
 * neither the cut nor the threads change a bit. Sums that wait for the next block of K stay F32.
 *
 * <p>An object holds the state of one product at a time and is used for the next.
 */
public final class GemmKernel implements IntConsumer {
  /** Multiplications below which a hand-over to another thread costs more than it gains. */
  private static final double LEAST_PARALLEL = 1 << 18;

  /** Floats of packed A, and of waiting sums, that are held at a time (16 MiB). */
  private static final int HELD_FLOATS = 1 << 22;

  /** Steps of K that A is packed for at a time. */
  private static final int HELD_DEPTH = 4096;

  /** Tasks of one round. */
  private static final int MOST_TASKS = 1 << 16;

  /** Keeps rows of sums from falling on the same few sets of the first-level cache. */
  private static final int SKEW = 16;

  private final Workers workers;
  private final PackingBuffers buffers;
  private final GemmBlocks blocks = new GemmBlocks();

  private GemmOperand a;
  private GemmOperand b;
  private PackedOperand packed;
  private Epilogue epilogue;
  private boolean sameA;
  private boolean sameB;
  private boolean shared;
  private int pitch;
  private int pitchA;
  private int panelsOfStrip;

  /** The current round: whether it packs A, and its part of the product. */
  private boolean packing;

  private long matrix;
  private int count;
  private long row;
  private long rows;
  private long column;
  private long columns;
  private long step;
  private int steps;

  /** Panels of A [matrix, block of K, panel], and waiting sums [task, rows, columns]; or null. */
  private float[] panelsA;

  private float[] sums;

  /** A kernel to be used again and again. */
  public GemmKernel(Workers workers, PackingBuffers buffers) {
    this.workers = workers;
    this.buffers = buffers;
  }

  /**
   * Computes and stores a product.
   *
   * @param left [M, K], {@code matrices} of them; K at least 1
   * @param right transposed: [N, K], likewise
   * @param prepacked the packed form of {@code right}, or null
   */
  public void run(
      GemmOperand left,
      GemmOperand right,
      PackedOperand prepacked,
      long matrices,
      Epilogue target) {
    a = left;
    b = right;
    packed = prepacked;
    epilogue = target;
    sameA = left.isRepeated();
    sameB = right.isRepeated();
    try {
      multiply(matrices);
    } finally {
      a = null;
      b = null;
      packed = null;
      epilogue = null;
    }
  }

  private void multiply(long matrices) {
    long m = a.rows();
    long n = b.rows();
    long k = a.columns();
    boolean parallel = (double) matrices * m * n * k >= LEAST_PARALLEL;
    blocks.cut(matrices, m, n, k, parallel ? workers.threads() : 1);
    pitch = blocks.columns() + SKEW;
    panelsOfStrip = (int) Packing.panelsB(blocks.columns());
    // Where only columns are dense, one panel after another would read each of them again.
    shared = n > blocks.columns() || (a.hasDenseColumns() && !a.hasDenseRows());
    long held = shared ? Math.min(k, HELD_DEPTH / blocks.step() * (long) blocks.step()) : k;
    boolean waiting = held < k;
    pitchA = Packing.pitchA(blocks.step());
    long floatsOfRow = count(held, blocks.step()) * Math.ceilDiv(pitchA, GemmTile.ROWS);
    long outerRows = m;
    long outerColumns = n;
    if (shared) {
      outerRows =
          Math.min(m, Math.max(1, HELD_FLOATS / floatsOfRow / blocks.rows()) * blocks.rows());
    }
    if (waiting) {
      outerColumns =
          Math.min(n, Math.max(1, HELD_FLOATS / outerRows / blocks.columns()) * blocks.columns());
    }
    long tasks = count(outerRows, blocks.rows()) * count(outerColumns, blocks.columns());
    long stack = Math.min(matrices, Math.max(1, MOST_TASKS / tasks));
    if (shared) {
      stack = Math.max(1, Math.min(stack, HELD_FLOATS / (outerRows * floatsOfRow)));
    }
    steps = (int) count(held, blocks.step());
    int perMatrix = panels(outerRows) * pitchA * (shared ? steps : 0);
    panelsA = shared ? buffers.take((sameA ? 1 : (int) stack) * perMatrix) : null;
    sums = waiting ? buffers.take((int) (tasks * stack) * blocks.rows() * pitch) : null;
    for (matrix = 0; matrix < matrices; matrix += stack) {
      count = (int) Math.min(stack, matrices - matrix);
      for (column = 0; column < n; column += outerColumns) {
        columns = Math.min(outerColumns, n - column);
        for (row = 0; row < m; row += outerRows) {
          rows = Math.min(outerRows, m - row);
          for (step = 0; step < k; step += held) {
            steps = (int) count(Math.min(held, k - step), blocks.step());
            round(parallel);
          }
        }
      }
    }
    if (shared) {
      buffers.give(panelsA);
    }
    if (waiting) {
      buffers.give(sums);
    }
  }

  private static long count(long extent, int size) {
    return Math.ceilDiv(extent, size);
  }

  private static int panels(long rows) {
    return (int) Math.ceilDiv(rows, GemmTile.ROWS);
  }

  private void round(boolean parallel) {
    if (shared) {
      packing = true;
      tasks(parallel, (sameA ? 1 : count) * steps * groups());
    }
    packing = false;
    tasks(parallel, count * (int) (count(rows, blocks.rows()) * strips()));
  }

  private void tasks(boolean parallel, int tasks) {
    if (parallel) {
      workers.run(tasks, this);
    } else {
      for (int task = 0; task < tasks; task++) {
        accept(task);
      }
    }
  }

  private int groups() {
    return Math.ceilDiv(panels(rows), Packing.GROUP);
  }

  private int strips() {
    return (int) count(columns, blocks.columns());
  }

  @Override
  public void accept(int task) {
    try (Memory.Block scratch = buffers.takeRows()) {
      if (packing) {
        pack(task, scratch.segment());
      } else if (packed != null) {
        multiply(task, packed.segment(), scratch.segment());
      } else {
        long bytes = 4L * floatsOfStripBlock() * Math.min(steps, blocksOfStrip());
        try (Memory.Block strip = buffers.takeBytes(bytes)) {
          multiply(task, strip.segment(), scratch.segment());
        }
      }
    }
  }

  /** Steps of K of a block of this round. */
  private int depth(int block) {
    return (int) Math.min(blocks.step(), a.columns() - step - (long) block * blocks.step());
  }

  /** Where a panel is among those of A that are shared. */
  private int panelAt(int of, int block, int panel) {
    int before = (of * steps + block) * panels(rows);
    return (before + panel) * pitchA;
  }

  private void pack(int task, MemorySegment scratch) {
    int of = task / (steps * groups());
    int block = task / groups() % steps;
    int panel = task % groups() * Packing.GROUP;
    Packing.packA(
        a,
        matrix + of,
        row + (long) panel * GemmTile.ROWS,
        Math.min(Packing.GROUP, panels(rows) - panel),
        step + (long) block * blocks.step(),
        depth(block),
        panelsA,
        panelAt(of, block, panel),
        pitchA,
        scratch);
  }

  private void multiply(int task, MemorySegment strip, MemorySegment scratch) {
    int across = strips();
    int down = (int) count(rows, blocks.rows());
    int of = task / (down * across);
    long first = (long) (task / across % down) * blocks.rows();
    long left = (long) (task % across) * blocks.columns();
    int height = (int) Math.min(blocks.rows(), rows - first);
    int width = (int) Math.min(blocks.columns(), columns - left);
    boolean last = step + (long) steps * blocks.step() >= a.columns();
    int together = blocksOfStrip();
    // Two panels' rows of sums are enough if they need not wait for other blocks of K.
    boolean once = sums == null && steps <= together;
    int room = (once ? 2 * GemmTile.ROWS : blocks.rows()) * pitch;
    float[] tiles = sums == null ? buffers.take(room) : sums;
    int at = sums == null ? 0 : task * room;
    float[] panelA = shared ? panelsA : buffers.take(pitchA);
    int before = 0;
    for (int begin = 0; begin < steps; begin += together) {
      int end = Math.min(steps, begin + together);
      if (packed == null) {
        packStrip(sameB ? 0 : matrix + of, column + left, width, begin, end, strip, scratch);
      }
      for (int i = 0; i < height; i += GemmTile.ROWS) {
        int to = at + (once ? i % (2 * GemmTile.ROWS) : i) * pitch;
        for (int block = begin; block < end; block++) {
          int depth = depth(block);
          long from = step + (long) block * blocks.step();
          int fromA = 0;
          if (shared) {
            fromA = panelAt(sameA ? 0 : of, block, (int) ((first + i) / GemmTile.ROWS));
          } else {
            Packing.packA(
                a, matrix + of, row + first + i, 1, from, depth, panelA, 0, pitchA, scratch);
          }
          int fromB =
              packed == null
                  ? (block - begin) * floatsOfStripBlock()
                  : packed.floatOf(
                      (int) (from / blocks.step()), (int) ((column + left) / GemmTile.COLUMNS));
          int due = i > 0 && last && block == steps - 1 ? GemmTile.ROWS : 0;
          for (int j = 0; j < width; j += GemmTile.COLUMNS) {
            tile(panelA, fromA, strip, fromB, depth, tiles, to, j, from == 0);
            // Rows of the panel before go out one by one: all at once, they would be waited for.
            int done = due * j / width;
            int until = due * Math.min(width, j + GemmTile.COLUMNS) / width;
            store(
                tiles,
                before,
                of,
                first + i - GemmTile.ROWS,
                done,
                until,
                column + left,
                width,
                scratch);
          }
        }
        before = to;
      }
      if (last && end == steps) {
        int i = (height - 1) / GemmTile.ROWS * GemmTile.ROWS;
        store(tiles, before, of, first + i, 0, height - i, column + left, width, scratch);
      }
    }
    if (sums == null) {
      buffers.give(tiles);
    }
    if (!shared) {
      buffers.give(panelA);
    }
  }

  /** Floats of a strip of B for one block of K. */
  private int floatsOfStripBlock() {
    return panelsOfStrip * Packing.pitchB(blocks.step());
  }

  /** Blocks of K that a strip is packed for at a time. */
  private int blocksOfStrip() {
    return Math.max(1, GemmBlocks.STRIP_FLOATS / floatsOfStripBlock());
  }

  private void packStrip(
      long of,
      long left,
      int width,
      int begin,
      int end,
      MemorySegment strip,
      MemorySegment scratch) {
    for (int block = begin; block < end; block++) {
      Packing.packB(
          b,
          of,
          left,
          (int) Packing.panelsB(width),
          step + (long) block * blocks.step(),
          depth(block),
          strip,
          4L * (block - begin) * floatsOfStripBlock(),
          scratch);
    }
  }

  private void tile(
      float[] panelA,
      int fromA,
      MemorySegment strip,
      int fromB,
      int depth,
      float[] tiles,
      int to,
      int j,
      boolean first) {
    int at = fromB + j / GemmTile.COLUMNS * Packing.pitchB(depth);
    int even = depth + (depth & 1);
    float[] before = first ? GemmTile.ZEROS : tiles;
    int since = first ? 0 : to + j;
    int stride = first ? 0 : pitch;
    GemmTile.multiply(panelA, fromA, strip, at, even, before, since, stride, tiles, to + j, pitch);
  }

  private void store(
      float[] tiles,
      int from,
      int of,
      long first,
      int done,
      int until,
      long left,
      int width,
      MemorySegment scratch) {
    for (int r = done; r < until; r++) {
      epilogue.store(tiles, from + r * pitch, matrix + of, row + first + r, left, width, scratch);
    }
  }
}
