package dev.minifloat.cpu.internal.gemv;

import static dev.minifloat.cpu.internal.runtime.Species.LANES;

import dev.minifloat.DType;
import dev.minifloat.cpu.internal.gemm.Epilogue;
import dev.minifloat.cpu.internal.gemm.GemmOperand;
import dev.minifloat.cpu.internal.gemm.PackingBuffers;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Work;
import dev.minifloat.cpu.internal.runtime.Workers;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * Products of a matrix with a few vectors: out[v, r] = Σ_k w[r, k] · x[v, k], at most {@link
 * #MOST_VECTORS} v. The matrix is streamed once and never packed.
 *
 * <p>Dense rows are multiplied straight from memory ({@link GemvRows}) if there is a kernel for the
 * format and the scales lie right ({@link GemvScales}); what remains of K, the rows where that went
 * wrong, and every other matrix is decoded first ({@link GemvDecoded}). A row's order of summation
 * depends on its values, on K, on the number of vectors and on how the matrix lies, but neither on
 * threads nor on other rows.
 *
 * <p>A kernel that applies scales multiplies elements with activations first, which may overflow or
 * underflow where element · scale would not have; one whose elements are too large by a power of
 * two may overflow likewise. That shows in the sum, and the row is decoded. Against underflow
 * activations must not be tiny: with none below 2^-100 every product, and so every sum of products,
 * is a multiple of 2^-149, and none loses a digit.
 */
public final class GemvKernel implements IntConsumer {
  /** Vectors that one pass over the matrix serves. */
  public static final int MOST_VECTORS = 16;

  /** Vectors that it serves better than a packed matrix does. */
  public static final int FEW_VECTORS = 4;

  /** Vectors for which kernels, one or two at a time, are faster than decoding. */
  private static final int MOST_OF_NIBBLES = 4;

  private static final int MOST_OF_OTHERS = 2;

  /** Elements from which on a vector is long. */
  public static final int LONG = 256;

  /** Floats of x that are held decoded; what needs more is a matrix product. */
  private static final long MOST_FLOATS = 1 << 22;

  /** Elements that a task works on, roughly: some hundred microseconds' worth at most. */
  private static final int TASK_ELEMENTS = 1 << 17;

  /** Rows of a task, if it has so many, are a multiple: no two tasks write to one cache line. */
  private static final int TASK_ROWS = 16;

  /** Factors that are made at a time, roughly: few enough for the first-level cache. */
  private static final int FACTORS = 1 << 12;

  /** Elements of a row that are multiplied at a time: activations for the first-level cache. */
  private static final int CHUNK = 1 << 13;

  /** Elements below which a hand-over to another thread costs more than it gains: decoded … */
  private static final long LEAST_PARALLEL = 1 << 16;

  /** … and taken by kernels, which are so much faster. */
  private static final long LEAST_PARALLEL_DIRECT = 1 << 20;

  /** Steps of K that are a task of their own where vectors are too long to be held. */
  private static final long SLICE = 1 << 16;

  /** Floats that hold the sums of slices; what needs more is a matrix product. */
  private static final long MOST_PARTS = 1 << 24;

  private final Workers workers;
  private final PackingBuffers buffers;
  private final GemvDecoded decoded = new GemvDecoded();
  private final GemvScales scales = new GemvScales();

  private final float[][] spares = new float[2][];

  private GemmOperand w;
  private int vectors;
  private int depth;
  private boolean sameX;
  private float[] x;
  private boolean byRows;
  private int taskRows;
  private int blocks;

  /** Where sums go; if null, to {@link #parts}, vectors {@link #partsPitch} floats apart. */
  private Epilogue epilogue;

  private boolean transposed;

  private float[] parts;
  private int partsFrom;
  private int partsPitch;

  /** Whether kernels read the rows. */
  private boolean direct;

  /** Steps of a row that kernels take, and the elements in them. */
  private int steps;

  private int span;

  /** The vectors times the scales of columns; x itself if there are none. */
  private float[] factored;

  /** These in the kernels' order, {@link #pitch} bytes apart; null if kernels read no rows. */
  private Memory.Block arranged;

  private long pitch;

  /** What the kernels' sums are multiplied by, before scales are. */
  private float unit;

  /** An object for one product after the other. */
  public GemvKernel(Workers workers, PackingBuffers buffers) {
    this.workers = workers;
    this.buffers = buffers;
  }

  private void begin(GemmOperand matrix, GemmOperand vector, long matrices) {
    w = matrix;
    vectors = (int) vector.rows();
    depth = (int) vector.columns();
    sameX = vector.isRepeated();
    byRows = w.hasDenseRows() || !w.hasDenseColumns();
    // Columns are decoded over a block of rows at a time, so there the block must be long.
    taskRows = byRows ? rowsOfTask(depth) : GemvDecoded.BLOCK;
    blocks = Work.count(w.rows(), taskRows);
    int held = (sameX ? 1 : (int) matrices) * vectors;
    x = decode(vector, held);
    decoded.begin(buffers, w, x, held / vectors, vectors, depth, taskRows);
    beginDirect(matrices, held);
  }

  private void beginDirect(long matrices, int held) {
    DType dtype = w.storage().dtype();
    int power = GemvFormat.activationExponent(dtype);
    direct =
        vectors <= (dtype.bits() < 8 ? MOST_OF_NIBBLES : MOST_OF_OTHERS)
            && w.hasDenseRows()
            && w.columns() > 1
            && GemvFormat.exists(dtype, 0, 1)
            && w.columns() >= GemvFormat.step(dtype)
            && (dtype.bits() >= 8 || w.startsRowsAtMultiplesOf(2))
            && scales.show(w, matrices)
            && GemvFormat.exists(dtype, scales.group(), 1)
            && ((!scales.isScaled() && power == 0) || GemvScales.areSafe(x, held * depth));
    factored = x;
    if (direct && (scales.columns() || power != 0)) {
      factored = buffers.take(held * depth);
    }
    if (direct && scales.columns()) {
      long first = scales.scaleRow(w.offset());
      for (int v = 0; v < held; v++) {
        direct &= scales.multiply(x, v * depth, depth, first, factored);
      }
    }
    if (direct && power != 0) {
      multiply(scales.columns() ? factored : x, held * depth, Math.scalb(1f, power), factored);
    }
    steps = direct ? depth / GemvFormat.step(dtype) : 0;
    span = direct ? steps * GemvFormat.step(dtype) : 0;
    unit = Math.scalb(1f, -GemvFormat.exponent(dtype));
    if (direct) {
      arrange(dtype, held);
    }
  }

  private void end() {
    if (arranged != null) {
      arranged.close();
    }
    if (factored != null && isOther(factored, x)) {
      buffers.give(factored);
    }
    if (x != null) {
      buffers.give(x);
    }
    arranged = null;
    factored = null;
    x = null;
    w = null;
    epilogue = null;
    transposed = false;
    parts = null;
    decoded.end();
    scales.clear();
  }

  @SuppressWarnings("ReferenceEquality") // which array it is
  private static boolean isOther(float[] a, float[] b) {
    return a != b;
  }

  private static int rowsOfTask(int depth) {
    int rows = TASK_ELEMENTS / depth;
    int unit = rows >= TASK_ROWS ? TASK_ROWS : GemvDecoded.GROUP;
    return Math.clamp(rows - rows % unit, GemvDecoded.GROUP, GemvDecoded.BLOCK);
  }

  /** Multiplies activations by a power of two. */
  private static void multiply(float[] x, int count, float factor, float[] target) {
    for (int i = 0; i < count; i++) {
      target[i] = x[i] * factor;
    }
  }

  private void arrange(DType dtype, int count) {
    pitch = (long) span * Float.BYTES;
    arranged = buffers.takeBytes(count * pitch);
    float[][] spare = spares;
    spare[0] = buffers.take(span);
    spare[1] = buffers.take(span);
    for (int v = 0; v < count; v++) {
      GemvFormat.arrange(dtype, factored, v * depth, span, spare, arranged.segment(), v * pitch);
    }
    buffers.give(spare[0]);
    buffers.give(spare[1]);
  }

  /** Whether {@link #runLong} takes this product: vectors too long for {@link #run}. */
  public static boolean suitsLong(GemmOperand w, GemmOperand x) {
    return x.rows() <= MOST_VECTORS
        && x.rows() * x.columns() > MOST_FLOATS
        && Math.ceilDiv(x.columns(), SLICE) * x.rows() * w.rows() <= MOST_PARTS;
  }

  /**
   * Whether {@link #run} takes this product: a few vectors of moderate length, and a matrix of at
   * least as many rows.
   *
   * @param most vectors that may be; of more than four each must be long, or packing the matrix
   *     costs no more
   */
  public static boolean suits(GemmOperand w, GemmOperand x, long matrices, int most) {
    long held = x.isRepeated() ? 1 : matrices;
    return x.rows() <= most
        && (x.rows() == 1 || x.rows() <= w.rows())
        && (x.rows() <= FEW_VECTORS || x.columns() >= LONG)
        && x.columns() <= MOST_FLOATS
        && held * x.rows() * x.columns() <= MOST_FLOATS;
  }

  /**
   * Computes and stores a product.
   *
   * @param matrix [R, K], {@code matrices} of them; at least one element
   * @param vector [V, K], likewise
   * @param byRows whether a row of what is stored is of one row of the matrix, and not of one
   *     vector
   */
  public void run(
      GemmOperand matrix, GemmOperand vector, long matrices, Epilogue store, boolean byRows) {
    try {
      begin(matrix, vector, matrices);
      epilogue = store;
      transposed = byRows;
      int tasks = Work.toInt("matrices", matrices * blocks, "tasks");
      if ((double) matrices * w.rows() * depth
          >= (direct ? LEAST_PARALLEL_DIRECT : LEAST_PARALLEL)) {
        workers.run(tasks, this);
      } else {
        for (int task = 0; task < tasks; task++) {
          accept(task);
        }
      }
    } finally {
      end();
    }
  }

  /**
   * Computes and stores a product whose vectors are too long to be held. K is cut into slices, each
   * a product of its own that any thread may take; the sums of the slices are added in their order.
   *
   * @param w [R, K], {@code matrices} of them; at least one element
   * @param x [V, K], likewise
   */
  public static void runLong(
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
            long from = slice * SLICE;
            long count = Math.min(SLICE, x.columns() - from);
            GemvKernel kernel = new GemvKernel(workers, buffers);
            try {
              kernel.begin(w.columns(of, from, count), x.columns(of, from, count), 1);
              kernel.parts = parts;
              kernel.partsFrom = slice * vectors * rows;
              kernel.partsPitch = rows;
              for (int task = 0; task < kernel.blocks; task++) {
                kernel.accept(task);
              }
            } finally {
              kernel.end();
            }
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

  private float[] decode(GemmOperand source, int count) {
    float[] values = buffers.take(count * depth);
    for (int row = 0; row < count; row++) {
      source.decodeRow(row / vectors, row % vectors, depth, values, row * depth, buffers);
    }
    return values;
  }

  /** Computes one block of rows of a matrix. */
  @Override
  public void accept(int task) {
    int matrix = task / blocks;
    long first = (long) (task % blocks) * taskRows;
    int count = (int) Math.min(taskRows, w.rows() - first);
    int xFrom = sameX ? 0 : matrix * vectors * depth;
    float[] sums = buffers.take(vectors * taskRows);
    Arrays.fill(sums, 0, vectors * taskRows, 0f);
    try (Memory.Block block = buffers.takeRows()) {
      MemorySegment scratch = block.segment();
      if (direct) {
        direct(matrix, first, count, xFrom, sums, scratch);
      } else if (byRows) {
        decodeRows(matrix, first, count, 0, xFrom, sums, 0, scratch);
      } else {
        decoded.columns(matrix, first, count, xFrom, sums, scratch);
      }
      if (transposed) {
        storeTransposed(matrix, first, count, sums, scratch);
      }
      for (int v = transposed ? vectors : 0; v < vectors; v++) {
        if (epilogue != null) {
          epilogue.store(sums, v * taskRows, matrix, v, first, count, scratch);
        } else {
          int to = (int) (partsFrom + (long) v * partsPitch + first);
          System.arraycopy(sums, v * taskRows, parts, to, count);
        }
      }
    }
    buffers.give(sums);
  }

  private void storeTransposed(
      int matrix, long first, int count, float[] sums, MemorySegment scratch) {
    float[] row = buffers.take(vectors);
    for (int r = 0; r < count; r++) {
      for (int v = 0; v < vectors; v++) {
        row[v] = sums[v * taskRows + r];
      }
      epilogue.store(row, 0, matrix, first + r, 0, vectors, scratch);
    }
    buffers.give(row);
  }

  /** Adds the products of columns {@code column …} of some rows, decoded, to their sums. */
  private void decodeRows(
      int matrix,
      long first,
      int count,
      int column,
      int xFrom,
      float[] sums,
      int to,
      MemorySegment scratch) {
    int padded = GemvTile.padded(vectors);
    float[] lanes = buffers.take(padded * taskRows * LANES);
    int used = Math.ceilDiv(count, GemvDecoded.GROUP) * GemvDecoded.GROUP * LANES;
    for (int v = 0; v < padded; v++) {
      Arrays.fill(lanes, v * taskRows * LANES, v * taskRows * LANES + used, 0f);
    }
    for (int r = 0; r < count; r += GemvDecoded.GROUP) {
      int group = Math.min(GemvDecoded.GROUP, count - r);
      decoded.rows(matrix, first + r, group, column, xFrom, lanes, r, scratch);
    }
    for (int v = 0; v < vectors; v++) {
      addLanes(lanes, v * taskRows * LANES, count, sums, v * taskRows + to);
    }
    buffers.give(lanes);
  }

  /** Sums of a block of rows by kernels. */
  private void direct(
      int matrix, long first, int count, int xFrom, float[] sums, MemorySegment scratch) {
    float[] lanes = buffers.take(vectors * taskRows * LANES);
    Arrays.fill(lanes, 0, vectors * taskRows * LANES, 0f);
    multiply(matrix, first, count, lanes);
    for (int v = 0; v < vectors; v++) {
      addLanes(lanes, v * taskRows * LANES, count, sums, v * taskRows);
    }
    buffers.give(lanes);
    boolean scaled = scales.isScaled();
    if (scaled || unit != 1) {
      long element = w.index(matrix, first, 0);
      for (int v = 0; v < vectors; v++) {
        scales.multiplySums(element, w.rowStride(), unit, sums, v * taskRows, count);
      }
    }
    if (span < depth) {
      decodeRows(matrix, first, count, span, xFrom, sums, 0, scratch);
    }
    if (scaled || unit != 1) {
      for (int r = 0; r < count; r++) {
        if (!isFinite(sums, r)) {
          for (int v = 0; v < vectors; v++) {
            sums[v * taskRows + r] = 0;
          }
          decodeRows(matrix, first + r, 1, 0, xFrom, sums, r, scratch);
        }
      }
    }
  }

  private boolean isFinite(float[] sums, int row) {
    for (int v = 0; v < vectors; v++) {
      if (!Float.isFinite(sums[v * taskRows + row])) {
        return false;
      }
    }
    return true;
  }

  private void multiply(int matrix, long first, int count, float[] lanes) {
    DType dtype = w.storage().dtype();
    int group = scales.group();
    int from = sameX ? 0 : matrix * vectors * steps;
    int groups = group == 0 ? 0 : span / group;
    int rowFactors = scales.rowFactors(w);
    int together = rowFactors == 0 ? 1 : Math.clamp(FACTORS / rowFactors, 1, count);
    float[] factors = buffers.take(groups + (together - 1) * rowFactors + LANES);
    long element = w.index(matrix, first, 0);
    for (int r = 0; r < count; ) {
      int rows = count - r;
      if (group != 0) {
        long start = element + r * w.rowStride();
        rows = rowFactors == 0 ? rowsOfOneScale(start, rows) : Math.min(together, rows);
        scales.fill(scales.scaleRow(start), (rows - 1) * rowFactors + groups, factors);
      }
      for (int v = 0; v < vectors; ) {
        int some = some(dtype, group, vectors - v);
        multiply(
            GemvFormat.kernel(dtype, group, some),
            (element + r * w.rowStride()) * dtype.bits() / Byte.SIZE,
            rows,
            from + v * steps,
            some,
            factors,
            rowFactors,
            lanes,
            (v * taskRows + r) * LANES);
        v += some;
      }
      r += rows;
    }
    buffers.give(factors);
  }

  /** Of the rows from that of element {@code start} on, how many have the same factors. */
  private int rowsOfOneScale(long start, int rows) {
    long scaleRow = scales.scaleRow(start);
    int same = 1;
    while (same < rows && scales.scaleRow(start + same * w.rowStride()) == scaleRow) {
      same++;
    }
    return same;
  }

  /**
   * Multiplies rows, part by part: the activations of a part stay in the first-level cache while
   * all rows pass.
   */
  private void multiply(
      GemvRows kernel,
      long at,
      int rows,
      int from,
      int some,
      float[] factors,
      int rowFactors,
      float[] lanes,
      int to) {
    DType dtype = w.storage().dtype();
    MemorySegment data = w.storage().data();
    MemorySegment x = arranged.segment();
    int step = GemvFormat.step(dtype);
    long rowBytes = w.rowStride() * dtype.bits() / Byte.SIZE;
    int most = CHUNK / some / step;
    int before = GemvFormat.bytesBefore(dtype);
    GemvRows quads = some == 1 ? GemvFormat.quads(dtype, scales.group()) : null;
    for (int k = 0; k < steps; k += most) {
      int part = Math.min(most, steps - k);
      long start = at + (long) k * step * dtype.bits() / Byte.SIZE;
      int scale = scales.group() == 0 ? 0 : k * step / scales.group();
      for (int r = 0; r < rows; ) {
        long rowAt = start + r * rowBytes;
        long last = rowAt + (GemvRows.ROWS - 1) * rowBytes;
        boolean one = quads == null || r > rows - GemvRows.ROWS || Math.min(rowAt, last) < before;
        (one ? kernel : quads)
            .multiply(
                data,
                rowAt,
                rowBytes,
                part,
                x,
                from + k,
                pitch,
                factors,
                scale + r * rowFactors,
                rowFactors,
                lanes,
                to + r * LANES,
                taskRows * LANES);
        r += one ? 1 : GemvRows.ROWS;
      }
    }
  }

  /** Of some vectors, how many a kernel takes at once. */
  private static int some(DType dtype, int group, int vectors) {
    return vectors >= 2 && GemvFormat.exists(dtype, group, 2) ? 2 : 1;
  }

  /**
   * Adds the sum of the lanes of each of {@code count} vectors, always by halves, to {@code sums}.
   *
   * <p>A call has too few of these to be compiled early, and until then vectors are slower.
   */
  private static void addLanes(float[] lanes, int from, int count, float[] sums, int to) {
    for (int r = 0; r < count; r++) {
      int at = from + r * LANES;
      float even = everyFourth(lanes, at) + everyFourth(lanes, at + 2);
      float odd = everyFourth(lanes, at + 1) + everyFourth(lanes, at + 3);
      sums[to + r] += even + odd;
    }
  }

  private static float everyFourth(float[] lanes, int at) {
    return switch (LANES) {
      case 16 -> (lanes[at] + lanes[at + 8]) + (lanes[at + 4] + lanes[at + 12]);
      case 8 -> lanes[at] + lanes[at + 4];
      default -> lanes[at];
    };
  }
}
