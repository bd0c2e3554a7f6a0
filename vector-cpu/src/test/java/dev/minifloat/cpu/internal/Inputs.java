package dev.minifloat.cpu.internal;

import dev.minifloat.DType;
import dev.minifloat.codec.Codec;
import dev.minifloat.cpu.internal.runtime.Species;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Floats that encoders get wrong, and the extents that loops get wrong. */
public final class Inputs {
  private Inputs() {}

  /** Sizes around the number of lanes. */
  public static int[] sizes() {
    int n = Species.LANES;
    return new int[] {0, 1, 2, 3, n - 1, n, n + 1, 2 * n + 3, 31, 97, 131};
  }

  /** Every exponent and sign, with fractions at and beside ties of any format, and random ones. */
  public static float[] floats() {
    int[] fractions = {0, 1, 2, 0x7FFFFF, 0x7FFFFE, 0x400000, 0x400001, 0x3FFFFF};
    SplittableRandom random = new SplittableRandom(1);
    float[] values = new float[512 * (fractions.length + 23 * 3 + 24)];
    int at = 0;
    for (int high = 0; high < 512; high++) {
      for (int fraction : fractions) {
        values[at++] = Float.intBitsToFloat(high << 23 | fraction);
      }
      for (int bit = 0; bit < 23; bit++) {
        int kept = random.nextInt(1 << 23) & -(2 << bit);
        for (int near = -1; near <= 1; near++) {
          int fraction = (kept | 1 << bit) + near & 0x7FFFFF;
          values[at++] = Float.intBitsToFloat(high << 23 | fraction);
        }
      }
      for (int i = 0; i < 24; i++) {
        values[at++] = Float.intBitsToFloat(high << 23 | random.nextInt(1 << 23));
      }
    }
    return values;
  }

  /** The neighbourhood of every boundary between two codes of a format, and of its limits. */
  public static float[] boundaries(DType dtype) {
    int codes = dtype.bits() < 16 ? dtype.codeMask() + 1 : 1 << 12;
    int step = dtype.bits() == 16 ? 17 : 1;
    float[] values = new float[codes * 5];
    int at = 0;
    for (int i = 0; i < codes; i++) {
      int code = i * step & dtype.codeMask();
      float value = Codec.decode(dtype, code);
      float next = Codec.decode(dtype, code + 1 & dtype.codeMask());
      float middle = (float) (((double) value + next) / 2);
      values[at++] = value;
      values[at++] = middle;
      values[at++] = Math.nextUp(middle);
      values[at++] = Math.nextDown(middle);
      values[at++] = Math.nextUp(value);
    }
    return values;
  }

  /** Numbers of many magnitudes, some of them zero, none of them special. */
  public static float[] numbers(long seed, int count) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] =
          random.nextInt(16) == 0
              ? random.nextBoolean() ? 0f : -0f
              : (float) Math.scalb(random.nextDouble() * 2 - 1, random.nextInt(12) - 6);
    }
    return values;
  }

  public static float[] concat(float[] a, float[] b) {
    float[] both = Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, both, a.length, b.length);
    return both;
  }
}
