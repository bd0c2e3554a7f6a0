package dev.minifloat.cuda.sim.internal.mma;

import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;

/**
 * A matrix of numbers taken apart: each is significand · 2^exponent, the significand a signed
 * integer with {@link #fractionBits} bits below one.
 */
public final class Terms {
  final int[] significands;

  /** The exponent of a significand's one, as in 1.f · 2^e. */
  final int[] exponents;

  final float[] values;
  int fractionBits;

  /** Whether a number of the matrix is infinite or NaN. */
  boolean special;

  public Terms(int size) {
    significands = new int[size];
    exponents = new int[size];
    values = new float[size];
  }

  /** Takes codes apart. */
  public void decode(int[] codes, int count, FloatFormat format) {
    fractionBits = format.fractionBits();
    special = false;
    for (int i = 0; i < count; i++) {
      int code = codes[i];
      values[i] = (float) format.decode(code);
      if (format.isNan(code) || format.isInfinite(code)) {
        special = true;
        significands[i] = 0;
      } else {
        int significand = format.significand(code);
        significands[i] = values[i] < 0 ? -significand : significand;
        exponents[i] = format.exponent(code);
      }
    }
  }
}
