package dev.minifloat.cpu.internal.gemv;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.DType;
import dev.minifloat.cpu.internal.gemm.PackingBuffers;
import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;

/**
 * Products of four rows of F32 or BF16, in their own memory or decoded, with groups of four
 * vectors.
 *
 * <p>The vectors lie so that one counter finds them all, with zeros behind what there is; for BF16
 * even and odd elements apart, as a row's words are taken apart:
 *
 * <pre>
 *         turn 0                                     turn 1
 *   F32   [v0: k 0 … 15][v1: …][v2: …][v3: …]        [v0: k 16 … 31][v1: …] …
 *   BF16  [v0: k 0 2 … 30][v1][v2][v3][v0: k 1 3 … 31][v1][v2][v3]  [v0: k 32 34 …] …
 * </pre>
 */
final class GemvTile {
  private static final int GROUP = GemvSquare.SIDE;

  private static final long V = (long) LANES * Float.BYTES;

  /** Bytes of a vector's worth of each x of a group. */
  private static final long QUAD = GROUP * V;

  private static final IntVector EVEN = IntVector.zero(INT).addIndex(2);
  private static final IntVector ODD = EVEN.add(1);

  private static final GemvSquare OF_F32 = square(DType.F32);
  private static final GemvSquare OF_BF16 = square(DType.BF16);

  private Memory.Block block;
  private GemvSquare square;

  /** Vectors of elements in a turn: two of BF16. */
  private int parts;

  private int groups;
  private int turns;

  /** A new kernel for F32 or BF16. */
  static GemvSquare square(DType dtype) {
    return ClassCopies.instantiate(
        MethodHandles.lookup(), GemvSquare.class, GemvSquares.class, dtype);
  }

  /**
   * Begins a product.
   *
   * @param bf16 whether rows are of BF16
   * @param x the vectors, [matrices, vectors, depth]
   */
  void begin(
      PackingBuffers buffers, boolean bf16, float[] x, int matrices, int vectors, int depth) {
    square = bf16 ? OF_BF16 : OF_F32;
    parts = bf16 ? 2 : 1;
    groups = Math.ceilDiv(vectors, GROUP);
    turns = Math.ceilDiv(depth, turn());
    block = buffers.takeBytes((long) matrices * groups * turns * parts * QUAD);
    MemorySegment target = block.segment();
    if (vectors % GROUP != 0 || depth % turn() != 0) {
      target.fill((byte) 0);
    }
    for (int matrix = 0; matrix < matrices; matrix++) {
      for (int v = 0; v < vectors; v++) {
        int from = (matrix * vectors + v) * depth;
        long to = (long) first(matrix, v / GROUP, 0) * parts * QUAD + v % GROUP * V;
        if (bf16) {
          separate(x, from, depth, target, to);
        } else {
          spread(x, from, depth, target, to);
        }
      }
    }
  }

  /** Ends it. */
  void end() {
    if (block != null) {
      block.close();
      block = null;
    }
  }

  /** Elements of a row that are taken in a turn. */
  private int turn() {
    return parts * LANES;
  }

  /** Vectors that {@link #multiply} has sums for: a multiple of four. */
  static int padded(int vectors) {
    return Math.ceilDiv(vectors, GROUP) * GROUP;
  }

  private int first(int matrix, int group, int k) {
    return (matrix * groups + group) * turns + k / turn();
  }

  /** Brings a vector to every fourth place. */
  private static void spread(float[] x, int from, int count, MemorySegment target, long to) {
    MemorySegment y = Segments.exact(target);
    int k = 0;
    for (; k <= count - LANES; k += LANES) {
      FloatVector.fromArray(FLOAT, x, from + k)
          .intoMemorySegment(y, to + (long) k * GROUP * Float.BYTES, LE);
    }
    long last = to + (long) k * GROUP * Float.BYTES;
    for (int i = k; i < count; i++) {
      y.set(ValueLayout.JAVA_FLOAT, last + (long) (i - k) * Float.BYTES, x[from + i]);
    }
  }

  /** Brings a vector's even and odd elements to every fourth place, in turn. */
  private static void separate(float[] x, int from, int count, MemorySegment target, long to) {
    MemorySegment y = Segments.exact(target);
    int k = 0;
    for (; k <= count - 2 * LANES; k += 2 * LANES) {
      IntVector a = FloatVector.fromArray(FLOAT, x, from + k).reinterpretAsInts();
      IntVector b = FloatVector.fromArray(FLOAT, x, from + k + LANES).reinterpretAsInts();
      long at = to + (long) k * GROUP * Float.BYTES;
      EVEN.selectFrom(a, b).intoMemorySegment(y, at, LE);
      ODD.selectFrom(a, b).intoMemorySegment(y, at + QUAD, LE);
    }
    long last = to + (long) k * GROUP * Float.BYTES;
    for (int i = k; i < count; i++) {
      long at = last + ((i - k) & 1) * QUAD + (long) (i - k) / 2 * Float.BYTES;
      y.set(ValueLayout.JAVA_FLOAT, at, x[from + i]);
    }
  }

  /**
   * Adds the products of four rows with all vectors to their sums.
   *
   * @param rows where the rows are; what is behind them up to a whole turn meets zeros, so it must
   *     be finite
   * @param at byte of the first row's first element
   * @param rowBytes bytes from a row to the next
   * @param k column that they begin at, a multiple of a turn's elements
   * @param count columns
   * @param lanes the sums, {@code LANES} floats for each
   * @param to the floats of the first row's sum with the first vector
   * @param stride floats from a vector's sum to the next one's
   */
  void multiply(
      MemorySegment rows,
      long at,
      long rowBytes,
      int matrix,
      int k,
      int count,
      float[] lanes,
      int to,
      int stride) {
    int some = Math.ceilDiv(count, turn());
    MemorySegment x = block.segment();
    for (int group = 0; group < groups; group++) {
      int first = first(matrix, group, k);
      int sum = to + group * GROUP * stride;
      square.multiply(rows, at, rowBytes, x, first, some, lanes, sum, stride);
    }
  }
}
