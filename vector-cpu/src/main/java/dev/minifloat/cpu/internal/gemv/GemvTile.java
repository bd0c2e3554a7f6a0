package dev.minifloat.cpu.internal.gemv;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.cpu.internal.gemm.PackingBuffers;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.FloatVector;

/**
 * Products of decoded rows with groups of four vectors: two rows at a time, so that six loads serve
 * eight multiply-adds.
 *
 * <p>The vectors lie so that one counter finds them all, with zeros behind what there is:
 *
 * <pre>
 *   step 0                                     step 1
 *   [v0: k 0 … 15][v1: …][v2: …][v3: …]        [v0: k 16 … 31][v1: …] …
 * </pre>
 */
final class GemvTile {
  /** Vectors of a group. */
  private static final int GROUP = 4;

  /** Turns of a tile: the second one still finds the vectors in the first-level cache. */
  private static final int MOST_TURNS = 512 / LANES;

  private static final long V = (long) LANES * Float.BYTES;
  private static final long X_STEP = GROUP * V;

  private Memory.Block block;
  private int groups;
  private int steps;

  /**
   * Begins a product.
   *
   * @param x the vectors, [matrices, vectors, depth]
   */
  void begin(PackingBuffers buffers, float[] x, int matrices, int vectors, int depth) {
    groups = Math.ceilDiv(vectors, GROUP);
    steps = Math.ceilDiv(depth, LANES);
    block = buffers.takeBytes((long) matrices * groups * steps * X_STEP);
    MemorySegment target = block.segment();
    target.fill((byte) 0);
    for (int matrix = 0; matrix < matrices; matrix++) {
      for (int v = 0; v < vectors; v++) {
        int from = (matrix * vectors + v) * depth;
        long to = first(matrix, v / GROUP, 0) * X_STEP + v % GROUP * V;
        for (int step = 0; step < steps; step++) {
          int count = Math.min(LANES, depth - step * LANES);
          MemorySegment.copy(
              x, from + step * LANES, target, ValueLayout.JAVA_FLOAT, to + step * X_STEP, count);
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

  /** Vectors that {@link #multiply} has sums for: a multiple of four. */
  static int padded(int vectors) {
    return Math.ceilDiv(vectors, GROUP) * GROUP;
  }

  private int first(int matrix, int group, int k) {
    return (matrix * groups + group) * steps + k / LANES;
  }

  /**
   * Adds the products of four rows with all vectors to their sums.
   *
   * @param rows the rows, decoded, with zeros up to a multiple of {@code LANES}
   * @param pitch bytes from a row to the next
   * @param k column that they begin at, a multiple of {@code LANES}
   * @param count columns
   * @param lanes the sums, {@code LANES} floats for each
   * @param to the floats of the first row's sum with the first vector
   * @param stride floats from a vector's sum to the next one's
   */
  void multiply(
      MemorySegment rows,
      long pitch,
      int matrix,
      int k,
      int count,
      float[] lanes,
      int to,
      int stride) {
    int turns = Math.ceilDiv(count, LANES);
    MemorySegment x = block.segment();
    for (int group = 0; group < groups; group++) {
      int sum = to + group * GROUP * stride;
      for (int turn = 0; turn < turns; turn += MOST_TURNS) {
        int first = first(matrix, group, k) + turn;
        int some = Math.min(MOST_TURNS, turns - turn);
        tile(rows, turn * V, pitch, x, first, some, lanes, sum, stride);
        tile(rows, turn * V + 2 * pitch, pitch, x, first, some, lanes, sum + 2 * LANES, stride);
      }
    }
  }

  private static void tile(
      MemorySegment rows,
      long at,
      long pitch,
      MemorySegment x,
      int first,
      int turns,
      float[] lanes,
      int to,
      int stride) {
    MemorySegment w = Segments.exact(rows);
    MemorySegment v = Segments.exact(x);
    FloatVector a0 = FloatVector.zero(FLOAT);
    FloatVector a1 = a0;
    FloatVector a2 = a0;
    FloatVector a3 = a0;
    FloatVector b0 = a0;
    FloatVector b1 = a0;
    FloatVector b2 = a0;
    FloatVector b3 = a0;
    long start = at - first * V;
    long second = start + pitch;
    int end = first + turns;
    for (int i = first; i < end; i++) {
      FloatVector w0 = FloatVector.fromMemorySegment(FLOAT, w, start + i * V, LE);
      FloatVector w1 = FloatVector.fromMemorySegment(FLOAT, w, second + i * V, LE);
      FloatVector x0 = FloatVector.fromMemorySegment(FLOAT, v, i * X_STEP, LE);
      a0 = w0.fma(x0, a0);
      b0 = w1.fma(x0, b0);
      FloatVector x1 = FloatVector.fromMemorySegment(FLOAT, v, i * X_STEP + V, LE);
      a1 = w0.fma(x1, a1);
      b1 = w1.fma(x1, b1);
      FloatVector x2 = FloatVector.fromMemorySegment(FLOAT, v, i * X_STEP + 2 * V, LE);
      a2 = w0.fma(x2, a2);
      b2 = w1.fma(x2, b2);
      FloatVector x3 = FloatVector.fromMemorySegment(FLOAT, v, i * X_STEP + 3 * V, LE);
      a3 = w0.fma(x3, a3);
      b3 = w1.fma(x3, b3);
    }
    // Written out, as everything that takes vectors: a method might not be inlined.
    a0.add(FloatVector.fromArray(FLOAT, lanes, to)).intoArray(lanes, to);
    b0.add(FloatVector.fromArray(FLOAT, lanes, to + LANES)).intoArray(lanes, to + LANES);
    a1.add(FloatVector.fromArray(FLOAT, lanes, to + stride)).intoArray(lanes, to + stride);
    b1.add(FloatVector.fromArray(FLOAT, lanes, to + stride + LANES))
        .intoArray(lanes, to + stride + LANES);
    a2.add(FloatVector.fromArray(FLOAT, lanes, to + 2 * stride)).intoArray(lanes, to + 2 * stride);
    b2.add(FloatVector.fromArray(FLOAT, lanes, to + 2 * stride + LANES))
        .intoArray(lanes, to + 2 * stride + LANES);
    a3.add(FloatVector.fromArray(FLOAT, lanes, to + 3 * stride)).intoArray(lanes, to + 3 * stride);
    b3.add(FloatVector.fromArray(FLOAT, lanes, to + 3 * stride + LANES))
        .intoArray(lanes, to + 3 * stride + LANES);
  }
}
