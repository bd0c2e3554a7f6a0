package dev.minifloat.cpu.internal.dot;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/** F32 · F32: four independent sums, two loads for each FMA. */
final class DotF32 implements DotFused {
  private static final int V = LANES * Float.BYTES;

  /** Bytes of a step. */
  private static final int STEP = 4 * V;

  @Override
  public int most() {
    return BRIEF;
  }

  @Override
  public float dot(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n, DotScratch.Pool pool) {
    int bytes = n * Float.BYTES;
    int whole = bytes & -STEP;
    int done = whole / Float.BYTES;
    float rest = done == n ? 0 : tail(a, aFrom + whole, b, bFrom + whole, n - done);
    MemorySegment x = Segments.slice(a, aFrom, whole);
    MemorySegment y = Segments.slice(b, bFrom, whole);
    FloatVector s0 = FloatVector.zero(FLOAT);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    for (int i = 0; i < whole; i += STEP) {
      s0 =
          FloatVector.fromMemorySegment(FLOAT, x, i, LE)
              .fma(FloatVector.fromMemorySegment(FLOAT, y, i, LE), s0);
      s1 =
          FloatVector.fromMemorySegment(FLOAT, x, i + (long) V, LE)
              .fma(FloatVector.fromMemorySegment(FLOAT, y, i + (long) V, LE), s1);
      s2 =
          FloatVector.fromMemorySegment(FLOAT, x, i + 2L * V, LE)
              .fma(FloatVector.fromMemorySegment(FLOAT, y, i + 2L * V, LE), s2);
      s3 =
          FloatVector.fromMemorySegment(FLOAT, x, i + 3L * V, LE)
              .fma(FloatVector.fromMemorySegment(FLOAT, y, i + 3L * V, LE), s3);
    }
    FloatVector s = FLOATS.cast(s0).add(s1).add(FLOATS.cast(s2).add(s3));
    s = LANES >= 16 ? s.add(s.rearrange(DotLanes.EIGHT_AWAY)) : s;
    s = LANES >= 8 ? s.add(s.rearrange(DotLanes.FOUR_AWAY)) : s;
    s = s.add(s.rearrange(DotLanes.TWO_AWAY));
    s = s.add(s.rearrange(DotLanes.ONE_AWAY));
    return rest + s.lane(0);
  }

  private static float tail(MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n) {
    MemorySegment x = Segments.exact(a);
    MemorySegment y = Segments.exact(b);
    int vectors = n / LANES;
    FloatVector s = FloatVector.zero(FLOAT);
    for (int i = 0; i < vectors; i++) {
      s =
          FloatVector.fromMemorySegment(FLOAT, x, aFrom + (long) i * V, LE)
              .fma(FloatVector.fromMemorySegment(FLOAT, y, bFrom + (long) i * V, LE), s);
    }
    s = FLOATS.cast(s);
    s = LANES >= 16 ? s.add(s.rearrange(DotLanes.EIGHT_AWAY)) : s;
    s = LANES >= 8 ? s.add(s.rearrange(DotLanes.FOUR_AWAY)) : s;
    s = s.add(s.rearrange(DotLanes.TWO_AWAY));
    float sum = s.add(s.rearrange(DotLanes.ONE_AWAY)).lane(0);
    for (int i = vectors * LANES; i < n; i++) {
      float u = x.get(PackedElements.FLOAT, aFrom + 4L * i);
      sum = Math.fma(u, y.get(PackedElements.FLOAT, bFrom + 4L * i), sum);
    }
    return sum;
  }
}
