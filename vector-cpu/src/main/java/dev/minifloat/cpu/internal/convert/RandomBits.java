package dev.minifloat.cpu.internal.convert;

import static dev.minifloat.cpu.internal.runtime.Exact.LONGS;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.codec.Philox;
import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Species;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * The random bits of runs of elements: {@link Philox}, several blocks at a time.
 *
 * <p>The low half of a 64-bit lane is a counter word, so that the product of two such lanes, high
 * halves cleared, is the one of 32 × 32 → 64 bits. Four vectors are the four words of {@link
 * #BLOCKS} blocks; written to memory as two words a lane they are interleaved to the order of
 * elements:
 *
 * <pre>
 *   c1 &lt;&lt; 32 | c0    c3 &lt;&lt; 32 | c2     lane i: block i
 * </pre>
 */
public final class RandomBits {
  private static final VectorSpecies<Long> LONG =
      VectorSpecies.of(long.class, VectorShape.forBitSize(Species.BITS));

  /** Blocks of four words that are computed at a time. */
  private static final int BLOCKS = LANES / 2;

  private static final long LOW = 0xFFFFFFFFL;
  private static final LongVector COUNT = LongVector.zero(LONG).addIndex(1);

  /** Lanes a0 b0 a1 b1 … of two vectors a, b: the lower half of them, and the upper. */
  private static final LongVector FIRST = interleaved(0);

  private static final LongVector SECOND = interleaved(BLOCKS / 2);

  private RandomBits() {}

  private static LongVector interleaved(int from) {
    long[] lanes = new long[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
      lanes[i] = from + i / 2 + (long) (i % 2) * BLOCKS;
    }
    return LongVector.fromArray(LONG, lanes, 0);
  }

  /** Words that {@link #fill} may write behind the last. */
  public static final int SLACK = 4 * BLOCKS + 4;

  /**
   * Writes the words of elements {@code index … index + count − 1}, and up to {@link #SLACK} others
   * around them, and returns the byte offset of the first one.
   */
  static long fill(long seed, long index, int count, MemorySegment dst, long at) {
    int lead = (int) (index & 3);
    int blocks = (lead + count + 3) / 4;
    MemorySegment y = Segments.exact(dst);
    long first = index >>> 2;
    LongVector m0 = LongVector.broadcast(LONG, Philox.M0).and(LOW);
    LongVector m1 = LongVector.broadcast(LONG, Philox.M1).and(LOW);
    LongVector lanes = COUNT;
    LongVector head = FIRST;
    LongVector tail = SECOND;
    for (int i = 0; i < blocks; i += BLOCKS) {
      LongVector counter = lanes.add(first + i);
      LongVector c0 = counter;
      LongVector c1 = counter.lanewise(VectorOperators.LSHR, 32);
      LongVector c2 = LongVector.zero(LONG);
      LongVector c3 = c2;
      int k0 = (int) seed;
      int k1 = (int) (seed >>> 32);
      for (int round = 0; round < Philox.ROUNDS; round++) {
        // Both factors are masked in sight of the product, so that it takes one instruction.
        LongVector p0 = LONGS.cast(c0).and(LOW).mul(m0);
        LongVector p1 = LONGS.cast(c2).and(LOW).mul(m1);
        // In the low halves: the product's upper word ^ c ^ k. The high halves are of no account.
        c0 =
            p1.lanewise(VectorOperators.LSHR, 32)
                .lanewise(VectorOperators.XOR, c1)
                .lanewise(VectorOperators.XOR, (long) k0);
        c2 =
            p0.lanewise(VectorOperators.LSHR, 32)
                .lanewise(VectorOperators.XOR, c3)
                .lanewise(VectorOperators.XOR, (long) k1);
        c1 = p1;
        c3 = p0;
        k0 += Philox.W0;
        k1 += Philox.W1;
      }
      LongVector low =
          LONGS.cast(c1).lanewise(VectorOperators.LSHL, 32).or(LONGS.cast(c0).and(LOW));
      LongVector high =
          LONGS.cast(c3).lanewise(VectorOperators.LSHL, 32).or(LONGS.cast(c2).and(LOW));
      head.selectFrom(low, high).intoMemorySegment(y, at + 16L * i, LE);
      tail.selectFrom(low, high).intoMemorySegment(y, at + 16L * i + 8L * BLOCKS, LE);
    }
    return at + 4L * lead;
  }
}
