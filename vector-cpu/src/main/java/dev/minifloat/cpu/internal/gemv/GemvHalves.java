package dev.minifloat.cpu.internal.gemv;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;

import dev.minifloat.cpu.internal.runtime.Segments;
import dev.minifloat.cpu.internal.runtime.Species;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;

/**
 * {@link GemvRow} for F16: a part of a row is widened to the first-level cache, then multiplied.
 *
 * <p>The Vector API has no conversion from F16. The compiler has: it turns a plain loop over {@link
 * Float#float16ToFloat} into the machine's instruction, which is exact for infinities, NaNs and
 * subnormals and faster than taking the bits apart; but it can't tell that activations and sums are
 * different arrays, so the products need a loop of their own.
 */
final class GemvHalves implements GemvRow {
  /** Elements that are widened at a time. */
  static final int WIDENED = 4096;

  private static final ValueLayout.OfShort HALF =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int STEP = 4 * LANES;
  private static final long V = (long) LANES * Float.BYTES;
  private static final long X_STEP = 4 * V;

  private final int vectors;

  GemvHalves(int vectors) {
    this.vectors = vectors;
  }

  @Override
  public void multiply(
      MemorySegment w,
      long at,
      int steps,
      MemorySegment x,
      int first,
      long pitch,
      float[] scratch,
      int scale,
      float[] sums,
      int to,
      int stride) {
    int count = steps * STEP;
    for (int k = 0; k < count; k += WIDENED) {
      int part = Math.min(WIDENED, count - k);
      widen(w, at + 2L * k, part, scratch);
      for (int v = 0; v < vectors; v++) {
        multiply(scratch, part, x, first * X_STEP + v * pitch + 4L * k, sums, to + v * stride);
      }
    }
  }

  private static void widen(MemorySegment w, long at, int count, float[] target) {
    MemorySegment halves = Segments.exact(w);
    for (int i = 0; i < count; i++) {
      target[i] = Float.float16ToFloat(halves.get(HALF, at + 2L * i));
    }
  }

  private static void multiply(
      float[] w, int count, MemorySegment x, long from, float[] sums, int to) {
    MemorySegment vector = Segments.exact(x);
    FloatVector s0 = FloatVector.fromArray(FLOAT, sums, to);
    FloatVector s1 = FloatVector.zero(FLOAT);
    FloatVector s2 = s1;
    FloatVector s3 = s1;
    int turns = count / STEP;
    for (int i = 0; i < turns; i++) {
      int p = i * STEP;
      long q = from + i * X_STEP;
      s0 =
          FloatVector.fromArray(FLOAT, w, p)
              .fma(FloatVector.fromMemorySegment(FLOAT, vector, q, Species.LE), s0);
      s1 =
          FloatVector.fromArray(FLOAT, w, p + LANES)
              .fma(FloatVector.fromMemorySegment(FLOAT, vector, q + V, Species.LE), s1);
      s2 =
          FloatVector.fromArray(FLOAT, w, p + 2 * LANES)
              .fma(FloatVector.fromMemorySegment(FLOAT, vector, q + 2 * V, Species.LE), s2);
      s3 =
          FloatVector.fromArray(FLOAT, w, p + 3 * LANES)
              .fma(FloatVector.fromMemorySegment(FLOAT, vector, q + 3 * V, Species.LE), s3);
    }
    s0.add(s1).add(s2.add(s3)).intoArray(sums, to);
  }
}
