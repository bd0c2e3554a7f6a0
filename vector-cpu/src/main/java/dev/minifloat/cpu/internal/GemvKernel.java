package dev.minifloat.cpu.internal;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Products of a matrix with a few vectors: out[v, r] = Σ_k w[r, k] · x[v, k], v below {@link
 * #MOST_VECTORS}. The matrix is streamed once and never packed.
 *
 * <p>Where rows are dense, four of them at a time are decoded to the first-level cache and
 * multiplied with every x. Where columns are dense, four columns at a time are, and added to the
 * sums of a block of rows. Either way a row's order of summation depends on K alone.
 */
final class GemvKernel {
  /** Vectors that one pass over the matrix serves. */
  static final int MOST_VECTORS = 4;

  /** Floats of x that are held decoded; what needs more is a matrix product. */
  private static final long MOST_FLOATS = 1 << 22;

  /** Rows, or columns, that are decoded together. */
  private static final int GROUP = 4;

  /** Elements of a row that are decoded at a time. */
  private static final int CHUNK = 1024;

  /** Rows summed at a time where columns are dense. */
  private static final int BLOCK = 512;

  /** A quarter of the elements that a task works on where rows are dense, roughly. */
  private static final int TASK_ELEMENTS = 1 << 14;

  /** Elements below which a hand-over to another thread costs more than it gains. */
  private static final long LEAST_PARALLEL = 1 << 16;

  /** Steps of K that are a task of their own where vectors are too long to be held. */
  private static final long SLICE = 1 << 16;

  /** Floats that hold the sums of slices; what needs more is a matrix product. */
  private static final long MOST_PARTS = 1 << 24;

  private static final VectorSpecies<Float> F32 = Species.FLOAT;
  private static final int LANES = Species.LANES;

  /** Bytes of a vector, and from a decoded row, or column, to the next. */
  private static final long V = (long) LANES * Float.BYTES;

  private static final long ROW = (long) CHUNK * Float.BYTES;
  private static final long COLUMN = (long) BLOCK * Float.BYTES;

  private final PackingBuffers buffers;
  private final GemmOperand w;
  private final Results results;
  private final int vectors;
  private final int depth;
  private final boolean sameX;
  private final float[] x;
  private final boolean byRows;
  private final int taskRows;
  private final int blocks;

  /** Where the sums of a block of rows go. */
  private interface Results {
    /** See {@link Epilogue#store}. */
    void store(
        float[] sums,
        int from,
        long matrix,
        long row,
        long column,
        int count,
        MemorySegment scratch);
  }

  private GemvKernel(
      PackingBuffers buffers, GemmOperand w, GemmOperand x, long matrices, Results results) {
    this.buffers = buffers;
    this.w = w;
    this.results = results;
    this.vectors = (int) x.rows();
    this.depth = (int) x.columns();
    this.sameX = x.isRepeated();
    this.byRows = w.hasDenseRows() || !w.hasDenseColumns();
    // Columns are decoded over a block of rows at a time, so there the block must be long.
    this.taskRows = byRows ? Math.min(BLOCK, (TASK_ELEMENTS / depth + 1) * GROUP) : BLOCK;
    this.blocks = Work.count(w.rows(), taskRows);
    this.x = decode(x, sameX ? 1 : (int) matrices);
  }

  /** Whether {@link #runLong} takes this product: vectors too long for {@link #run}. */
  static boolean suitsLong(GemmOperand w, GemmOperand x) {
    return x.rows() <= MOST_VECTORS
        && x.rows() * x.columns() > MOST_FLOATS
        && Math.ceilDiv(x.columns(), SLICE) * x.rows() * w.rows() <= MOST_PARTS;
  }

  /** Whether {@link #run} takes this product: a few vectors of moderate length. */
  static boolean suits(GemmOperand x, long matrices) {
    long held = x.isRepeated() ? 1 : matrices;
    return x.rows() <= MOST_VECTORS
        && x.columns() <= MOST_FLOATS
        && held * x.rows() * x.columns() <= MOST_FLOATS;
  }

  /**
   * Computes and stores a product.
   *
   * @param w [R, K], {@code matrices} of them; at least one element
   * @param x [V, K], likewise
   */
  static void run(
      Workers workers,
      PackingBuffers buffers,
      GemmOperand w,
      GemmOperand x,
      long matrices,
      Epilogue epilogue) {
    GemvKernel kernel = new GemvKernel(buffers, w, x, matrices, epilogue::store);
    int tasks = Work.toInt("matrices", matrices * kernel.blocks, "tasks");
    if ((double) matrices * w.rows() * x.columns() >= LEAST_PARALLEL) {
      workers.run(tasks, kernel::task);
    } else {
      for (int task = 0; task < tasks; task++) {
        kernel.task(task);
      }
    }
    buffers.give(kernel.x);
  }

  /**
   * Computes and stores a product whose vectors are too long to be held. K is cut into slices, each
   * a product of its own that any thread may take; the sums of the slices are added in their order.
   *
   * @param w [R, K], {@code matrices} of them; at least one element
   * @param x [V, K], likewise
   */
  static void runLong(
      Workers workers,
      PackingBuffers buffers,
      GemmOperand w,
      GemmOperand x,
      long matrices,
      Epilogue epilogue) {
    int rows = Work.toInt("a", w.rows(), "rows");
    int vectors = (int) x.rows();
    int slices = Work.count(x.columns(), SLICE);
    long held = (long) slices * vectors * rows;
    float[] parts = buffers.take(Work.toInt("a", held, "sums of slices"));
    for (long matrix = 0; matrix < matrices; matrix++) {
      long of = matrix;
      workers.run(
          slices,
          slice -> {
            long from = (long) slice * SLICE;
            long count = Math.min(SLICE, x.columns() - from);
            int first = slice * vectors * rows;
            Results keep =
                (sums, at, _, v, row, n, _) ->
                    System.arraycopy(sums, at, parts, (int) (first + v * rows + row), n);
            GemvKernel kernel =
                new GemvKernel(
                    buffers, w.columns(of, from, count), x.columns(of, from, count), 1, keep);
            for (int task = 0; task < kernel.blocks; task++) {
              kernel.task(task);
            }
            buffers.give(kernel.x);
          });
      addSlices(parts, slices, vectors * rows);
      try (Memory.Block scratch = buffers.takeRows()) {
        for (int v = 0; v < vectors; v++) {
          for (int row = 0; row < rows; row += Epilogue.LONGEST_RUN) {
            int count = Math.min(Epilogue.LONGEST_RUN, rows - row);
            epilogue.store(parts, v * rows + row, matrix, v, row, count, scratch.segment());
          }
        }
      }
    }
    buffers.give(parts);
  }

  /** Adds the sums of each slice but the first to those of the first. */
  private static void addSlices(float[] parts, int slices, int count) {
    for (int slice = 1; slice < slices; slice++) {
      for (int i = 0; i < count; i++) {
        parts[i] += parts[slice * count + i];
      }
    }
  }

  private float[] decode(GemmOperand source, int matrices) {
    float[] values = buffers.take(matrices * vectors * depth);
    for (int row = 0; row < matrices * vectors; row++) {
      source.decodeRow(row / vectors, row % vectors, depth, values, row * depth, buffers);
    }
    return values;
  }

  private void task(int task) {
    int matrix = task / blocks;
    long first = (long) (task % blocks) * taskRows;
    int count = (int) Math.min(taskRows, w.rows() - first);
    int xFrom = sameX ? 0 : matrix * vectors * depth;
    float[] sums = buffers.take(vectors * taskRows);
    Arrays.fill(sums, 0, vectors * taskRows, 0f);
    try (Memory.Block block = buffers.takeRows()) {
      MemorySegment scratch = block.segment();
      if (byRows) {
        for (int r = 0; r < count; r += GROUP) {
          rows(matrix, first + r, Math.min(GROUP, count - r), xFrom, sums, r, scratch);
        }
      } else {
        for (int k = 0; k < depth; k += GROUP) {
          columns(matrix, first, count, k, Math.min(GROUP, depth - k), xFrom, sums, scratch);
        }
      }
      for (int v = 0; v < vectors; v++) {
        results.store(sums, v * taskRows, matrix, v, first, count, scratch);
      }
    }
    buffers.give(sums);
  }

  /** Sums of up to {@link #GROUP} rows. */
  private void rows(
      int matrix, long row, int count, int xFrom, float[] sums, int to, MemorySegment scratch) {
    for (int k = 0; k < depth; k += CHUNK) {
      int chunk = Math.min(CHUNK, depth - k);
      for (int r = 0; r < GROUP; r++) {
        // Rows past the end repeat the last one; their sums are not used.
        long source = row + Math.min(r, count - 1);
        w.decodeRow(matrix, source, k, chunk, scratch, (long) r * CHUNK * Float.BYTES);
      }
      for (int v = 0; v < vectors; v++) {
        multiplyRows(scratch, x, xFrom + v * depth + k, chunk, sums, v * taskRows + to, count);
      }
    }
  }

  /** Adds four rows of {@code scratch}, {@link #CHUNK} floats apart, times x to {@code sums}. */
  private static void multiplyRows(
      MemorySegment scratch, float[] x, int from, int depth, float[] sums, int to, int count) {
    FloatVector a = FloatVector.zero(F32);
    FloatVector b = a;
    FloatVector c = a;
    FloatVector d = a;
    FloatVector e = a;
    FloatVector f = a;
    FloatVector g = a;
    FloatVector h = a;
    int k = 0;
    // Loads are written out: a method around them may be compiled by itself first, become too big
    // to be inlined, and then put every vector on the heap.
    for (; k <= depth - 2 * LANES; k += 2 * LANES) {
      long p = (long) k * Float.BYTES;
      FloatVector x0 = FloatVector.fromArray(F32, x, from + k);
      FloatVector x1 = FloatVector.fromArray(F32, x, from + k + LANES);
      a = FloatVector.fromMemorySegment(F32, scratch, p, Species.LE).fma(x0, a);
      b = FloatVector.fromMemorySegment(F32, scratch, p + V, Species.LE).fma(x1, b);
      c = FloatVector.fromMemorySegment(F32, scratch, p + 1 * ROW, Species.LE).fma(x0, c);
      d = FloatVector.fromMemorySegment(F32, scratch, p + 1 * ROW + V, Species.LE).fma(x1, d);
      e = FloatVector.fromMemorySegment(F32, scratch, p + 2 * ROW, Species.LE).fma(x0, e);
      f = FloatVector.fromMemorySegment(F32, scratch, p + 2 * ROW + V, Species.LE).fma(x1, f);
      g = FloatVector.fromMemorySegment(F32, scratch, p + 3 * ROW, Species.LE).fma(x0, g);
      h = FloatVector.fromMemorySegment(F32, scratch, p + 3 * ROW + V, Species.LE).fma(x1, h);
    }
    float sum0 = VectorMath.sum(a.add(b));
    float sum1 = VectorMath.sum(c.add(d));
    float sum2 = VectorMath.sum(e.add(f));
    float sum3 = VectorMath.sum(g.add(h));
    for (; k < depth; k++) {
      float factor = x[from + k];
      sum0 = Math.fma(element(scratch, 0, k), factor, sum0);
      sum1 = Math.fma(element(scratch, 1, k), factor, sum1);
      sum2 = Math.fma(element(scratch, 2, k), factor, sum2);
      sum3 = Math.fma(element(scratch, 3, k), factor, sum3);
    }
    sums[to] += sum0;
    if (count > 1) {
      sums[to + 1] += sum1;
    }
    if (count > 2) {
      sums[to + 2] += sum2;
    }
    if (count > 3) {
      sums[to + 3] += sum3;
    }
  }

  private static float element(MemorySegment scratch, int row, int k) {
    return scratch.getAtIndex(Packing.FLOAT, (long) row * CHUNK + k);
  }

  /** Adds up to {@link #GROUP} columns from {@code k} on, times x, to the sums of a block. */
  private void columns(
      int matrix,
      long first,
      int count,
      int k,
      int group,
      int xFrom,
      float[] sums,
      MemorySegment scratch) {
    for (int i = 0; i < group; i++) {
      long at = w.index(matrix, first, k + i);
      Decoders.decodeScaled(w.storage(), at, count, scratch, (long) i * BLOCK * Float.BYTES);
    }
    for (int v = 0; v < vectors; v++) {
      int from = xFrom + v * depth + k;
      int to = v * taskRows;
      if (group == GROUP) {
        addColumns(scratch, x, from, count, sums, to);
      } else {
        for (int i = 0; i < group; i++) {
          addColumn(scratch, i, x[from + i], count, sums, to);
        }
      }
    }
  }

  private static void addColumns(
      MemorySegment scratch, float[] x, int from, int count, float[] sums, int to) {
    FloatVector x0 = FloatVector.broadcast(F32, x[from]);
    FloatVector x1 = FloatVector.broadcast(F32, x[from + 1]);
    FloatVector x2 = FloatVector.broadcast(F32, x[from + 2]);
    FloatVector x3 = FloatVector.broadcast(F32, x[from + 3]);
    int r = 0;
    for (; r <= count - LANES; r += LANES) {
      long p = (long) r * Float.BYTES;
      FloatVector sum = FloatVector.fromArray(F32, sums, to + r);
      sum = FloatVector.fromMemorySegment(F32, scratch, p, Species.LE).fma(x0, sum);
      sum = FloatVector.fromMemorySegment(F32, scratch, p + 1 * COLUMN, Species.LE).fma(x1, sum);
      sum = FloatVector.fromMemorySegment(F32, scratch, p + 2 * COLUMN, Species.LE).fma(x2, sum);
      FloatVector.fromMemorySegment(F32, scratch, p + 3 * COLUMN, Species.LE)
          .fma(x3, sum)
          .intoArray(sums, to + r);
    }
    for (; r < count; r++) {
      float sum = sums[to + r];
      for (int i = 0; i < GROUP; i++) {
        sum = Math.fma(scratch.getAtIndex(Packing.FLOAT, (long) i * BLOCK + r), x[from + i], sum);
      }
      sums[to + r] = sum;
    }
  }

  private static void addColumn(
      MemorySegment scratch, int i, float x, int count, float[] sums, int to) {
    for (int r = 0; r < count; r++) {
      float w = scratch.getAtIndex(Packing.FLOAT, (long) i * BLOCK + r);
      sums[to + r] = Math.fma(w, x, sums[to + r]);
    }
  }
}
