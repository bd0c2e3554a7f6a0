package dev.minifloat.cpu.internal.dot;

import static dev.minifloat.cpu.internal.runtime.Exact.FLOATS;
import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/**
 * F16 · F16.
 *
 * <p>The Vector API has no conversion from F16; plain loops over {@link Float#float16ToFloat} the
 * compiler turns into the machine's (which knows infinities, NaNs and subnormals at full speed, as
 * no sequence of shifts and multiplications does where subnormal operands stall). It doesn't keep a
 * sum of floats in a vector, since their order is fixed; so each product goes to one of many sums
 * in an array, which are added as vectors behind the loops.
 *
 * <p>Some 16 turns of each loop, until its stores are aligned and behind its last vector, are not
 * vectors. So short operands take a sum for each product, and long ones the products of both their
 * halves, two for each sum loaded and stored, which makes such turns longer. Of four, with a stream
 * of memory for each part, loops were slower.
 */
final class DotF16 implements DotFused {
  /** Up to so many products each has a sum of its own. */
  private static final int SINGLE = 2048;

  @Override
  public float dot(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n, DotScratch.Pool pool) {
    DotScratch scratch = pool.take();
    float sum =
        n <= SINGLE
            ? single(a, aFrom, b, bFrom, n, scratch.sums())
            : halves(a, aFrom, b, bFrom, n, scratch.sums());
    pool.give(scratch);
    return sum;
  }

  private static float single(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n, float[] products) {
    MemorySegment x = Segments.exact(a);
    MemorySegment y = Segments.exact(b);
    for (int i = 0; i < n; i++) {
      products[i] = value(x, aFrom + 2L * i) * value(y, bFrom + 2L * i);
    }
    return sum(products, n);
  }

  private static float halves(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, int n, float[] sums) {
    int half = n / 2;
    long apart = (long) half * Short.BYTES;
    int count = Math.min(half, sums.length);
    products(a, aFrom, b, bFrom, apart, count, sums);
    for (int i = count; i < half; i += count) {
      int more = Math.min(count, half - i);
      addProducts(a, aFrom + 2L * i, b, bFrom + 2L * i, apart, more, sums);
    }
    float sum = sum(sums, count);
    return n % 2 == 0
        ? sum
        : Math.fma(value(a, aFrom + 2L * (n - 1)), value(b, bFrom + 2L * (n - 1)), sum);
  }

  /** Sums of the {@code n} products here and as many {@code apart} bytes away. */
  private static void products(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, long apart, int n, float[] sums) {
    MemorySegment x = Segments.exact(a);
    MemorySegment y = Segments.exact(b);
    for (int i = 0; i < n; i++) {
      sums[i] =
          Math.fma(
              value(x, aFrom + 2L * i),
              value(y, bFrom + 2L * i),
              value(x, aFrom + apart + 2L * i) * value(y, bFrom + apart + 2L * i));
    }
  }

  private static void addProducts(
      MemorySegment a, long aFrom, MemorySegment b, long bFrom, long apart, int n, float[] sums) {
    MemorySegment x = Segments.exact(a);
    MemorySegment y = Segments.exact(b);
    for (int i = 0; i < n; i++) {
      sums[i] =
          Math.fma(
              value(x, aFrom + 2L * i),
              value(y, bFrom + 2L * i),
              Math.fma(
                  value(x, aFrom + apart + 2L * i), value(y, bFrom + apart + 2L * i), sums[i]));
    }
  }

  /** The element at a byte offset. */
  private static float value(MemorySegment x, long at) {
    return Float.float16ToFloat(x.get(PackedElements.SHORT, at));
  }

  /** Decodes a run to an array. */
  static void decode(MemorySegment source, long from, int n, float[] to) {
    MemorySegment x = Segments.exact(source);
    for (int i = 0; i < n; i++) {
      to[i] = value(x, from + 2L * i);
    }
  }

  private static float sum(float[] sums, int n) {
    int whole = n & -(4 * LANES);
    float rest = 0;
    for (int i = whole; i < n; i++) {
      rest += sums[i];
    }
    FloatVector s0 = FloatVector.zero(FLOAT);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    for (int i = 0; i < whole; i += 4 * LANES) {
      s0 = FLOATS.cast(s0).add(FloatVector.fromArray(FLOAT, sums, i));
      s1 = FLOATS.cast(s1).add(FloatVector.fromArray(FLOAT, sums, i + LANES));
      s2 = FLOATS.cast(s2).add(FloatVector.fromArray(FLOAT, sums, i + 2 * LANES));
      s3 = FLOATS.cast(s3).add(FloatVector.fromArray(FLOAT, sums, i + 3 * LANES));
    }
    FloatVector s = FLOATS.cast(s0).add(s1).add(FLOATS.cast(s2).add(s3));
    s = LANES >= 16 ? s.add(s.rearrange(DotLanes.EIGHT_AWAY)) : s;
    s = LANES >= 8 ? s.add(s.rearrange(DotLanes.FOUR_AWAY)) : s;
    s = s.add(s.rearrange(DotLanes.TWO_AWAY));
    s = s.add(s.rearrange(DotLanes.ONE_AWAY));
    return rest + s.lane(0);
  }
}
