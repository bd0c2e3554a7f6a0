// Element formats: decoding and encoding, bit for bit what dev.minifloat.codec.Codec defines.
//
//   code = sign | exponent (exponentBits) | trailing significand (mantissaBits)
//
// E8M0 has neither sign nor significand; integers are two's complement. Everything here is integer
// arithmetic or exact, so that host and device, and every compute capability, give the same bits.
#pragma once

#include <stdint.h>

#include "bits.cuh"

// The order is that of dev.minifloat.DType: kernels take its ordinal.
enum DType { F32, F16, BF16, F8_E4M3, F8_E5M2, F8_E8M0, F6_E2M3, F6_E3M2, F4_E2M1, I8, I4, I32 };

enum Rounding { NEAREST_EVEN, TOWARD_ZERO, TOWARD_POSITIVE, STOCHASTIC };

enum Overflow { SATURATE, IEEE };

constexpr uint32_t CANONICAL_NAN = 0x7FC00000;

template <int BITS, int EXPONENT, int MANTISSA, int BIAS, bool INFINITE, bool NANS>
struct FloatFormat {
  static constexpr int bits = BITS;
  static constexpr int exponentBits = EXPONENT;
  static constexpr int mantissaBits = MANTISSA;
  static constexpr int bias = BIAS;
  static constexpr bool hasInfinity = INFINITE;
  static constexpr bool hasNaN = NANS;
  static constexpr bool isInteger = false;
  static constexpr uint32_t mask = BITS == 32 ? 0xFFFFFFFFu : (1u << (BITS & 31)) - 1;
  static constexpr uint32_t magnitudes = mask >> 1;
  static constexpr uint32_t infinity = ((1u << EXPONENT) - 1) << MANTISSA;
  // The largest finite magnitude; E4M3's only NaN is the magnitude above it.
  static constexpr uint32_t max = INFINITE ? infinity - 1 : NANS ? magnitudes - 1 : magnitudes;
};

template <int BITS>
struct IntegerFormat {
  static constexpr int bits = BITS;
  static constexpr int mantissaBits = 0;
  static constexpr bool hasNaN = false;
  static constexpr bool isInteger = true;
  static constexpr uint32_t mask = BITS == 32 ? 0xFFFFFFFFu : (1u << (BITS & 31)) - 1;
  static constexpr uint32_t max = mask >> 1;
};

template <int DTYPE>
struct Format;

template <>
struct Format<F32> : FloatFormat<32, 8, 23, 127, true, true> {
  static constexpr uint32_t nan = CANONICAL_NAN;
};
template <>
struct Format<F16> : FloatFormat<16, 5, 10, 15, true, true> {
  static constexpr uint32_t nan = 0x7E00;
};
template <>
struct Format<BF16> : FloatFormat<16, 8, 7, 127, true, true> {
  static constexpr uint32_t nan = 0x7FC0;
};
template <>
struct Format<F8_E4M3> : FloatFormat<8, 4, 3, 7, false, true> {
  static constexpr uint32_t nan = 0x7F;
};
template <>
struct Format<F8_E5M2> : FloatFormat<8, 5, 2, 15, true, true> {
  static constexpr uint32_t nan = 0x7E;
};
template <>
struct Format<F8_E8M0> {
  static constexpr int bits = 8;
  static constexpr bool isInteger = false;
  static constexpr uint32_t mask = 0xFF;
  static constexpr uint32_t max = 0xFE;
  static constexpr uint32_t nan = 0xFF;
};
template <>
struct Format<F6_E2M3> : FloatFormat<6, 2, 3, 1, false, false> {
  static constexpr uint32_t nan = 0x1F;
};
template <>
struct Format<F6_E3M2> : FloatFormat<6, 3, 2, 3, false, false> {
  static constexpr uint32_t nan = 0x1F;
};
template <>
struct Format<F4_E2M1> : FloatFormat<4, 2, 1, 1, false, false> {
  static constexpr uint32_t nan = 0x7;
};
template <>
struct Format<I8> : IntegerFormat<8> {};
template <>
struct Format<I4> : IntegerFormat<4> {};
template <>
struct Format<I32> : IntegerFormat<32> {};

// The value of a code: exact but for I32, which is rounded to nearest even. A NaN gives
// sign | 7FC00000.
//
// The magnitude, put where F32 keeps exponent and significand, is the value times
// 2^(bias - 127), for subnormals too; one exact product takes that factor away:
//
//   E4M3  s eeee mmm  ->  s 0000eeee mmm00000000000000000000, times 2^120
template <int D>
HOST_DEVICE float decode(uint32_t code) {
  using T = Format<D>;
  if constexpr (D == F32) {
    bool nan = (code & 0x7FFFFFFF) > 0x7F800000;
    return asFloat(nan ? (code & 0x80000000) | CANONICAL_NAN : code);
  } else if constexpr (T::isInteger) {
    return (float)((int32_t)(code << (32 - T::bits)) >> (32 - T::bits));
  } else if constexpr (D == F8_E8M0) {
    return asFloat(code == 0xFF ? CANONICAL_NAN : code == 0 ? 0x00400000 : code << 23);
  } else {
    uint32_t magnitude = code & T::magnitudes;
    uint32_t sign = (code >> (T::bits - 1) & 1) << 31;
    uint32_t value = magnitude << (23 - T::mantissaBits);
    if constexpr (T::bias != 127) {
      value = asBits(asFloat(value) * powerOfTwo(127 - T::bias));
    }
    if constexpr (T::hasInfinity) {
      value = magnitude == T::infinity ? 0x7F800000 : value;
    }
    if constexpr (T::hasNaN) {
      value = magnitude > T::max + (T::hasInfinity ? 1 : 0) ? CANONICAL_NAN : value;
    }
    return asFloat(sign | value);
  }
}

// A value to be encoded: ±significand · 2^(exponent - 31), bit 31 of the significand set; or a
// zero, an infinity or a NaN, by its kind.
struct Number {
  enum Kind { FINITE, ZERO, INFINITE, NAN_ } kind;
  bool negative;
  uint32_t significand;
  int exponent;
};

HOST_DEVICE Number numberOf(float x) {
  uint32_t bits = asBits(x);
  uint32_t magnitude = bits & 0x7FFFFFFF;
  Number n;
  n.negative = bits >> 31;
  n.kind = magnitude > 0x7F800000    ? Number::NAN_
           : magnitude == 0x7F800000 ? Number::INFINITE
           : magnitude == 0          ? Number::ZERO
                                     : Number::FINITE;
  uint32_t field = magnitude >> 23;
  uint32_t significand = field == 0 ? magnitude << 1 : (magnitude & 0x7FFFFF) | 0x800000;
  int leading = leadingZeros(significand);
  n.significand = leading < 32 ? significand << leading : 0;
  n.exponent = (int)field - 127 + 8 - leading;
  return n;
}

HOST_DEVICE Number numberOf(int32_t x) {
  Number n;
  n.negative = x < 0;
  uint32_t magnitude = x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
  int leading = leadingZeros(magnitude);
  n.kind = magnitude == 0 ? Number::ZERO : Number::FINITE;
  n.significand = leading < 32 ? magnitude << leading : 0;
  n.exponent = 31 - leading;
  return n;
}

// How encode rounds; random is read with STOCHASTIC only.
struct EncodeMode {
  int rounding;
  int overflow;
};

// Whether the magnitude grows when the low bits of a significand go. discarded is at least 0 and
// may pass 32: then all bits go, and lie below half an ulp from 33 on.
//
//   significand  kkkkkkkk ddddd     kept = significand >> discarded, odd its lowest bit
HOST_DEVICE bool roundsUp(uint32_t significand, int discarded, bool odd, bool negative,
                          int rounding, uint32_t random) {
  uint64_t wide = significand;
  uint64_t rest = discarded > 32 ? wide : wide & ((1ull << discarded) - 1);
  if (rest == 0 || rounding == TOWARD_ZERO) {
    return false;
  }
  if (rounding == NEAREST_EVEN) {
    uint64_t half = (1ull << discarded % 64) >> 1;
    return discarded <= 32 && (rest > half || (rest == half && odd));
  }
  if (rounding == TOWARD_POSITIVE) {
    return !negative;
  }
  // The discarded fraction of an ulp, in units of 2^-32.
  uint64_t threshold = discarded <= 32   ? rest << (32 - discarded)
                       : discarded >= 64 ? 0
                                         : rest >> (discarded - 32);
  return random < threshold;
}

HOST_DEVICE uint32_t overflowed(uint32_t max, uint32_t beyond, bool negative, EncodeMode mode) {
  bool down = mode.rounding == TOWARD_ZERO || (mode.rounding == TOWARD_POSITIVE && negative);
  return down || mode.overflow == SATURATE ? max : beyond;
}

// The code of a value, rounded once.
template <int D>
HOST_DEVICE uint32_t encode(Number x, EncodeMode mode, uint32_t random) {
  using T = Format<D>;
  if constexpr (T::isInteger) {
    // The integer part of the magnitude lies above exponent 0; from 2^32 on it saturates anyway.
    int discarded = 31 - x.exponent;
    uint32_t kept = discarded > 31 ? 0 : discarded < 0 ? 0xFFFFFFFF : x.significand >> discarded;
    bool up = discarded > 0 &&
              roundsUp(x.significand, discarded, kept & 1, x.negative, mode.rounding, random);
    uint32_t magnitude = kept + (up ? 1 : 0);
    magnitude = x.kind == Number::INFINITE ? 0xFFFFFFFF : x.kind == Number::FINITE ? magnitude : 0;
    uint32_t most = T::max + (x.negative ? 1 : 0);
    magnitude = magnitude > most ? most : magnitude;
    return (x.negative ? 0u - magnitude : magnitude) & T::mask;
  } else if constexpr (D == F8_E8M0) {
    if (x.kind == Number::NAN_) {
      return T::nan;
    }
    if (x.kind == Number::INFINITE) {
      return mode.overflow == SATURATE ? T::max : T::nan;
    }
    // Up to 2^-127, code 00, there is nothing to round.
    if (x.kind == Number::ZERO || x.exponent < -127) {
      return 0;
    }
    uint32_t code = (uint32_t)(x.exponent + 127);
    code += roundsUp(x.significand & 0x7FFFFFFF, 31, code & 1, false, mode.rounding, random);
    return code <= T::max ? code : overflowed(T::max, T::nan, false, mode);
  } else {
    uint32_t sign = x.negative ? 1u << (T::bits - 1) : 0;
    if (x.kind == Number::NAN_) {
      return T::hasNaN ? sign | T::nan : T::nan;
    }
    constexpr uint32_t beyond = T::hasInfinity ? T::infinity : T::nan;
    if (x.kind == Number::INFINITE) {
      return sign | (mode.overflow == SATURATE ? T::max : beyond);
    }
    if (x.kind == Number::ZERO) {
      return sign;
    }
    // Kept bits plus (steps above the subnormals) << mantissaBits give the code of normals and
    // subnormals alike: the hidden bit, or a carry, goes into the exponent field.
    constexpr int lowest = 1 - T::bias;
    int held = x.exponent > lowest ? x.exponent : lowest;
    int discarded = 31 - T::mantissaBits + (held - x.exponent);
    uint32_t kept = discarded > 31 ? 0 : x.significand >> discarded;
    bool up = roundsUp(x.significand, discarded, kept & 1, x.negative, mode.rounding, random);
    uint32_t code = kept + ((uint32_t)(held - lowest) << T::mantissaBits) + (up ? 1 : 0);
    return sign | (code <= T::max ? code : overflowed(T::max, beyond, x.negative, mode));
  }
}

// An F32 to nearest even, beyond the largest value to infinity: how results of arithmetic are
// stored in F32, F16 and BF16.
template <int D>
HOST_DEVICE uint32_t encodeFloat(float x) {
  static_assert(D == F32 || D == F16 || D == BF16, "a float type");
  uint32_t bits = asBits(x);
  bool nan = (bits & 0x7FFFFFFF) > 0x7F800000;
  uint32_t sign = bits & 0x80000000;
  if constexpr (D == F32) {
    return nan ? sign | CANONICAL_NAN : bits;
  } else if constexpr (D == BF16) {
    return nan ? sign >> 16 | 0x7FC0 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  } else {
    return nan ? sign >> 16 | 0x7E00 : roundToHalf(x);
  }
}

// What arithmetic makes of a NaN: positive, without a payload.
HOST_DEVICE float canonical(float x) {
  return (asBits(x) & 0x7FFFFFFF) > 0x7F800000 ? asFloat(CANONICAL_NAN) : x;
}

// Calls f with the format of an ordinal: dispatch(dtype, [&](auto d) { … decode<d()>(code) … }).
template <int D>
struct Constant {
  HOST_DEVICE constexpr int operator()() const { return D; }
};

template <class F>
HOST_DEVICE float decodeBy(int dtype, F load) {
  switch (dtype) {
    case F32: return decode<F32>(load(Constant<32>()));
    case F16: return decode<F16>(load(Constant<16>()));
    case BF16: return decode<BF16>(load(Constant<16>()));
    case F8_E4M3: return decode<F8_E4M3>(load(Constant<8>()));
    case F8_E5M2: return decode<F8_E5M2>(load(Constant<8>()));
    case F8_E8M0: return decode<F8_E8M0>(load(Constant<8>()));
    case F6_E2M3: return decode<F6_E2M3>(load(Constant<6>()));
    case F6_E3M2: return decode<F6_E3M2>(load(Constant<6>()));
    case F4_E2M1: return decode<F4_E2M1>(load(Constant<4>()));
    case I8: return decode<I8>(load(Constant<8>()));
    case I4: return decode<I4>(load(Constant<4>()));
    default: return decode<I32>(load(Constant<32>()));
  }
}
