package dev.minifloat.cpu.internal;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The register tile of the matrix product: {@link #ROWS} × {@link #COLUMNS} sums held in registers
 * while K runs.
 *
 * <pre>
 *   c[ROWS, COLUMNS] += Σ_k a[k, ROWS] · b[k, COLUMNS]      one FMA for each product, k ascending
 * </pre>
 *
 * <p>Each step of K loads two vectors of b and broadcasts ROWS floats of a. With 512-bit vectors
 * come 32 registers, which hold 12 × 2 sums, two vectors of b and a broadcast; with narrower ones
 * there may be 16 registers only, so 6 × 2. {@link #TALL} is a constant to the compiler, so rows 6
 * to 11 vanish from the narrow version of this one text. The sums are single variables because an
 * array of vectors would put each of them on the heap.
 *
 * <p>Panels and sums are Java arrays: their bounds checks are cheaper than a segment's, and the
 * loop then runs at the FMA units' speed.
 */
final class GemmTile {
  private static final VectorSpecies<Float> F32 = Species.FLOAT;
  private static final int LANES = F32.length();
  private static final boolean TALL = LANES >= 16;

  /** Rows of a tile. */
  static final int ROWS = TALL ? 12 : 6;

  /** Columns of a tile. */
  static final int COLUMNS = 2 * LANES;

  private GemmTile() {}

  /**
   * Adds the product of two panels to a tile.
   *
   * @param a panel [depth, ROWS] at {@code aFrom}
   * @param b panel [depth, COLUMNS] at {@code bFrom}
   * @param c sums at {@code to}, rows {@code pitch} apart
   */
  static void multiply(
      float[] a, int aFrom, float[] b, int bFrom, int depth, float[] c, int to, int pitch) {
    FloatVector zero = FloatVector.zero(F32);
    FloatVector c0 = FloatVector.fromArray(F32, c, to + 0 * pitch);
    FloatVector d0 = FloatVector.fromArray(F32, c, to + 0 * pitch + LANES);
    FloatVector c1 = FloatVector.fromArray(F32, c, to + 1 * pitch);
    FloatVector d1 = FloatVector.fromArray(F32, c, to + 1 * pitch + LANES);
    FloatVector c2 = FloatVector.fromArray(F32, c, to + 2 * pitch);
    FloatVector d2 = FloatVector.fromArray(F32, c, to + 2 * pitch + LANES);
    FloatVector c3 = FloatVector.fromArray(F32, c, to + 3 * pitch);
    FloatVector d3 = FloatVector.fromArray(F32, c, to + 3 * pitch + LANES);
    FloatVector c4 = FloatVector.fromArray(F32, c, to + 4 * pitch);
    FloatVector d4 = FloatVector.fromArray(F32, c, to + 4 * pitch + LANES);
    FloatVector c5 = FloatVector.fromArray(F32, c, to + 5 * pitch);
    FloatVector d5 = FloatVector.fromArray(F32, c, to + 5 * pitch + LANES);
    FloatVector c6 = zero;
    FloatVector d6 = zero;
    FloatVector c7 = zero;
    FloatVector d7 = zero;
    FloatVector c8 = zero;
    FloatVector d8 = zero;
    FloatVector c9 = zero;
    FloatVector d9 = zero;
    FloatVector c10 = zero;
    FloatVector d10 = zero;
    FloatVector c11 = zero;
    FloatVector d11 = zero;
    if (TALL) {
      c6 = FloatVector.fromArray(F32, c, to + 6 * pitch);
      d6 = FloatVector.fromArray(F32, c, to + 6 * pitch + LANES);
      c7 = FloatVector.fromArray(F32, c, to + 7 * pitch);
      d7 = FloatVector.fromArray(F32, c, to + 7 * pitch + LANES);
      c8 = FloatVector.fromArray(F32, c, to + 8 * pitch);
      d8 = FloatVector.fromArray(F32, c, to + 8 * pitch + LANES);
      c9 = FloatVector.fromArray(F32, c, to + 9 * pitch);
      d9 = FloatVector.fromArray(F32, c, to + 9 * pitch + LANES);
      c10 = FloatVector.fromArray(F32, c, to + 10 * pitch);
      d10 = FloatVector.fromArray(F32, c, to + 10 * pitch + LANES);
      c11 = FloatVector.fromArray(F32, c, to + 11 * pitch);
      d11 = FloatVector.fromArray(F32, c, to + 11 * pitch + LANES);
    }
    FloatVector x;
    for (int k = 0; k < depth; k++) {
      int from = aFrom + k * ROWS;
      int row = bFrom + k * COLUMNS;
      FloatVector left = FloatVector.fromArray(F32, b, row);
      FloatVector right = FloatVector.fromArray(F32, b, row + LANES);
      x = FloatVector.broadcast(F32, a[from + 0]);
      c0 = x.fma(left, c0);
      d0 = x.fma(right, d0);
      x = FloatVector.broadcast(F32, a[from + 1]);
      c1 = x.fma(left, c1);
      d1 = x.fma(right, d1);
      x = FloatVector.broadcast(F32, a[from + 2]);
      c2 = x.fma(left, c2);
      d2 = x.fma(right, d2);
      x = FloatVector.broadcast(F32, a[from + 3]);
      c3 = x.fma(left, c3);
      d3 = x.fma(right, d3);
      x = FloatVector.broadcast(F32, a[from + 4]);
      c4 = x.fma(left, c4);
      d4 = x.fma(right, d4);
      x = FloatVector.broadcast(F32, a[from + 5]);
      c5 = x.fma(left, c5);
      d5 = x.fma(right, d5);
      if (TALL) {
        x = FloatVector.broadcast(F32, a[from + 6]);
        c6 = x.fma(left, c6);
        d6 = x.fma(right, d6);
        x = FloatVector.broadcast(F32, a[from + 7]);
        c7 = x.fma(left, c7);
        d7 = x.fma(right, d7);
        x = FloatVector.broadcast(F32, a[from + 8]);
        c8 = x.fma(left, c8);
        d8 = x.fma(right, d8);
        x = FloatVector.broadcast(F32, a[from + 9]);
        c9 = x.fma(left, c9);
        d9 = x.fma(right, d9);
        x = FloatVector.broadcast(F32, a[from + 10]);
        c10 = x.fma(left, c10);
        d10 = x.fma(right, d10);
        x = FloatVector.broadcast(F32, a[from + 11]);
        c11 = x.fma(left, c11);
        d11 = x.fma(right, d11);
      }
    }
    c0.intoArray(c, to + 0 * pitch);
    d0.intoArray(c, to + 0 * pitch + LANES);
    c1.intoArray(c, to + 1 * pitch);
    d1.intoArray(c, to + 1 * pitch + LANES);
    c2.intoArray(c, to + 2 * pitch);
    d2.intoArray(c, to + 2 * pitch + LANES);
    c3.intoArray(c, to + 3 * pitch);
    d3.intoArray(c, to + 3 * pitch + LANES);
    c4.intoArray(c, to + 4 * pitch);
    d4.intoArray(c, to + 4 * pitch + LANES);
    c5.intoArray(c, to + 5 * pitch);
    d5.intoArray(c, to + 5 * pitch + LANES);
    if (TALL) {
      c6.intoArray(c, to + 6 * pitch);
      d6.intoArray(c, to + 6 * pitch + LANES);
      c7.intoArray(c, to + 7 * pitch);
      d7.intoArray(c, to + 7 * pitch + LANES);
      c8.intoArray(c, to + 8 * pitch);
      d8.intoArray(c, to + 8 * pitch + LANES);
      c9.intoArray(c, to + 9 * pitch);
      d9.intoArray(c, to + 9 * pitch + LANES);
      c10.intoArray(c, to + 10 * pitch);
      d10.intoArray(c, to + 10 * pitch + LANES);
      c11.intoArray(c, to + 11 * pitch);
      d11.intoArray(c, to + 11 * pitch + LANES);
    }
  }
}
