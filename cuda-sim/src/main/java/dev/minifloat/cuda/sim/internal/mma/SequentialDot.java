package dev.minifloat.cuda.sim.internal.mma;

import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;
import dev.minifloat.cuda.sim.internal.numeric.Rounding;

/** One F32 fused multiply-add after the other, k ascending. */
public final class SequentialDot implements DotProduct {
  @Override
  public long dot(
      Terms a, int aStart, Terms b, int bStart, int length, long c, FloatFormat accumulator) {
    float sum = (float) accumulator.decode((int) c);
    for (int i = 0; i < length; i++) {
      sum = Math.fma(a.values[aStart + i], b.values[bStart + i], sum);
    }
    return accumulator.encode(sum, Rounding.NEAREST_EVEN, false) & 0xFFFF_FFFFL;
  }
}
