package dev.minifloat.cpu.internal.dot;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;
import static dev.minifloat.cpu.internal.runtime.Species.WIDE_SHORT;

import dev.minifloat.DType;
import dev.minifloat.codec.Codec;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * E2M1 · E2M1 in blocks with scales, for vectors of 16 words, of which each holds eight elements of
 * one block.
 *
 * <p>Twice a value is an integer up to 12, so products and their sums are exact in 16 bits:
 *
 * <pre>
 *   word                 h g f e | d c b a     eight nibbles
 *   &gt;&gt; 4j                    … f |     … b     nibble j of each half lowest, j = 1
 *   looked up                2·f |     2·b     the five lowest bits count, in a table repeated once
 *   products, j = 0 … 3  sum of 4 | sum of 4   at most 4 · 144
 *   sum of the halves    4 · Σ a·b             at most 1152
 * </pre>
 *
 * <p>That sum, times the quarter of both scales' product, is added in F32.
 */
final class DotNibbles {
  /** Bytes of a vector. */
  private static final int V = LANES * Integer.BYTES;

  /** Elements of a step. */
  static final int STEP = 2 * V;

  /** A step is a vector of this many words. */
  static final int WORDS = 16;

  /** Twice the value of each code; twice, since the look-up takes five bits. */
  private static final short[] VALUES = new short[2 * WORDS];

  static {
    for (int code = 0; code < VALUES.length; code++) {
      VALUES[code] = (short) (2 * Codec.decode(DType.F4_E2M1, code & 15));
    }
  }

  /** Words of one block, by their lanes: of 16 elements and of 32. */
  private static final int[] OF_SIXTEEN = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};

  private static final int[] OF_THIRTY_TWO = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};

  private DotNibbles() {}

  /**
   * The sum of {@code steps} · {@link #STEP} products.
   *
   * @param block elements of a block, 16 or 32
   * @param factors a quarter of the product of both scales for each block, and 16 floats behind
   */
  static float dot(
      MemorySegment a,
      long aFrom,
      MemorySegment b,
      long bFrom,
      int steps,
      int block,
      float[] factors) {
    MemorySegment left = Segments.exact(a);
    MemorySegment right = Segments.exact(b);
    ShortVector table = ShortVector.fromArray(WIDE_SHORT, VALUES, 0);
    IntVector blocks = IntVector.fromArray(INT, block == 16 ? OF_SIXTEEN : OF_THIRTY_TWO, 0);
    int pitch = STEP / block;
    FloatVector s = FloatVector.zero(FLOAT);
    for (int i = 0; i < steps; i++) {
      IntVector x = IntVector.fromMemorySegment(INT, left, aFrom + (long) i * V, LE);
      IntVector y = IntVector.fromMemorySegment(INT, right, bFrom + (long) i * V, LE);
      ShortVector products =
          x.reinterpretAsShorts().selectFrom(table).mul(y.reinterpretAsShorts().selectFrom(table));
      products =
          products.add(
              x.lanewise(VectorOperators.LSHR, 4)
                  .reinterpretAsShorts()
                  .selectFrom(table)
                  .mul(
                      y.lanewise(VectorOperators.LSHR, 4).reinterpretAsShorts().selectFrom(table)));
      products =
          products.add(
              x.lanewise(VectorOperators.LSHR, 8)
                  .reinterpretAsShorts()
                  .selectFrom(table)
                  .mul(
                      y.lanewise(VectorOperators.LSHR, 8).reinterpretAsShorts().selectFrom(table)));
      products =
          products.add(
              x.lanewise(VectorOperators.LSHR, 12)
                  .reinterpretAsShorts()
                  .selectFrom(table)
                  .mul(
                      y.lanewise(VectorOperators.LSHR, 12)
                          .reinterpretAsShorts()
                          .selectFrom(table)));
      IntVector halves = products.reinterpretAsInts();
      s =
          FLOATS
              .cast(
                  halves
                      .lanewise(VectorOperators.ASHR, 16)
                      .add(
                          halves
                              .lanewise(VectorOperators.LSHL, 16)
                              .lanewise(VectorOperators.ASHR, 16))
                      .convert(VectorOperators.I2F, 0))
              .fma(
                  blocks
                      .selectFrom(
                          FloatVector.fromArray(FLOAT, factors, i * pitch).reinterpretAsInts())
                      .reinterpretAsFloats(),
                  s);
    }
    s = FLOATS.cast(s);
    s = s.add(s.rearrange(DotLanes.EIGHT_AWAY));
    s = s.add(s.rearrange(DotLanes.FOUR_AWAY));
    s = s.add(s.rearrange(DotLanes.TWO_AWAY));
    s = s.add(s.rearrange(DotLanes.ONE_AWAY));
    return s.lane(0);
  }
}
