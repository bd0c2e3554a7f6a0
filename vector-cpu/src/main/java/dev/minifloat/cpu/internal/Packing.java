package dev.minifloat.cpu.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Packs rows of a matrix of any format into panels of F32, scales applied.
 *
 * <pre>
 *   panel p = [K, width]: at k·width + r is the value of row p·width + r, column k
 * </pre>
 *
 * <p>Rows past the last are zeros; what they contribute is never stored, so it does no harm that an
 * infinity of the other operand turns them into NaN. The left operand is packed as it is, the right
 * one transposed.
 */
final class Packing {
  /** Columns (steps of K) that one task packs. */
  static final int DEPTH = 256;

  /** Rows that one task packs, roughly. */
  private static final int GROUP_ROWS = 256;

  private static final VectorSpecies<Float> F32 = Species.FLOAT;
  static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  private Packing() {}

  /** Panels that one task packs. */
  static int groupOf(int width) {
    return Math.max(1, GROUP_ROWS / width);
  }

  /**
   * Packs part of some panels.
   *
   * @param x matrices
   * @param matrix which of them
   * @param row first row of the first panel
   * @param panels number of panels, at most {@link #groupOf}
   * @param column first column packed
   * @param depth columns packed, at most {@link #DEPTH}
   * @param to where the first panel's {@code column} is in {@code target}
   * @param pitch floats from a panel to the next
   * @param rows scratch
   */
  static void pack(
      GemmOperand x,
      long matrix,
      long row,
      int panels,
      long column,
      int depth,
      int width,
      float[] target,
      int to,
      int pitch,
      MemorySegment rows) {
    if (x.hasDenseColumns() && !(x.hasDenseRows() && x.rows() < width)) {
      packColumns(x, matrix, row, panels, column, depth, width, target, to, pitch, rows);
    } else {
      for (int p = 0; p < panels; p++) {
        long first = row + (long) p * width;
        int count = Math.clamp(x.rows() - first, 0, width);
        for (int r = 0; r < count; r++) {
          x.decodeRow(matrix, first + r, column, depth, rows, (long) r * depth * Float.BYTES);
        }
        interleave(rows, count, depth, width, target, to + p * pitch);
      }
    }
  }

  /** Where columns are dense: each is decoded over all panels, then cut. */
  private static void packColumns(
      GemmOperand x,
      long matrix,
      long row,
      int panels,
      long column,
      int depth,
      int width,
      float[] target,
      int to,
      int pitch,
      MemorySegment rows) {
    int count = (int) Math.min(x.rows() - row, (long) panels * width);
    for (int k = 0; k < depth; k++) {
      Decoders.decodeScaled(x.storage(), x.index(matrix, row, column + k), count, rows, 0);
      for (int p = 0; p < panels; p++) {
        int at = to + p * pitch + k * width;
        int full = Math.clamp(count - p * width, 0, width);
        copy(rows, (long) p * width * Float.BYTES, target, at, full);
        Arrays.fill(target, at + full, at + width, 0f);
      }
    }
  }

  static void copy(MemorySegment from, long fromByte, float[] to, int at, int count) {
    int lanes = F32.length();
    int i = 0;
    for (; i <= count - lanes; i += lanes) {
      FloatVector.fromMemorySegment(F32, from, fromByte + (long) i * Float.BYTES, Species.LE)
          .intoArray(to, at + i);
    }
    for (; i < count; i++) {
      to[at + i] = from.get(FLOAT, fromByte + (long) i * Float.BYTES);
    }
  }

  /**
   * Transposes {@code count} rows of {@code depth} floats, and adds rows of zeros up to the width.
   */
  private static void interleave(
      MemorySegment rows, int count, int depth, int width, float[] target, int to) {
    long pitch = (long) depth * Float.BYTES;
    for (int r = 0; r < width; r++) {
      if (r < count) {
        long from = r * pitch;
        for (int k = 0; k < depth; k++) {
          target[to + k * width + r] = rows.get(FLOAT, from + (long) k * Float.BYTES);
        }
      } else {
        for (int k = 0; k < depth; k++) {
          target[to + k * width + r] = 0;
        }
      }
    }
  }
}
