package dev.minifloat.cuda.sim.internal.mma;

import dev.minifloat.cuda.sim.internal.numeric.FloatFormat;

/**
 * A matrix of numbers taken apart: each is significand · 2^exponent, the significand a signed
 * integer with {@link #fractionBits} bits below one. Scales are multiplied in, which is exact.
 */
public final class Terms {
  final int[] significands;

  /** The exponent of a significand's one, as in 1.f · 2^e. */
  final int[] exponents;

  /** What of the exponent is the scale's. */
  final int[] scaleExponents;

  /** The numbers; without scales each is an F32. */
  final double[] values;

  int fractionBits;

  /** Whether a number of the matrix is infinite or NaN. */
  boolean special;

  /** Whether scales were multiplied in. */
  boolean scaled;

  public Terms(int size) {
    significands = new int[size];
    exponents = new int[size];
    scaleExponents = new int[size];
    values = new double[size];
  }

  /** Takes codes apart. */
  public void decode(int[] codes, int count, FloatFormat format) {
    fractionBits = format.fractionBits();
    special = false;
    scaled = false;
    for (int i = 0; i < count; i++) {
      int code = codes[i];
      values[i] = format.decode(code);
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

  /**
   * Multiplies by scales.
   *
   * @param codes of the scales, {@code blocks} for each of {@code rows} rows
   * @param depth numbers of a row, which the blocks divide evenly
   */
  public void scale(int[] codes, int rows, int blocks, int depth, ScaleFormat format) {
    scaled = true;
    fractionBits += format.fractionBits();
    int block = depth / blocks;
    for (int i = 0; i < rows * depth; i++) {
      int code = codes[i / block];
      double scale = format.decode(code);
      values[i] *= scale;
      if (Double.isNaN(scale)) {
        special = true;
        significands[i] = 0;
        scaleExponents[i] = 0;
      } else {
        significands[i] *= format.significand(code);
        scaleExponents[i] = format.exponent(code);
        exponents[i] += scaleExponents[i];
      }
    }
  }

  /** Whether one of a row's numbers is infinite or NaN. */
  boolean isSpecial(int start, int length) {
    if (special) {
      for (int i = start; i < start + length; i++) {
        if (Double.isNaN(values[i]) || Double.isInfinite(values[i])) {
          return true;
        }
      }
    }
    return false;
  }
}
