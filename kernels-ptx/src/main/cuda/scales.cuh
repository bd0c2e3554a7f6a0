// The scales that follow from an amax, as dev.minifloat.codec.Scales.
#pragma once

#include "formats.cuh"

enum MxScaleRule { FLOOR, CEIL, RCEIL, EVEN };

HOST_DEVICE bool isFinite(float x) { return (asBits(x) & 0x7FFFFFFF) < 0x7F800000; }

// amax / max, or the least float where that underflows; 1 for 0; NaN for what isn't finite.
HOST_DEVICE float scaleQuotient(float amax, float max) {
  if (!isFinite(amax)) {
    return asFloat(CANONICAL_NAN);
  }
  if (amax == 0) {
    return 1;
  }
  float scale = amax / max;
  return scale > 0 ? scale : asFloat(1);
}

// NVFP4's block scale; where encode(amax / 6 / g) is too small for amax / (s · g) to be finite,
// the least code for which it is.
HOST_DEVICE uint32_t nvfp4Scale(float amax, float global) {
  if (!isFinite(amax) || !isFinite(global)) {
    return Format<F8_E4M3>::nan;
  }
  if (amax == 0) {
    return 0;
  }
  uint32_t code =
      encode<F8_E4M3>(numberOf(amax / 6.0f / global), EncodeMode{NEAREST_EVEN, SATURATE}, 0);
  while (code < Format<F8_E4M3>::max && !isFinite(amax / (decode<F8_E4M3>(code) * global))) {
    code++;
  }
  return code;
}

// floor(log2 x) of a float that is not negative; -150 for 0.
HOST_DEVICE int floorLog2(float x) {
  Number n = numberOf(x);
  return n.kind == Number::ZERO ? -150 : n.exponent;
}

HOST_DEVICE int ceilLog2(float x) {
  Number n = numberOf(x);
  return n.kind == Number::ZERO ? -150 : n.exponent + (n.significand > 0x80000000 ? 1 : 0);
}

// An element format as the MX rules see it.
struct MxFormat {
  float max;
  int maxExponent;
  int mantissaBits;
};

HOST_DEVICE uint32_t mxScale(MxFormat format, float amax, int rule) {
  if (!isFinite(amax)) {
    return Format<F8_E8M0>::nan;
  }
  if (amax == 0) {
    return 0;
  }
  int exponent;
  if (rule == FLOOR) {
    exponent = floorLog2(amax) - format.maxExponent;
  } else if (rule == CEIL) {
    exponent = ceilLog2(amax) - format.maxExponent;
  } else if (rule == RCEIL) {
    exponent = ceilLog2(amax / format.max);
  } else {
    // The sum may carry into the exponent of infinity, which then counts as 2^128.
    uint32_t nudged = asBits(amax) + (1u << (22 - format.mantissaBits));
    exponent = (nudged >= 0x00800000 ? (int)(nudged >> 23) - 127 : floorLog2(asFloat(nudged))) -
               format.maxExponent;
  }
  exponent = exponent < -127 ? -127 : exponent > 127 ? 127 : exponent;
  return (uint32_t)(exponent + 127);
}
