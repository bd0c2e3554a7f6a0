package dev.minifloat.cpu.internal.gemv;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;

import dev.minifloat.DType;
import dev.minifloat.cpu.internal.convert.Decoders;
import dev.minifloat.cpu.internal.gemm.GemmOperand;
import dev.minifloat.cpu.internal.gemm.Packing;
import dev.minifloat.cpu.internal.gemm.PackingBuffers;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Species;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Products of rows, or columns, that are decoded to the first-level cache first: for every format,
 * scaling and view.
 *
 * <p>Where rows are dense, four of them at a time are multiplied with every x, or where there are
 * some, with four x at a time ({@link GemvTile}); F32 and BF16 then where they are: decoding, one
 * row after the other, would read memory half as fast as four streams do. Where columns are dense,
 * four columns at a time are multiplied, and added to the sums of a block of rows. Either way a
 * row's order of summation depends on the format, the layout and K alone. An object is used for one
 * product after the other.
 */
final class GemvDecoded {
  /** Rows, or columns, that are decoded together. */
  static final int GROUP = 4;

  /** Rows summed at a time where columns are dense. */
  static final int BLOCK = 512;

  /** Elements of a row that are decoded at a time. */
  private static final int CHUNK = 1024;

  /** Elements of a row that are multiplied at a time where they are. */
  private static final int LONG_CHUNK = 2048;

  private static final long LONG_ROW = (long) LONG_CHUNK * Float.BYTES;

  private static final VectorSpecies<Float> F32 = Species.FLOAT;
  private static final int LANES = Species.LANES;

  /** Bytes of a vector, and from a decoded row, or column, to the next. */
  private static final long V = (long) LANES * Float.BYTES;

  private static final long ROW = (long) CHUNK * Float.BYTES;
  private static final long COLUMN = (long) BLOCK * Float.BYTES;

  /** Vectors from which on tiles are faster, though there are four in each. */
  private static final int LEAST_TILED = 3;

  private final GemvTile tile = new GemvTile();

  private GemmOperand w;
  private float[] x;
  private boolean tiled;

  /** Whether rows are multiplied without being decoded. */
  private boolean inPlace;

  private int vectors;
  private int depth;
  private int stride;

  /**
   * Begins a product.
   *
   * @param w [R, K], a stack of them
   * @param x the vectors, decoded
   * @param matrices how many of the stack have vectors of their own
   * @param vectors how many a matrix has
   * @param depth K
   * @param stride sums from a vector's to the next one's
   */
  void begin(
      PackingBuffers buffers,
      GemmOperand w,
      float[] x,
      int matrices,
      int vectors,
      int depth,
      int stride) {
    tiled = vectors >= LEAST_TILED;
    DType dtype = w.storage().dtype();
    inPlace =
        tiled
            && (dtype == DType.F32 || dtype == DType.BF16)
            && w.storage().grid().scales() == 0
            && w.hasDenseRows();
    if (tiled) {
      tile.begin(buffers, inPlace && dtype == DType.BF16, x, matrices, vectors, depth);
    }
    this.w = w;
    this.x = x;
    this.vectors = vectors;
    this.depth = depth;
    this.stride = stride;
  }

  /** Ends it, so that nothing is kept alive. */
  void end() {
    tile.end();
    w = null;
    x = null;
  }

  /**
   * Adds the products of columns {@code column …} of some rows to their sums.
   *
   * @param count rows, at most {@link #GROUP}
   * @param xFrom where the first vector is
   * @param lanes the sums, {@code LANES} floats for each that add up to it, with room for {@link
   *     GemvTile#padded} vectors
   * @param to which of them is the first row's with the first vector
   * @param scratch a row buffer
   */
  void rows(
      int matrix,
      long row,
      int count,
      int column,
      int xFrom,
      float[] lanes,
      int to,
      MemorySegment scratch) {
    if (inPlace) {
      for (int k = column; k < depth; k += LONG_CHUNK) {
        int chunk = Math.min(LONG_CHUNK, depth - k);
        inPlace(matrix, row, count, k, chunk, xFrom, lanes, to, scratch);
      }
      return;
    }
    for (int k = column; k < depth; k += CHUNK) {
      int chunk = Math.min(CHUNK, depth - k);
      for (int r = 0; r < GROUP; r++) {
        // Rows past the end repeat the last one; their sums are not used.
        long source = row + Math.min(r, count - 1);
        w.decodeRow(matrix, source, k, chunk, scratch, (long) r * CHUNK * Float.BYTES);
      }
      if (tiled) {
        clearTails(scratch, chunk);
        int of = xFrom / (vectors * depth);
        tile.multiply(scratch, 0, ROW, of, k, chunk, lanes, to * LANES, stride * LANES);
        continue;
      }
      for (int v = 0; v < vectors; v++) {
        int first = (v * stride + to) * LANES;
        multiplyRows(scratch, x, xFrom + v * depth + k, chunk, lanes, first, count);
      }
    }
  }

  /** Adds the products of {@code chunk} columns of some rows, F32 or BF16, to their sums. */
  private void inPlace(
      int matrix,
      long row,
      int count,
      int column,
      int chunk,
      int xFrom,
      float[] lanes,
      int to,
      MemorySegment scratch) {
    int bytes = w.storage().dtype().bits() / Byte.SIZE;
    MemorySegment data = w.storage().data();
    long at = w.index(matrix, row, column) * bytes;
    long rowBytes = w.rowStride() * bytes;
    int of = xFrom / (vectors * depth);
    int whole = count < GROUP ? 0 : chunk - chunk % (2 * LANES);
    if (whole > 0) {
      tile.multiply(data, at, rowBytes, of, column, whole, lanes, to * LANES, stride * LANES);
    }
    if (whole < chunk) {
      // Copied, with zeros up to a multiple of what is taken at a time.
      long rest = (long) (chunk - whole) * bytes;
      long padded = Math.ceilDiv(rest, 2 * V) * 2 * V;
      for (int r = 0; r < GROUP; r++) {
        long source = at + Math.min(r, count - 1) * rowBytes + (long) whole * bytes;
        MemorySegment.copy(data, source, scratch, r * LONG_ROW, rest);
        scratch.asSlice(r * LONG_ROW + rest, padded - rest).fill((byte) 0);
      }
      tile.multiply(
          scratch,
          0,
          LONG_ROW,
          of,
          column + whole,
          chunk - whole,
          lanes,
          to * LANES,
          stride * LANES);
    }
  }

  /** Clears what is between the decoded rows' ends and the next multiple of {@code LANES}. */
  private static void clearTails(MemorySegment scratch, int count) {
    for (int k = count; k % LANES != 0; k++) {
      for (int r = 0; r < GROUP; r++) {
        scratch.setAtIndex(Packing.FLOAT, (long) r * CHUNK + k, 0);
      }
    }
  }

  /** Adds four rows of {@code scratch}, {@link #CHUNK} floats apart, times x to {@code lanes}. */
  private static void multiplyRows(
      MemorySegment scratch, float[] x, int from, int depth, float[] lanes, int to, int count) {
    MemorySegment rows = Segments.exact(scratch);
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
      a = FloatVector.fromMemorySegment(F32, rows, p, Species.LE).fma(x0, a);
      b = FloatVector.fromMemorySegment(F32, rows, p + V, Species.LE).fma(x1, b);
      c = FloatVector.fromMemorySegment(F32, rows, p + 1 * ROW, Species.LE).fma(x0, c);
      d = FloatVector.fromMemorySegment(F32, rows, p + 1 * ROW + V, Species.LE).fma(x1, d);
      e = FloatVector.fromMemorySegment(F32, rows, p + 2 * ROW, Species.LE).fma(x0, e);
      f = FloatVector.fromMemorySegment(F32, rows, p + 2 * ROW + V, Species.LE).fma(x1, f);
      g = FloatVector.fromMemorySegment(F32, rows, p + 3 * ROW, Species.LE).fma(x0, g);
      h = FloatVector.fromMemorySegment(F32, rows, p + 3 * ROW + V, Species.LE).fma(x1, h);
    }
    FLOATS.cast(a).add(b).add(FloatVector.fromArray(F32, lanes, to)).intoArray(lanes, to);
    if (count > 1) {
      FLOATS
          .cast(c)
          .add(d)
          .add(FloatVector.fromArray(F32, lanes, to + LANES))
          .intoArray(lanes, to + LANES);
    }
    if (count > 2) {
      int third = to + 2 * LANES;
      FLOATS.cast(e).add(f).add(FloatVector.fromArray(F32, lanes, third)).intoArray(lanes, third);
    }
    if (count > 3) {
      int fourth = to + 3 * LANES;
      FLOATS.cast(g).add(h).add(FloatVector.fromArray(F32, lanes, fourth)).intoArray(lanes, fourth);
    }
    for (; k < depth; k++) {
      float factor = x[from + k];
      for (int r = 0; r < count; r++) {
        int sum = to + r * LANES;
        lanes[sum] = Math.fma(element(scratch, r, k), factor, lanes[sum]);
      }
    }
  }

  private static float element(MemorySegment scratch, int row, int k) {
    return scratch.getAtIndex(Packing.FLOAT, (long) row * CHUNK + k);
  }

  /** Adds all columns, times x, to the sums of a block of {@code count} rows. */
  void columns(int matrix, long first, int count, int xFrom, float[] sums, MemorySegment scratch) {
    for (int k = 0; k < depth; k += GROUP) {
      columns(matrix, first, count, k, Math.min(GROUP, depth - k), xFrom, sums, scratch);
    }
  }

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
      int to = v * stride;
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
