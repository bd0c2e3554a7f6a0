package dev.minifloat.cpu.internal.dot;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Exact.INTS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;
import static dev.minifloat.cpu.internal.runtime.Species.SHORT;

import dev.minifloat.codec.PackedElements;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/** F32 · BF16, the halves widened in their order and moved to the upper half of their lane. */
final class DotF32Bf16 implements DotFused {
  /** Elements of a step. */
  private static final int STEP = 2 * LANES;

  @Override
  public float dot(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n, DotScratch.Pool pool) {
    int whole = n & -STEP;
    float rest = tail(a, aFrom + 4L * whole, b, bFrom + 2L * whole, n - whole);
    FloatVector s0 = FloatVector.zero(FLOAT);
    FloatVector s1 = s0;
    for (int i = 0; i < whole; i += STEP) {
      s0 =
          INTS.cast(
                  ShortVector.fromMemorySegment(SHORT, b, bFrom + 2L * i, LE)
                      .convertShape(VectorOperators.ZERO_EXTEND_S2I, INT, 0))
              .lanewise(VectorOperators.LSHL, 16)
              .reinterpretAsFloats()
              .fma(FloatVector.fromMemorySegment(FLOAT, a, aFrom + 4L * i, LE), s0);
      s1 =
          INTS.cast(
                  ShortVector.fromMemorySegment(SHORT, b, bFrom + 2L * (i + LANES), LE)
                      .convertShape(VectorOperators.ZERO_EXTEND_S2I, INT, 0))
              .lanewise(VectorOperators.LSHL, 16)
              .reinterpretAsFloats()
              .fma(FloatVector.fromMemorySegment(FLOAT, a, aFrom + 4L * (i + LANES), LE), s1);
    }
    FloatVector s = FLOATS.cast(s0).add(s1);
    s = LANES >= 16 ? s.add(s.rearrange(DotLanes.EIGHT_AWAY)) : s;
    s = LANES >= 8 ? s.add(s.rearrange(DotLanes.FOUR_AWAY)) : s;
    s = s.add(s.rearrange(DotLanes.TWO_AWAY));
    s = s.add(s.rearrange(DotLanes.ONE_AWAY));
    return rest + s.lane(0);
  }

  private static float tail(MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) {
      float x = a.get(PackedElements.FLOAT, aFrom + 4L * i);
      sum = Math.fma(x, value(b, bFrom + 2L * i), sum);
    }
    return sum;
  }

  /** The BF16 at a byte offset. */
  static float value(MemorySegment x, long at) {
    return Float.intBitsToFloat(x.get(PackedElements.SHORT, at) << 16);
  }
}
