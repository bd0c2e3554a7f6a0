package dev.minifloat.cpu.internal.gemm;

import dev.minifloat.cpu.internal.convert.Decoders;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Species;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Packs rows of a matrix of any format into panels of F32, scales applied.
 *
 * <pre>
 *   panel p of r rows:   at k·r + i the value of row p·r + i, column k
 * </pre>
 *
 * <p>Panels of the left operand have {@link GemmTile#ROWS} rows and lie in Java arrays; those of
 * the right one have {@link GemmTile#COLUMNS} and lie in native memory: see {@link GemmTile}. Rows
 * past the last are zeros, or are never stored. A column is added, as zeros, where the depth is
 * odd, so that it can be multiplied in steps of two; a product of zeros changes no sum.
 */
public final class Packing {
  /** The most steps of K that a panel has: its sums stay in registers meanwhile. */
  static final int DEPTH = 2048;

  /** Panels have room for a multiple of this many steps of K. */
  static final int ROUND = 16;

  /** Rows that are packed together where columns are dense. */
  private static final int GROUP_ROWS = 96;

  /** Panels of the left operand that are packed together. */
  public static final int GROUP = GROUP_ROWS / GemmTile.ROWS;

  private static final int A = GemmTile.ROWS;
  private static final int B = GemmTile.COLUMNS;
  private static final VectorSpecies<Float> F32 = Species.FLOAT;
  private static final int LANES = Species.LANES;
  public static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  /** Columns that are turned at a time, so that they stay in the first-level cache meanwhile. */
  private static final int CHUNK = 256;

  /**
   * Bytes from a decoded row to the next. Rows a power of two apart would fall on the same set of
   * the first-level cache, which has fewer ways than there are rows.
   */
  private static final long ROW_BYTES = 4L * (CHUNK + ROUND);

  /** Where turned rows lie in a row buffer, behind the decoded ones. */
  private static final long TURNED = PanelTranspose.ROWS * ROW_BYTES;

  /** Bytes from the first eight values of a turned column to the others: the next ones. */
  private static final long NEXT = 8L * Float.BYTES;

  private static final long TURNED_PITCH = (long) PanelTranspose.ROWS * Float.BYTES;

  /** Panels of the left operand that are turned together. */
  private static final int TOGETHER = PanelTranspose.ROWS / A;

  /** Where their columns lie in a row buffer. */
  private static final long COLUMNS = TURNED + CHUNK * TURNED_PITCH;

  private Packing() {}

  /** Steps that a panel has room for. */
  static int rounded(int depth) {
    return (depth + ROUND - 1) & -ROUND;
  }

  /**
   * Floats from a panel of the left operand to the next. A column is stored as whole vectors, which
   * may end behind a panel's last column.
   */
  public static int pitchA(int depth) {
    return rounded(depth) * A + LANES;
  }

  /** Floats from a panel of the right operand to the next. */
  public static int pitchB(int depth) {
    return rounded(depth) * B;
  }

  /** Panels of the right operand for so many columns: as many as rows are turned together fill. */
  public static long panelsB(long columns) {
    int together = Math.max(B, PanelTranspose.ROWS);
    return Math.ceilDiv(columns, together) * (together / B);
  }

  /**
   * Packs panels of the left operand.
   *
   * @param x matrices
   * @param matrix which of them
   * @param row first row of the first panel
   * @param panels number of panels, at most {@link #GROUP}
   * @param column first column packed
   * @param depth columns packed, at most {@link #DEPTH}
   * @param to where the first panel is in {@code target}
   * @param pitch floats from a panel to the next, at least {@link #pitchA}
   * @param scratch a row buffer
   */
  public static void packA(
      GemmOperand x,
      long matrix,
      long row,
      int panels,
      long column,
      int depth,
      float[] target,
      int to,
      int pitch,
      MemorySegment scratch) {
    int even = depth + (depth & 1);
    if (x.hasDenseColumns() && !x.hasDenseRows()) {
      int count = (int) Math.min(x.rows() - row, (long) panels * A);
      for (int k = 0; k < even; k++) {
        decodeColumn(x, matrix, row, count, column, k, depth, panels * A, scratch, 0);
        spread(scratch, 0, 0, panels, 1, target, to + k * A, pitch);
      }
      return;
    }
    for (int p = 0; p < panels; p += TOGETHER) {
      int together = Math.min(TOGETHER, panels - p);
      for (int k = 0; k < depth; k += CHUNK) {
        turn(
            x,
            matrix,
            row + (long) p * A,
            together * A,
            column + k,
            Math.min(CHUNK, depth - k),
            scratch,
            scratch,
            COLUMNS,
            TURNED_PITCH,
            NEXT);
        int columns = Math.min(CHUNK, even - k);
        int at = to + p * pitch + k * A;
        spread(scratch, COLUMNS, TURNED_PITCH, together, columns, target, at, pitch);
      }
    }
  }

  /**
   * Stores columns to panels of the left operand, whole vectors of each: what is too much in one is
   * overwritten by the next.
   *
   * @param apart bytes from a column to the next in the scratch memory
   * @param to where the first column goes in the first panel
   */
  private static void spread(
      MemorySegment scratch,
      long from,
      long apart,
      int panels,
      int columns,
      float[] target,
      int to,
      int pitch) {
    MemorySegment src = Segments.exact(scratch);
    for (int p = 0; p < panels; p++) {
      for (int k = 0; k < columns; k++) {
        long at = from + k * apart + 4L * p * A;
        for (int i = 0; i < A; i += LANES) {
          FloatVector.fromMemorySegment(F32, src, at + 4L * i, Species.LE)
              .intoArray(target, to + p * pitch + k * A + i);
        }
      }
    }
  }

  /**
   * Packs panels of the right operand.
   *
   * @param x its matrices, transposed: [N, K]
   * @param matrix which of them
   * @param row first row of the first panel
   * @param panels number of panels, as {@link #panelsB} counts them
   * @param column first column packed
   * @param depth columns packed, at most {@link #DEPTH}
   * @param to byte of {@code target} where the first panel is; the others follow {@link #pitchB}
   *     apart
   * @param scratch a row buffer
   */
  public static void packB(
      GemmOperand x,
      long matrix,
      long row,
      int panels,
      long column,
      int depth,
      MemorySegment target,
      long to,
      MemorySegment scratch) {
    long pitch = 4L * pitchB(depth);
    if (x.hasDenseColumns() && !(x.hasDenseRows() && x.rows() < B)) {
      int width = panels * B;
      for (int from = 0; from < width; from += PackingBuffers.ROW_FLOATS) {
        int run = Math.min(PackingBuffers.ROW_FLOATS, width - from);
        int count = Math.clamp(x.rows() - row - from, 0, run);
        for (int k = 0; k < rounded(depth); k++) {
          decodeColumn(x, matrix, row + from, count, column, k, depth, run, scratch, 0);
          scatter(scratch, run / B, target, to + from / B * pitch + 4L * k * B, pitch);
        }
      }
      return;
    }
    long half = B > 8 ? NEXT : pitch;
    for (int from = 0; from < panels * B; from += PanelTranspose.ROWS) {
      long at = to + from / B * pitch + 4L * (from % B);
      for (int k = 0; k < depth; k += CHUNK) {
        turn(
            x,
            matrix,
            row + from,
            PanelTranspose.ROWS,
            column + k,
            Math.min(CHUNK, depth - k),
            scratch,
            target,
            at + 4L * k * B,
            4L * B,
            half);
      }
    }
  }

  /**
   * Turns {@code rows} rows, at most {@link PanelTranspose#ROWS}, or those that there are and
   * zeros; what it makes of further ones means nothing. F32 needs no decoding and is read where it
   * is, if enough rows and whole vectors of columns are there; so is BF16, two columns as one.
   */
  private static void turn(
      GemmOperand x,
      long matrix,
      long row,
      int rows,
      long column,
      int depth,
      MemorySegment scratch,
      MemorySegment target,
      long to,
      long pitch,
      long half) {
    if (x.isPlainF32() && depth % ROUND == 0 && row + PanelTranspose.ROWS <= x.rows()) {
      PanelTranspose.transpose(
          x.storage().data(),
          4 * x.index(matrix, row, column),
          4 * x.rowStride(),
          depth,
          scratch,
          ROW_BYTES,
          target,
          to,
          pitch,
          half);
    } else if (x.isPlainBf16()
        && depth % (2 * ROUND) == 0
        && row + PanelTranspose.ROWS <= x.rows()) {
      PanelTranspose.transpose(
          x.storage().data(),
          2 * x.index(matrix, row, column),
          2 * x.rowStride(),
          depth / 2,
          scratch,
          ROW_BYTES,
          scratch,
          TURNED,
          TURNED_PITCH,
          NEXT);
      separate(scratch, TURNED, depth / 2, target, to, pitch, half);
    } else {
      int count = Math.clamp(x.rows() - row, 0, rows);
      decodeRows(x, matrix, row, count, rows, column, depth, scratch);
      PanelTranspose.transpose(
          scratch, 0, ROW_BYTES, depth, scratch, ROW_BYTES, target, to, pitch, half);
    }
  }

  /**
   * Makes two columns of F32 of each column of pairs of BF16. A BF16 is the upper half of an F32:
   *
   * <pre>
   *   pair           b15 … b0 a15 … a0
   *   first column   a15 … a0 0  …  0      pair &lt;&lt; 16
   *   second         b15 … b0 0  …  0      pair &amp; FFFF0000
   * </pre>
   *
   * So every value is exact; a NaN keeps its payload, and what is computed from it is a NaN.
   */
  private static void separate(
      MemorySegment pairs,
      long from,
      int columns,
      MemorySegment target,
      long to,
      long pitch,
      long half) {
    MemorySegment src = Segments.exact(pairs);
    MemorySegment dst = Segments.exact(target);
    for (int k = 0; k < columns; k++) {
      for (int i = 0; i < PanelTranspose.ROWS; i += LANES) {
        IntVector pair =
            IntVector.fromMemorySegment(
                Species.INT, src, from + k * TURNED_PITCH + 4L * i, Species.LE);
        long at = to + 2L * k * pitch + i / 8 * half + 4L * (i % 8);
        pair.lanewise(VectorOperators.LSHL, 16).intoMemorySegment(dst, at, Species.LE);
        pair.and(0xFFFF0000).intoMemorySegment(dst, at + pitch, Species.LE);
      }
    }
  }

  /** A step of K to its place in each panel. */
  private static void scatter(
      MemorySegment scratch, int panels, MemorySegment panelsB, long to, long pitch) {
    MemorySegment src = Segments.exact(scratch);
    MemorySegment dst = Segments.exact(panelsB);
    for (int p = 0; p < panels; p++) {
      long from = 4L * p * B;
      long at = to + p * pitch;
      FloatVector.fromMemorySegment(F32, src, from, Species.LE)
          .intoMemorySegment(dst, at, Species.LE);
      FloatVector.fromMemorySegment(F32, src, from + 4L * LANES, Species.LE)
          .intoMemorySegment(dst, at + 4L * LANES, Species.LE);
    }
  }

  /** Decodes part of a column, with zeros up to the width, or zeros past the depth. */
  private static void decodeColumn(
      GemmOperand x,
      long matrix,
      long row,
      int count,
      long column,
      int k,
      int depth,
      int width,
      MemorySegment scratch,
      long at) {
    if (k < depth && count > 0) {
      Decoders.decodeScaled(x.storage(), x.index(matrix, row, column + k), count, scratch, at);
      clear(scratch, at + 4L * count, width - count);
    } else {
      clear(scratch, at, width);
    }
  }

  /**
   * Decodes rows to the start of a row buffer, {@link #ROW_BYTES} apart, with zeros behind each,
   * and instead of those after the last.
   */
  private static void decodeRows(
      GemmOperand x,
      long matrix,
      long row,
      int count,
      int rows,
      long column,
      int depth,
      MemorySegment scratch) {
    for (int r = 0; r < count; r++) {
      x.decodeRow(matrix, row + r, column, depth, scratch, r * ROW_BYTES);
      clear(scratch, r * ROW_BYTES + 4L * depth, rounded(depth) - depth);
    }
    for (int r = count; r < rows; r++) {
      clear(scratch, r * ROW_BYTES, rounded(depth));
    }
  }

  private static void clear(MemorySegment scratch, long from, int floats) {
    MemorySegment dst = Segments.exact(scratch);
    FloatVector zero = FloatVector.zero(F32);
    int i = 0;
    for (; i <= floats - LANES; i += LANES) {
      zero.intoMemorySegment(dst, from + 4L * i, Species.LE);
    }
    for (; i < floats; i++) {
      dst.set(FLOAT, from + 4L * i, 0);
    }
  }

  static void copy(MemorySegment from, long fromByte, float[] to, int at, int count) {
    MemorySegment src = Segments.exact(from);
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector.fromMemorySegment(F32, src, fromByte + (long) i * Float.BYTES, Species.LE)
          .intoArray(to, at + i);
    }
    for (; i < count; i++) {
      to[at + i] = src.get(FLOAT, fromByte + (long) i * Float.BYTES);
    }
  }
}
