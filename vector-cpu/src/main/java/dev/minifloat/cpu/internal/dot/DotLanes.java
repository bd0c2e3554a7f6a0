package dev.minifloat.cpu.internal.dot;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;

import jdk.incubator.vector.VectorShuffle;

/**
 * The steps by which kernels of {@link DotFused} add the lanes of a sum, in the order of {@link
 * VectorMath#sum}. That method itself is soon compiled for its many callers, is then too big to be
 * inlined, and puts its argument on the heap; so kernels write the steps out.
 */
final class DotLanes {
  static final VectorShuffle<Float> EIGHT_AWAY = away(8);
  static final VectorShuffle<Float> FOUR_AWAY = away(4);
  static final VectorShuffle<Float> TWO_AWAY = away(2);
  static final VectorShuffle<Float> ONE_AWAY = away(1);

  private DotLanes() {}

  private static VectorShuffle<Float> away(int distance) {
    return VectorShuffle.fromOp(FLOAT, lane -> (lane ^ distance) & (LANES - 1));
  }
}
