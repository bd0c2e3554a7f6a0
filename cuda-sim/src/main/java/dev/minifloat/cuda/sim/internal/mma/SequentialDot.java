package dev.minifloat.cuda.sim.internal.mma;

import dev.minifloat.cuda.sim.internal.numeric.Exact;
import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;

/** One F32 fused multiply-add after the other, k ascending. */
public final class SequentialDot implements DotProduct {
  @Override
  public long dot(
      Terms a, int aStart, Terms b, int bStart, int length, long c, FloatFormat accumulator) {
    float sum = (float) accumulator.decode((int) c);
    boolean scaled = a.scaled || b.scaled;
    for (int i = 0; i < length; i++) {
      double x = a.values[aStart + i];
      double y = b.values[bStart + i];
      // Scaled numbers may lie beyond F32, but not their few bits beyond a double.
      sum = scaled ? (float) Exact.multiplyAdd(x, y, sum) : Math.fma((float) x, (float) y, sum);
    }
    return accumulator.encode(sum, Rounding.NEAREST_EVEN, false) & 0xFFFF_FFFFL;
  }
}
