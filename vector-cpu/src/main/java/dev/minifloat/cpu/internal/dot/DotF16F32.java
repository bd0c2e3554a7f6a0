package dev.minifloat.cpu.internal.dot;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.codec.PackedElements;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/**
 * F16 · F32, the halves decoded to an array by chunks: a loop that reads elements of two sizes the
 * compiler doesn't vectorise.
 */
final class DotF16F32 implements DotFused {
  private static final int STEP = 2 * LANES;

  @Override
  public float dot(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n, DotScratch.Pool pool) {
    DotScratch scratch = pool.take();
    float[] floats = scratch.sums();
    float sum = 0;
    for (int i = 0; i < n; i += floats.length) {
      int count = Math.min(floats.length, n - i);
      DotF16.decode(a, aFrom + 2L * i, count, floats);
      sum += multiply(floats, b, bFrom + 4L * i, count);
    }
    pool.give(scratch);
    return sum;
  }

  private static float multiply(float[] a, MemorySegment b, long bFrom, int n) {
    int whole = n & -STEP;
    float rest = 0;
    for (int i = whole; i < n; i++) {
      rest = Math.fma(a[i], b.get(PackedElements.FLOAT, bFrom + 4L * i), rest);
    }
    FloatVector s0 = FloatVector.zero(FLOAT);
    FloatVector s1 = s0;
    for (int i = 0; i < whole; i += STEP) {
      s0 =
          FloatVector.fromArray(FLOAT, a, i)
              .fma(FloatVector.fromMemorySegment(FLOAT, b, bFrom + 4L * i, LE), s0);
      s1 =
          FloatVector.fromArray(FLOAT, a, i + LANES)
              .fma(FloatVector.fromMemorySegment(FLOAT, b, bFrom + 4L * (i + LANES), LE), s1);
    }
    FloatVector s = FLOATS.cast(s0).add(s1);
    s = LANES >= 16 ? s.add(s.rearrange(DotLanes.EIGHT_AWAY)) : s;
    s = LANES >= 8 ? s.add(s.rearrange(DotLanes.FOUR_AWAY)) : s;
    s = s.add(s.rearrange(DotLanes.TWO_AWAY));
    s = s.add(s.rearrange(DotLanes.ONE_AWAY));
    return rest + s.lane(0);
  }
}
