package dev.minifloat.cpu.internal.math;

import static dev.minifloat.cpu.internal.runtime.Species.FLOAT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;

import dev.minifloat.codec.PackedElements;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The one NaN that arithmetic gives. Which operand's sign and payload a sum or product of NaNs
 * keeps is for the compiler to choose, by the order in which it takes them; so results are made
 * canonical where they leave a kernel.
 */
public final class Nans {
  private Nans() {}

  /** Makes every NaN among {@code count} F32 at {@code at} the positive one without a payload. */
  public static void canonical(MemorySegment x, long at, int count) {
    int i = 0;
    for (; i <= count - LANES; i += LANES) {
      FloatVector v = FloatVector.fromMemorySegment(FLOAT, x, at + 4L * i, LE);
      v.blend(Float.NaN, v.compare(VectorOperators.NE, v)).intoMemorySegment(x, at + 4L * i, LE);
    }
    for (; i < count; i++) {
      float value = x.get(PackedElements.FLOAT, at + 4L * i);
      x.set(PackedElements.FLOAT, at + 4L * i, canonical(value));
    }
  }

  public static float canonical(float x) {
    return Float.isNaN(x) ? Float.NaN : x;
  }
}
