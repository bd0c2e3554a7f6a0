package dev.minifloat.codec;

import dev.minifloat.DType;
import dev.minifloat.MxScaleRule;

/**
 * The scales that follow from an amax.
 *
 * <p>An amax is taken over the bits of |x|, so that an infinity beats every number and a NaN beats
 * an infinity; both make the scale a NaN, and with it the whole block. An amax of zero gives an F32
 * scale of 1 and an MX or NVFP4 block scale of code 00.
 */
public final class Scales {
  /** 6 · 448, the largest value of E2M1 times the largest of E4M3. */
  public static final float NVFP4_MAX = 2688f;

  private Scales() {}

  /** The F32 scale amax / max(format), or the least positive float where that underflows to 0. */
  public static float f32(DType dtype, float amax) {
    return quotient(amax, (float) dtype.max());
  }

  /** NVFP4's scale of the whole tensor, g = amax / 2688. */
  public static float nvfp4Global(float amax) {
    return quotient(amax, NVFP4_MAX);
  }

  private static float quotient(float amax, float max) {
    if (!Float.isFinite(amax)) {
      return Float.intBitsToFloat(Codec.CANONICAL_NAN);
    }
    if (amax == 0) {
      return 1;
    }
    // When this underflows amax is below max · 2^-150, so x over the least float stays finite.
    return Math.max(amax / max, Float.MIN_VALUE);
  }

  /**
   * The E4M3 code of NVFP4's block scale, encode(amax / 6 / g) saturating; where that is too small
   * for x / (s · g) to be finite, the least code for which it is (7E if there is none).
   *
   * <p>If g is NaN, because the tensor holds a NaN or an infinity, so is every block's scale, also
   * that of a block of zeros: the whole tensor decodes to NaN.
   *
   * @param amax of the block
   * @param global the tensor's scale g, positive or NaN
   */
  public static int nvfp4Block(float amax, float global) {
    if (!Float.isFinite(amax) || Float.isNaN(global)) {
      return Codec.nanCode(DType.F8_E4M3);
    }
    if (amax == 0) {
      return 0;
    }
    int code = Codec.encode(DType.F8_E4M3, amax / 6f / global);
    int largest = Codec.maxCode(DType.F8_E4M3);
    while (code < largest && !Float.isFinite(amax / (Codec.decode(DType.F8_E4M3, code) * global))) {
      code++;
    }
    return code;
  }

  /** The E8M0 code of an MX block's scale. */
  public static int mx(DType dtype, float amax, MxScaleRule rule) {
    if (!Float.isFinite(amax)) {
      return Codec.nanCode(DType.F8_E8M0);
    }
    if (amax == 0) {
      return 0;
    }
    int exponent =
        switch (rule) {
          case FLOOR -> floorLog2(amax) - dtype.maxExponent();
          case CEIL -> ceilLog2(amax) - dtype.maxExponent();
          case RCEIL -> ceilLog2(amax / (float) dtype.max());
          case EVEN -> {
            int nudged = Float.floatToRawIntBits(amax) + (1 << (22 - dtype.mantissaBits()));
            // The addition may carry into the exponent of infinity, which then counts as 2^128.
            yield (nudged >= 0x00800000 ? (nudged >>> 23) - 127 : floorLog2(bitsToFloat(nudged)))
                - dtype.maxExponent();
          }
        };
    return Math.clamp(exponent, -127, 127) + 127;
  }

  private static float bitsToFloat(int bits) {
    return Float.intBitsToFloat(bits);
  }

  /** ⌊log2 x⌋ of a positive float, subnormals included; −150 for zero, below every float. */
  private static int floorLog2(float x) {
    return x == 0 ? -150 : Math.getExponent((double) x);
  }

  private static int ceilLog2(float x) {
    int floor = floorLog2(x);
    return x > Math.scalb(1.0, floor) ? floor + 1 : floor;
  }
}
