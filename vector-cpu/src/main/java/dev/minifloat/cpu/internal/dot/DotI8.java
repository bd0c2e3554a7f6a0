package dev.minifloat.cpu.internal.dot;

import static dev.minifloat.cpu.internal.runtime.Exact.INTS;
import static dev.minifloat.cpu.internal.runtime.Exact.SHORTS;
import static dev.minifloat.cpu.internal.runtime.Species.BITS;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LE;
import static dev.minifloat.cpu.internal.runtime.Species.WIDE_SHORT;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * I8 · I8, exactly.
 *
 * <p>A product is between −16256 and 16384 and fits 16 bits, a sum of two in all cases but one:
 * twice (−128)² is 32768. So 1 is taken off each sum of two, and given back at the end. Of a word
 * of two such sums the upper one is shifted down, the lower one up and down.
 */
final class DotI8 implements DotFused {
  /** As many bytes as fill a vector of shorts. */
  private static final VectorSpecies<Byte> HALF =
      VectorSpecies.of(byte.class, VectorShape.forBitSize(BITS / 2));

  private static final int V = HALF.length();
  private static final int STEP = 2 * V;

  @Override
  public float dot(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n, DotScratch.Pool pool) {
    int whole = n & -STEP;
    int rest = tail(a, aFrom + whole, b, bFrom + whole, n - whole) + whole / 2;
    IntVector lower = IntVector.zero(INT);
    IntVector upper = lower;
    for (int i = 0; i < whole; i += STEP) {
      IntVector sums =
          SHORTS
              .cast(
                  ByteVector.fromMemorySegment(HALF, a, aFrom + i, LE)
                      .convertShape(VectorOperators.B2S, WIDE_SHORT, 0))
              .mul(
                  SHORTS.cast(
                      ByteVector.fromMemorySegment(HALF, b, bFrom + i, LE)
                          .convertShape(VectorOperators.B2S, WIDE_SHORT, 0)))
              .add(
                  SHORTS
                      .cast(
                          ByteVector.fromMemorySegment(HALF, a, aFrom + i + V, LE)
                              .convertShape(VectorOperators.B2S, WIDE_SHORT, 0))
                      .mul(
                          SHORTS.cast(
                              ByteVector.fromMemorySegment(HALF, b, bFrom + i + V, LE)
                                  .convertShape(VectorOperators.B2S, WIDE_SHORT, 0))))
              .sub((short) 1)
              .reinterpretAsInts();
      lower =
          INTS.cast(lower)
              .add(sums.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16));
      upper = INTS.cast(upper).add(sums.lanewise(VectorOperators.ASHR, 16));
    }
    // At most 2^16 · 2^14; addition of ints has no order to keep.
    return rest + INTS.cast(lower).add(upper).reduceLanes(VectorOperators.ADD);
  }

  private static int tail(MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
      sum += a.get(ValueLayout.JAVA_BYTE, aFrom + i) * b.get(ValueLayout.JAVA_BYTE, bFrom + i);
    }
    return sum;
  }
}
