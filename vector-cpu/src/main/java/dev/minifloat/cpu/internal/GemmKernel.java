package dev.minifloat.cpu.internal;

import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * The matrix product for operands of any format: panels of both are packed to F32, then tiles are
 * multiplied, then the {@link Epilogue} stores each row of a task's block.
 *
 * <pre>
 *   for each outer block of columns, of rows, of K:       {@link GemmBlocks}
 *     in parallel: pack panels of A, panels of B          {@link Packing}
 *     in parallel: for each block of taskRows × taskColumns
 *       for each {@link Packing#DEPTH} of K, panel of B, panel of A: one {@link GemmTile}
 *       after the last K: epilogue
 * </pre>
 *
 * <p>Each sum is a chain of FMAs with K ascending, so the error is within γ_K of the contract, and
 * the order does not depend on threads. Sums that wait for the next outer block of K stay F32.
 */
final class GemmKernel {
  /** Multiplications below which a hand-over to another thread costs more than it gains. */
  private static final long LEAST_PARALLEL = 1 << 17;

  /** Keeps rows of sums from falling on the same few sets of the first-level cache. */
  private static final int SKEW = 16;

  private final Workers workers;
  private final PackingBuffers buffers;
  private final GemmOperand a;
  private final GemmOperand columns;
  private final Epilogue epilogue;
  private final long matrices;
  private final long m;
  private final long n;
  private final long depth;
  private final GemmBlocks blocks;
  private final boolean parallel;
  private final boolean sameA;
  private final boolean sameB;
  private final int pitch;
  private final int taskFloats;

  /**
   * A product.
   *
   * @param a [M, K], {@code matrices} of them
   * @param b [K, N], likewise
   */
  GemmKernel(
      Workers workers,
      PackingBuffers buffers,
      GemmOperand a,
      GemmOperand b,
      long matrices,
      Epilogue epilogue) {
    this.workers = workers;
    this.buffers = buffers;
    this.a = a;
    this.columns = b.transposed();
    this.epilogue = epilogue;
    this.matrices = matrices;
    this.m = a.rows();
    this.n = b.columns();
    this.depth = a.columns();
    this.blocks = GemmBlocks.of(matrices, m, n, depth);
    this.parallel = (double) matrices * m * n * depth >= LEAST_PARALLEL;
    this.sameA = a.isRepeated();
    this.sameB = b.isRepeated();
    this.pitch = blocks.taskColumns() + SKEW;
    this.taskFloats = blocks.taskRows() * pitch;
  }

  /** An outer block: {@code rows × columns} sums of {@code count} matrices, over {@code steps}. */
  @SuppressWarnings("ArrayRecordComponent") // never compared, hashed or printed
  private record Outer(
      long matrix,
      int count,
      long row,
      int rows,
      long column,
      int columns,
      long step,
      int steps,
      float[] panelsA,
      float[] panelsB,
      float[] sums) {}

  /** Computes and stores everything. */
  void run() {
    boolean resumed = depth > blocks.outerDepth();
    float[] panelsA = buffers.take(packedFloats(sameA, blocks.outerRows()));
    float[] panelsB = buffers.take(packedFloats(sameB, blocks.outerColumns()));
    float[] sums = null;
    if (resumed) {
      int tasks =
          Math.ceilDiv(blocks.outerRows(), blocks.taskRows())
              * Math.ceilDiv(blocks.outerColumns(), blocks.taskColumns());
      sums = buffers.take(Math.multiplyExact(tasks, taskFloats));
    }
    for (long matrix = 0; matrix < matrices; matrix += blocks.outerMatrices()) {
      int count = (int) Math.min(blocks.outerMatrices(), matrices - matrix);
      for (long column = 0; column < n; column += blocks.outerColumns()) {
        for (long row = 0; row < m; row += blocks.outerRows()) {
          for (long step = 0; step < depth; step += blocks.outerDepth()) {
            block(
                new Outer(
                    matrix,
                    count,
                    row,
                    (int) Math.min(blocks.outerRows(), m - row),
                    column,
                    (int) Math.min(blocks.outerColumns(), n - column),
                    step,
                    (int) Math.min(blocks.outerDepth(), depth - step),
                    panelsA,
                    panelsB,
                    sums));
          }
        }
      }
    }
    buffers.give(panelsA);
    buffers.give(panelsB);
    if (sums != null) {
      buffers.give(sums);
    }
  }

  private int packedFloats(boolean same, int extent) {
    return (same ? 1 : blocks.outerMatrices()) * extent * blocks.outerDepth();
  }

  private void block(Outer outer) {
    int countA = sameA ? 1 : outer.count;
    int countB = sameB ? 1 : outer.count;
    int stepsOfDepth = Math.ceilDiv(outer.steps, Packing.DEPTH);
    int tasksA = Math.ceilDiv(panels(outer.rows, GemmTile.ROWS), Packing.groupOf(GemmTile.ROWS));
    int tasksB =
        Math.ceilDiv(panels(outer.columns, GemmTile.COLUMNS), Packing.groupOf(GemmTile.COLUMNS));
    int ofA = countA * tasksA * stepsOfDepth;
    int ofB = countB * tasksB * stepsOfDepth;
    // A is packed anew for each outer block of columns: one part in outerColumns of the work.
    parallel(
        ofA + ofB,
        task -> {
          if (task < ofA) {
            packTask(outer, a, outer.row, outer.rows, GemmTile.ROWS, outer.panelsA, task, tasksA);
          } else {
            packTask(
                outer,
                columns,
                outer.column,
                outer.columns,
                GemmTile.COLUMNS,
                outer.panelsB,
                task - ofA,
                tasksB);
          }
        });
    int down = Math.ceilDiv(outer.rows, blocks.taskRows());
    int across = Math.ceilDiv(outer.columns, blocks.taskColumns());
    parallel(
        outer.count * down * across,
        task -> multiplyTask(outer, task / (down * across), task % (down * across), across));
  }

  private void parallel(int tasks, IntConsumer body) {
    if (parallel) {
      workers.run(tasks, body);
    } else {
      for (int task = 0; task < tasks; task++) {
        body.accept(task);
      }
    }
  }

  private static int panels(int extent, int width) {
    return Math.ceilDiv(extent, width);
  }

  private void packTask(
      Outer outer,
      GemmOperand x,
      long first,
      int extent,
      int width,
      float[] target,
      int task,
      int groups) {
    int stepsOfDepth = Math.ceilDiv(outer.steps, Packing.DEPTH);
    int matrix = task / (groups * stepsOfDepth);
    int panel = task / stepsOfDepth % groups * Packing.groupOf(width);
    int step = task % stepsOfDepth * Packing.DEPTH;
    int all = panels(extent, width);
    int pitch = outer.steps * width;
    try (Memory.Block rows = buffers.takeRows()) {
      Packing.pack(
          x,
          outer.matrix + matrix,
          first + (long) panel * width,
          Math.min(Packing.groupOf(width), all - panel),
          outer.step + step,
          Math.min(Packing.DEPTH, outer.steps - step),
          width,
          target,
          (matrix * all + panel) * pitch + step * width,
          pitch,
          rows.segment());
    }
  }

  private void multiplyTask(Outer outer, int matrix, int block, int across) {
    int row = block / across * blocks.taskRows();
    int column = block % across * blocks.taskColumns();
    int rows = Math.min(blocks.taskRows(), outer.rows - row);
    int width = Math.min(blocks.taskColumns(), outer.columns - column);
    boolean resumed = outer.sums != null;
    float[] sums = resumed ? outer.sums : buffers.take(taskFloats);
    int at = resumed ? block * taskFloats : 0;
    if (outer.step == 0) {
      Arrays.fill(sums, at, at + taskFloats, 0f);
    }
    int pitchA = outer.steps * GemmTile.ROWS;
    int pitchB = outer.steps * GemmTile.COLUMNS;
    int firstA =
        ((sameA ? 0 : matrix) * panels(outer.rows, GemmTile.ROWS) + row / GemmTile.ROWS) * pitchA;
    int firstB =
        ((sameB ? 0 : matrix) * panels(outer.columns, GemmTile.COLUMNS) + column / GemmTile.COLUMNS)
            * pitchB;
    for (int step = 0; step < outer.steps; step += Packing.DEPTH) {
      int count = Math.min(Packing.DEPTH, outer.steps - step);
      for (int j = 0; j < width; j += GemmTile.COLUMNS) {
        int panelB = firstB + j / GemmTile.COLUMNS * pitchB + step * GemmTile.COLUMNS;
        for (int i = 0; i < rows; i += GemmTile.ROWS) {
          GemmTile.multiply(
              outer.panelsA,
              firstA + i / GemmTile.ROWS * pitchA + step * GemmTile.ROWS,
              outer.panelsB,
              panelB,
              count,
              sums,
              at + i * pitch + j,
              pitch);
        }
      }
    }
    if (outer.step + outer.steps == depth) {
      try (Memory.Block scratch = buffers.takeRows()) {
        for (int i = 0; i < rows; i++) {
          epilogue.store(
              sums,
              at + i * pitch,
              outer.matrix + matrix,
              outer.row + row + i,
              outer.column + column,
              width,
              scratch.segment());
        }
      }
    }
    if (!resumed) {
      buffers.give(sums);
    }
  }
}
