package dev.minifloat.cpu.internal.dot;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.cpu.internal.runtime.ClassCopies;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * BF16 · BF16. A word holds two elements, each the upper half of an F32; so infinities, NaNs,
 * subnormals and −0 are what they are:
 *
 * <pre>
 *   word          odd: s eeeeeeee mmmmmmm | even: s eeeeeeee mmmmmmm
 *   &lt;&lt; 16         even                    | 0
 *   &amp; FFFF0000    odd                     | 0
 * </pre>
 *
 * <p>{@link DotKernels} makes a copy for brief calls and one for others.
 */
final class DotBf16 implements DotFused {
  /** Whether its calls are brief, see {@link #BRIEF}. */
  private static final boolean BRIEFLY = ClassCopies.data(MethodHandles.lookup(), Boolean.class);

  private static final int V = LANES * Integer.BYTES;

  /** Bytes of a step. */
  private static final int STEP = BRIEFLY ? 2 * V : 4 * V;

  /** Bytes that the loop counts by; single ones where it must start at once. */
  private static final int UNIT = BRIEFLY ? 1 : STEP;

  private static final int ODD = 0xFFFF0000;

  @Override
  public int most() {
    return BRIEFLY ? BRIEF : MOST;
  }

  @Override
  public float dot(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n, DotScratch.Pool pool) {
    int bytes = n * Short.BYTES;
    int whole = bytes & -STEP;
    int done = whole / Short.BYTES;
    float rest = done == n ? 0 : tail(a, aFrom + whole, b, bFrom + whole, n - done);
    MemorySegment left = BRIEFLY ? Segments.slice(a, aFrom, whole) : Segments.exact(a);
    MemorySegment right = BRIEFLY ? Segments.slice(b, bFrom, whole) : Segments.exact(b);
    long at = BRIEFLY ? 0 : aFrom;
    long bt = BRIEFLY ? 0 : bFrom;
    IntVector odd = IntVector.broadcast(INT, ODD);
    FloatVector s0 = FloatVector.zero(FLOAT);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    for (int j = 0; j < whole / UNIT; j += STEP / UNIT) {
      IntVector x = IntVector.fromMemorySegment(INT, left, at + (long) j * UNIT, LE);
      IntVector y = IntVector.fromMemorySegment(INT, right, bt + (long) j * UNIT, LE);
      s0 =
          x.lanewise(VectorOperators.LSHL, 16)
              .reinterpretAsFloats()
              .fma(y.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats(), s0);
      s1 = x.and(odd).reinterpretAsFloats().fma(y.and(odd).reinterpretAsFloats(), s1);
      x = IntVector.fromMemorySegment(INT, left, at + (long) j * UNIT + V, LE);
      y = IntVector.fromMemorySegment(INT, right, bt + (long) j * UNIT + V, LE);
      s2 =
          x.lanewise(VectorOperators.LSHL, 16)
              .reinterpretAsFloats()
              .fma(y.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats(), s2);
      s3 = x.and(odd).reinterpretAsFloats().fma(y.and(odd).reinterpretAsFloats(), s3);
      if (!BRIEFLY) {
        x = IntVector.fromMemorySegment(INT, left, at + (long) j * UNIT + 2L * V, LE);
        y = IntVector.fromMemorySegment(INT, right, bt + (long) j * UNIT + 2L * V, LE);
        s0 =
            x.lanewise(VectorOperators.LSHL, 16)
                .reinterpretAsFloats()
                .fma(y.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats(), s0);
        s1 = x.and(odd).reinterpretAsFloats().fma(y.and(odd).reinterpretAsFloats(), s1);
        x = IntVector.fromMemorySegment(INT, left, at + (long) j * UNIT + 3L * V, LE);
        y = IntVector.fromMemorySegment(INT, right, bt + (long) j * UNIT + 3L * V, LE);
        s2 =
            x.lanewise(VectorOperators.LSHL, 16)
                .reinterpretAsFloats()
                .fma(y.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats(), s2);
        s3 = x.and(odd).reinterpretAsFloats().fma(y.and(odd).reinterpretAsFloats(), s3);
      }
    }
    FloatVector s = FLOATS.cast(s0).add(s1).add(FLOATS.cast(s2).add(s3));
    s = LANES >= 16 ? s.add(s.rearrange(DotLanes.EIGHT_AWAY)) : s;
    s = LANES >= 8 ? s.add(s.rearrange(DotLanes.FOUR_AWAY)) : s;
    s = s.add(s.rearrange(DotLanes.TWO_AWAY));
    s = s.add(s.rearrange(DotLanes.ONE_AWAY));
    return rest + s.lane(0);
  }

  private static float tail(MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n) {
    MemorySegment left = Segments.exact(a);
    MemorySegment right = Segments.exact(b);
    int vectors = n / (2 * LANES);
    FloatVector s = FloatVector.zero(FLOAT);
    for (int i = 0; i < vectors; i++) {
      IntVector x = IntVector.fromMemorySegment(INT, left, aFrom + (long) i * V, LE);
      IntVector y = IntVector.fromMemorySegment(INT, right, bFrom + (long) i * V, LE);
      s =
          x.lanewise(VectorOperators.LSHL, 16)
              .reinterpretAsFloats()
              .fma(y.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats(), s);
      s = x.and(ODD).reinterpretAsFloats().fma(y.and(ODD).reinterpretAsFloats(), s);
    }
    s = FLOATS.cast(s);
    s = LANES >= 16 ? s.add(s.rearrange(DotLanes.EIGHT_AWAY)) : s;
    s = LANES >= 8 ? s.add(s.rearrange(DotLanes.FOUR_AWAY)) : s;
    s = s.add(s.rearrange(DotLanes.TWO_AWAY));
    float sum = s.add(s.rearrange(DotLanes.ONE_AWAY)).lane(0);
    for (int i = vectors * 2 * LANES; i < n; i++) {
      sum =
          Math.fma(
              DotF32Bf16.value(left, aFrom + 2L * i), DotF32Bf16.value(right, bFrom + 2L * i), sum);
    }
    return sum;
  }
}
