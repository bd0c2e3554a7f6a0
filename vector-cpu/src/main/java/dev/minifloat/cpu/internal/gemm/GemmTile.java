package dev.minifloat.cpu.internal.gemm;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;

import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Species;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The register tile of the matrix product: {@link #ROWS} × {@link #COLUMNS} sums held in registers
 * while K runs.
 *
 * <pre>
 *   c[ROWS, COLUMNS] (+)= Σ_k a[k, ROWS] · b[k, COLUMNS]     one FMA for each product, k ascending
 * </pre>
 *
 * <p>Each step of K loads two vectors of b and broadcasts ROWS floats of a. With 512-bit vectors
 * come 32 registers, which hold 12 × 2 sums, two vectors of b and a broadcast or two; with narrower
 * ones there may be 16 registers only, so 6 × 2. {@link #TALL} is a constant to the compiler, so
 * rows 6 to 11 vanish from the narrow version of this one text. The sums are single variables
 * because an array of vectors would put each of them on the heap.
 *
 * <p>Panels of b lie in native memory, aligned to cache lines: they stream from the second-level
 * cache, and loads across two lines would cost some of the speed. Panels of a are turned as well:
 * in a Java array, where the floats of a step come to one bounds check and one address, they are
 * one stream, which a prefetcher follows from a far cache. Rows apart from each other are as many
 * streams, and their long displacements made the compiler keep sums in memory. Two steps a turn
 * halve the integer instructions that compete for the FMA units' ports.
 *
 * <p>The loop counts floats of a, and the position in b goes along. Both as multiples of one
 * counter would free the loop of bounds checks, but for the price of two slow turns outside of it,
 * and of more integers than there are registers: the compiler then keeps some in vector registers,
 * and moves between them at the ports of the FMA units take a quarter of the speed.
 */
public final class GemmTile {
  private static final VectorSpecies<Float> F32 = Species.FLOAT;
  private static final int LANES = Species.LANES;
  private static final boolean TALL = LANES >= 16;

  /** Rows of a tile. */
  public static final int ROWS = TALL ? 12 : 6;

  /** Columns of a tile. */
  public static final int COLUMNS = 2 * LANES;

  /** Bytes of a vector, and of a step of b. */
  private static final int V = LANES * Float.BYTES;

  private static final int STEP = 2 * V;

  /** What a tile begins with that has no sums yet; its rows are 0 apart. */
  static final float[] ZEROS = new float[COLUMNS];

  private GemmTile() {}

  /** The product of two panels to a tile whose rows lie one behind the other. */
  public static void multiply(
      float[] a, int aFrom, MemorySegment panels, int bFrom, int depth, float[] c, int to) {
    multiply(a, aFrom, panels, bFrom, depth, ZEROS, 0, 0, c, to, COLUMNS);
  }

  /**
   * Adds the product of two panels to the sums of a tile.
   *
   * <p>Sums that don't exist yet are loaded all the same, from {@link #ZEROS}: vectors that meet
   * from two branches would be put on the heap.
   *
   * @param a where panel [depth, ROWS] is, at {@code aFrom}
   * @param panels where panel [depth, COLUMNS] is, in native memory
   * @param bFrom float at which it begins
   * @param depth even
   * @param before sums so far at {@code since}, rows {@code stride} apart
   * @param c where the sums go, at {@code to}, rows {@code pitch} apart
   */
  public static void multiply(
      float[] a,
      int aFrom,
      MemorySegment panels,
      int bFrom,
      int depth,
      float[] before,
      int since,
      int stride,
      float[] c,
      int to,
      int pitch) {
    MemorySegment b = Segments.exact(panels);
    FloatVector zero = FloatVector.zero(F32);
    FloatVector c0 = FloatVector.fromArray(F32, before, since + 0 * stride);
    FloatVector d0 = FloatVector.fromArray(F32, before, since + 0 * stride + LANES);
    FloatVector c1 = FloatVector.fromArray(F32, before, since + 1 * stride);
    FloatVector d1 = FloatVector.fromArray(F32, before, since + 1 * stride + LANES);
    FloatVector c2 = FloatVector.fromArray(F32, before, since + 2 * stride);
    FloatVector d2 = FloatVector.fromArray(F32, before, since + 2 * stride + LANES);
    FloatVector c3 = FloatVector.fromArray(F32, before, since + 3 * stride);
    FloatVector d3 = FloatVector.fromArray(F32, before, since + 3 * stride + LANES);
    FloatVector c4 = FloatVector.fromArray(F32, before, since + 4 * stride);
    FloatVector d4 = FloatVector.fromArray(F32, before, since + 4 * stride + LANES);
    FloatVector c5 = FloatVector.fromArray(F32, before, since + 5 * stride);
    FloatVector d5 = FloatVector.fromArray(F32, before, since + 5 * stride + LANES);
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
      c6 = FloatVector.fromArray(F32, before, since + 6 * stride);
      d6 = FloatVector.fromArray(F32, before, since + 6 * stride + LANES);
      c7 = FloatVector.fromArray(F32, before, since + 7 * stride);
      d7 = FloatVector.fromArray(F32, before, since + 7 * stride + LANES);
      c8 = FloatVector.fromArray(F32, before, since + 8 * stride);
      d8 = FloatVector.fromArray(F32, before, since + 8 * stride + LANES);
      c9 = FloatVector.fromArray(F32, before, since + 9 * stride);
      d9 = FloatVector.fromArray(F32, before, since + 9 * stride + LANES);
      c10 = FloatVector.fromArray(F32, before, since + 10 * stride);
      d10 = FloatVector.fromArray(F32, before, since + 10 * stride + LANES);
      c11 = FloatVector.fromArray(F32, before, since + 11 * stride);
      d11 = FloatVector.fromArray(F32, before, since + 11 * stride + LANES);
    }
    FloatVector x;
    int at = bFrom;
    for (int from = aFrom; from < aFrom + depth * ROWS; from += 2 * ROWS) {
      long row = 4L * at;
      at += 2 * COLUMNS;
      FloatVector left = FloatVector.fromMemorySegment(F32, b, row, Species.LE);
      FloatVector right = FloatVector.fromMemorySegment(F32, b, row + V, Species.LE);
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
      left = FloatVector.fromMemorySegment(F32, b, row + STEP, Species.LE);
      right = FloatVector.fromMemorySegment(F32, b, row + STEP + V, Species.LE);
      x = FloatVector.broadcast(F32, a[from + ROWS + 0]);
      c0 = x.fma(left, c0);
      d0 = x.fma(right, d0);
      x = FloatVector.broadcast(F32, a[from + ROWS + 1]);
      c1 = x.fma(left, c1);
      d1 = x.fma(right, d1);
      x = FloatVector.broadcast(F32, a[from + ROWS + 2]);
      c2 = x.fma(left, c2);
      d2 = x.fma(right, d2);
      x = FloatVector.broadcast(F32, a[from + ROWS + 3]);
      c3 = x.fma(left, c3);
      d3 = x.fma(right, d3);
      x = FloatVector.broadcast(F32, a[from + ROWS + 4]);
      c4 = x.fma(left, c4);
      d4 = x.fma(right, d4);
      x = FloatVector.broadcast(F32, a[from + ROWS + 5]);
      c5 = x.fma(left, c5);
      d5 = x.fma(right, d5);
      if (TALL) {
        x = FloatVector.broadcast(F32, a[from + ROWS + 6]);
        c6 = x.fma(left, c6);
        d6 = x.fma(right, d6);
        x = FloatVector.broadcast(F32, a[from + ROWS + 7]);
        c7 = x.fma(left, c7);
        d7 = x.fma(right, d7);
        x = FloatVector.broadcast(F32, a[from + ROWS + 8]);
        c8 = x.fma(left, c8);
        d8 = x.fma(right, d8);
        x = FloatVector.broadcast(F32, a[from + ROWS + 9]);
        c9 = x.fma(left, c9);
        d9 = x.fma(right, d9);
        x = FloatVector.broadcast(F32, a[from + ROWS + 10]);
        c10 = x.fma(left, c10);
        d10 = x.fma(right, d10);
        x = FloatVector.broadcast(F32, a[from + ROWS + 11]);
        c11 = x.fma(left, c11);
        d11 = x.fma(right, d11);
      }
    }
    FLOATS.cast(c0).intoArray(c, to + 0 * pitch);
    FLOATS.cast(d0).intoArray(c, to + 0 * pitch + LANES);
    FLOATS.cast(c1).intoArray(c, to + 1 * pitch);
    FLOATS.cast(d1).intoArray(c, to + 1 * pitch + LANES);
    FLOATS.cast(c2).intoArray(c, to + 2 * pitch);
    FLOATS.cast(d2).intoArray(c, to + 2 * pitch + LANES);
    FLOATS.cast(c3).intoArray(c, to + 3 * pitch);
    FLOATS.cast(d3).intoArray(c, to + 3 * pitch + LANES);
    FLOATS.cast(c4).intoArray(c, to + 4 * pitch);
    FLOATS.cast(d4).intoArray(c, to + 4 * pitch + LANES);
    FLOATS.cast(c5).intoArray(c, to + 5 * pitch);
    FLOATS.cast(d5).intoArray(c, to + 5 * pitch + LANES);
    if (TALL) {
      FLOATS.cast(c6).intoArray(c, to + 6 * pitch);
      FLOATS.cast(d6).intoArray(c, to + 6 * pitch + LANES);
      FLOATS.cast(c7).intoArray(c, to + 7 * pitch);
      FLOATS.cast(d7).intoArray(c, to + 7 * pitch + LANES);
      FLOATS.cast(c8).intoArray(c, to + 8 * pitch);
      FLOATS.cast(d8).intoArray(c, to + 8 * pitch + LANES);
      FLOATS.cast(c9).intoArray(c, to + 9 * pitch);
      FLOATS.cast(d9).intoArray(c, to + 9 * pitch + LANES);
      FLOATS.cast(c10).intoArray(c, to + 10 * pitch);
      FLOATS.cast(d10).intoArray(c, to + 10 * pitch + LANES);
      FLOATS.cast(c11).intoArray(c, to + 11 * pitch);
      FLOATS.cast(d11).intoArray(c, to + 11 * pitch + LANES);
    }
  }
}
