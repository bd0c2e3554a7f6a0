package dev.minifloat.cpu.internal.dot;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.codec.PackedElements;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/** F32 · F32: four independent sums, two loads for each FMA. */
final class DotF32 implements DotFused {
  private static final int V = LANES * Float.BYTES;
  private static final int STEP = 4 * V;

  @Override
  public float dot(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n, DotScratch.Pool pool) {
    int bytes = n * Float.BYTES;
    int whole = bytes & -STEP;
    float rest = whole == bytes ? 0 : tail(a, aFrom + whole, b, bFrom + whole, bytes - whole);
    FloatVector s0 = FloatVector.zero(FLOAT);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    for (int i = 0; i < whole; i += STEP) {
      s0 =
          FloatVector.fromMemorySegment(FLOAT, a, aFrom + i, LE)
              .fma(FloatVector.fromMemorySegment(FLOAT, b, bFrom + i, LE), s0);
      s1 =
          FloatVector.fromMemorySegment(FLOAT, a, aFrom + i + V, LE)
              .fma(FloatVector.fromMemorySegment(FLOAT, b, bFrom + i + V, LE), s1);
      s2 =
          FloatVector.fromMemorySegment(FLOAT, a, aFrom + i + 2L * V, LE)
              .fma(FloatVector.fromMemorySegment(FLOAT, b, bFrom + i + 2L * V, LE), s2);
      s3 =
          FloatVector.fromMemorySegment(FLOAT, a, aFrom + i + 3L * V, LE)
              .fma(FloatVector.fromMemorySegment(FLOAT, b, bFrom + i + 3L * V, LE), s3);
    }
    FloatVector s = s0.add(s1).add(s2.add(s3));
    s = LANES >= 16 ? s.add(s.rearrange(DotLanes.EIGHT_AWAY)) : s;
    s = LANES >= 8 ? s.add(s.rearrange(DotLanes.FOUR_AWAY)) : s;
    s = s.add(s.rearrange(DotLanes.TWO_AWAY));
    s = s.add(s.rearrange(DotLanes.ONE_AWAY));
    return rest + s.lane(0);
  }

  private static float tail(MemorySegment a, long aFrom, MemorySegment b, long bFrom, int bytes) {
    int whole = bytes & -V;
    FloatVector s = FloatVector.zero(FLOAT);
    for (int i = 0; i < whole; i += V) {
      s =
          FloatVector.fromMemorySegment(FLOAT, a, aFrom + i, LE)
              .fma(FloatVector.fromMemorySegment(FLOAT, b, bFrom + i, LE), s);
    }
    s = LANES >= 16 ? s.add(s.rearrange(DotLanes.EIGHT_AWAY)) : s;
    s = LANES >= 8 ? s.add(s.rearrange(DotLanes.FOUR_AWAY)) : s;
    s = s.add(s.rearrange(DotLanes.TWO_AWAY));
    float sum = s.add(s.rearrange(DotLanes.ONE_AWAY)).lane(0);
    for (int i = whole; i < bytes; i += Float.BYTES) {
      sum =
          Math.fma(
              a.get(PackedElements.FLOAT, aFrom + i), b.get(PackedElements.FLOAT, bFrom + i), sum);
    }
    return sum;
  }
}
