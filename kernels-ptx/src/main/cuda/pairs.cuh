// Formats of 8 bits and fewer, decoded exactly to pairs of F16 or BF16 for the tensor cores.
//
// Every one of them fits: E4M3, E5M2, E2M3, E3M2 and E2M1 have at most 4 significant bits and
// exponents within F16's, I8 and I4 at most 8 bits, which BF16 has too.
//
// A pair is two codes, zero-extended to 16 bits each:  0000cccc 0000cccc
#pragma once

#include "formats.cuh"
#include "ptx.cuh"

constexpr uint32_t MINUS_ZEROS = 0x80008000;

HOST_DEVICE constexpr uint32_t both(uint32_t half) { return half << 16 | half; }

template <int MMA>
DEVICE uint32_t fmaPair(uint32_t a, uint32_t b, uint32_t c) {
  if constexpr (MMA == F16) {
    return fmaHalves(a, b, c);
  } else {
    return fmaBrains(a, b, c);
  }
}

// The magnitude, put where MMA's type has exponent and significand, is the value times
// 2^(bias - MMA's bias); one exact product takes that away, subnormals included. What has no finite
// value gets an exponent of ones.
template <int D, int MMA>
DEVICE uint32_t decodePair(uint32_t codes) {
  using From = Format<D>;
  using To = Format<MMA>;
  if constexpr (D == I8 && MMA == F16) {
    // 0x6400 | u is 1024 + u; u = code + 128.
    return fmaHalves((codes ^ both(0x80)) | both(0x6400), both(0x3C00), both(0xE480));
  } else if constexpr (D == I8) {
    // 0x4300 | low 7 bits is 128 + these; minus 128, or 256 for a negative code.
    uint32_t minus = both(0xC300) + (codes & both(0x80));
    return fmaBrains((codes & both(0x7F)) | both(0x4300), both(0x3F80), minus);
  } else if constexpr (D == I4) {
    constexpr uint32_t magic = MMA == F16 ? 0x6400 : 0x4300;
    constexpr uint32_t one = MMA == F16 ? 0x3C00 : 0x3F80;
    return fmaPair<MMA>((codes ^ both(8)) | both(magic), both(one), both(magic | 0x8008));
  } else if constexpr (D == F8_E5M2 && MMA == F16) {
    return codes << 8;
  } else {
    constexpr uint32_t magnitudes = both(From::magnitudes);
    constexpr uint32_t factor = both((uint32_t)(2 * To::bias - From::bias) << To::mantissaBits);
    uint32_t magnitude = codes & magnitudes;
    uint32_t sign = (codes & ~magnitudes) << (16 - From::bits);
    uint32_t value = fmaPair<MMA>(sign | magnitude << (To::mantissaBits - From::mantissaBits),
                                  factor, MINUS_ZEROS);
    if constexpr (From::hasNaN) {
      // A carry into the sign's place tells what lies above the largest finite magnitude.
      constexpr uint32_t above = both(From::magnitudes - From::max);
      uint32_t special = (magnitude + above) >> (From::bits - 1) & both(1);
      value |= special * (From::hasInfinity ? To::infinity : To::nan);
    }
    return value;
  }
}
