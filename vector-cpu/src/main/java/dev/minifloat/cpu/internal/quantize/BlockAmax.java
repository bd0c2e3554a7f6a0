package dev.minifloat.cpu.internal.quantize;

import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Work;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.IntVector;

/**
 * The amax of many short blocks that lie one behind the other, without a reduction of a vector for
 * each: a tree of maxima over the whole run. First the vectors of a block are halved in number
 * until there is one for each, then neighbouring lanes:
 *
 * <pre>
 *   a0 a1 a2 a3 | b0 b1 b2 b3   →   a01 a23 b01 b23     and, with two of these,   →   a b c d
 * </pre>
 */
final class BlockAmax {
  private static final int MAGNITUDE = 0x7FFFFFFF;

  /** Lane numbers of two vectors in a row: the even ones, and the odd ones. */
  private static final IntVector EVEN = IntVector.zero(INT).addIndex(2);

  private static final IntVector ODD = EVEN.add(1);

  private BlockAmax() {}

  /** Whether blocks of so many elements are handled. */
  static boolean handles(long block) {
    return block >= LANES && block <= Work.RUN && Long.bitCount(block) == 1;
  }

  /**
   * Writes the bits of the amax of the first blocks of a run to ints at {@code to}, and returns
   * their number, the largest multiple of {@link Species#LANES} that {@code n} elements hold.
   *
   * @param tree scratch memory for half as many elements, at {@code treeAt}
   */
  static int blocks(
      MemorySegment values,
      long from,
      int n,
      int block,
      MemorySegment tree,
      long treeAt,
      MemorySegment dst,
      long to) {
    int blocks = n / (block * LANES) * LANES;
    if (blocks == 0) {
      return 0;
    }
    MemorySegment src = values;
    long at = from;
    int vectors = blocks * (block / LANES);
    int last = blocks / LANES;
    // Two levels at a time, where it can: each pass costs its loads and stores.
    for (; vectors > 2 * blocks; vectors >>= 1) {
      halve(src, at, vectors >> 1, tree, treeAt);
      src = tree;
      at = treeAt;
    }
    if (vectors > blocks) {
      vectors >>= 2;
      halveAndFold(src, at, vectors, vectors > last ? tree : dst, vectors > last ? treeAt : to);
      src = tree;
      at = treeAt;
    }
    for (; vectors >= 4 * last; vectors >>= 2) {
      boolean ends = vectors == 4 * last;
      foldTwice(src, at, vectors >> 2, ends ? dst : tree, ends ? to : treeAt);
      src = tree;
      at = treeAt;
    }
    if (vectors == 2 * last) {
      fold(src, at, last, dst, to);
    }
    return blocks;
  }

  /** The maxima of each two vectors; targets may lie at the start of the source. */
  private static void halve(
      MemorySegment values, long from, int vectors, MemorySegment dst, long to) {
    MemorySegment x = Segments.exact(values);
    MemorySegment y = Segments.exact(dst);
    int n = vectors * LANES;
    for (int i = 0; i < n; i += LANES) {
      long at = from + 8L * i;
      IntVector a = IntVector.fromMemorySegment(INT, x, at, LE).and(MAGNITUDE);
      IntVector b = IntVector.fromMemorySegment(INT, x, at + 4L * LANES, LE).and(MAGNITUDE);
      a.max(b).intoMemorySegment(y, to + 4L * i, LE);
    }
  }

  /** The maxima of each two vectors, and of each two lanes of those: from four vectors to one. */
  private static void halveAndFold(
      MemorySegment values, long from, int vectors, MemorySegment dst, long to) {
    MemorySegment x = Segments.exact(values);
    MemorySegment y = Segments.exact(dst);
    IntVector even = EVEN;
    IntVector odd = ODD;
    int n = vectors * LANES;
    for (int i = 0; i < n; i += LANES) {
      long at = from + 16L * i;
      IntVector a = IntVector.fromMemorySegment(INT, x, at, LE).and(MAGNITUDE);
      IntVector b = IntVector.fromMemorySegment(INT, x, at + 4L * LANES, LE).and(MAGNITUDE);
      IntVector c = IntVector.fromMemorySegment(INT, x, at + 8L * LANES, LE).and(MAGNITUDE);
      IntVector d = IntVector.fromMemorySegment(INT, x, at + 12L * LANES, LE).and(MAGNITUDE);
      IntVector p = a.max(b);
      IntVector q = c.max(d);
      even.selectFrom(p, q).max(odd.selectFrom(p, q)).intoMemorySegment(y, to + 4L * i, LE);
    }
  }

  /** The maxima of each four lanes, from four vectors to one. */
  private static void foldTwice(
      MemorySegment values, long from, int vectors, MemorySegment dst, long to) {
    MemorySegment x = Segments.exact(values);
    MemorySegment y = Segments.exact(dst);
    IntVector even = EVEN;
    IntVector odd = ODD;
    int n = vectors * LANES;
    for (int i = 0; i < n; i += LANES) {
      long at = from + 16L * i;
      IntVector a = IntVector.fromMemorySegment(INT, x, at, LE).and(MAGNITUDE);
      IntVector b = IntVector.fromMemorySegment(INT, x, at + 4L * LANES, LE).and(MAGNITUDE);
      IntVector c = IntVector.fromMemorySegment(INT, x, at + 8L * LANES, LE).and(MAGNITUDE);
      IntVector d = IntVector.fromMemorySegment(INT, x, at + 12L * LANES, LE).and(MAGNITUDE);
      IntVector p = even.selectFrom(a, b).max(odd.selectFrom(a, b));
      IntVector q = even.selectFrom(c, d).max(odd.selectFrom(c, d));
      even.selectFrom(p, q).max(odd.selectFrom(p, q)).intoMemorySegment(y, to + 4L * i, LE);
    }
  }

  /** The maxima of each two lanes, from two vectors to one. */
  private static void fold(
      MemorySegment values, long from, int vectors, MemorySegment dst, long to) {
    MemorySegment x = Segments.exact(values);
    MemorySegment y = Segments.exact(dst);
    IntVector even = EVEN;
    IntVector odd = ODD;
    int n = vectors * LANES;
    for (int i = 0; i < n; i += LANES) {
      long at = from + 8L * i;
      IntVector a = IntVector.fromMemorySegment(INT, x, at, LE).and(MAGNITUDE);
      IntVector b = IntVector.fromMemorySegment(INT, x, at + 4L * LANES, LE).and(MAGNITUDE);
      even.selectFrom(a, b).max(odd.selectFrom(a, b)).intoMemorySegment(y, to + 4L * i, LE);
    }
  }
}
