package dev.minifloat.cuda.sim.internal.mma;

import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;

/** How a matrix instruction adds a row's products with a column to the accumulator. */
public sealed interface DotProduct permits ExactDot, SequentialDot, ModelDot, GroupedModelDot {
  /**
   * The accumulator after the products.
   *
   * @param a the rows of A
   * @param aStart where the row begins
   * @param b the columns of B
   * @param bStart where the column begins
   * @param length how many products
   * @param c the bits of the accumulator in its format
   * @param accumulator F32 or F16
   * @return the bits of the result in the same format
   */
  long dot(Terms a, int aStart, Terms b, int bStart, int length, long c, FloatFormat accumulator);

  /** The sum if a term is infinite or NaN; order and rounding don't matter to it. */
  static long special(
      Terms a, int aStart, Terms b, int bStart, int length, long c, FloatFormat accumulator) {
    double sum = accumulator.decode((int) c);
    for (int i = 0; i < length; i++) {
      // Exact in a double, so no product of finite numbers becomes infinite.
      sum += a.values[aStart + i] * b.values[bStart + i];
    }
    return accumulator.encode(sum, Rounding.NEAREST_EVEN, false) & 0xFFFF_FFFFL;
  }

  /** Whether a term is infinite or NaN. */
  static boolean isSpecial(
      Terms a, int aStart, Terms b, int bStart, int length, long c, FloatFormat accumulator) {
    int code = (int) c;
    return a.isSpecial(aStart, length)
        || b.isSpecial(bStart, length)
        || accumulator.isNan(code)
        || accumulator.isInfinite(code);
  }
}
