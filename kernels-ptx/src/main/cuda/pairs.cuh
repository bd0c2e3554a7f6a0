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

// The exponents of ones that what has no finite value gets; nothing for what has one. Of E5M2 they
// leave significands as they are, so that an infinity and NaNs remain such.
template <int D, int MMA>
DEVICE uint32_t specialPair(uint32_t codes) {
  using From = Format<D>;
  using To = Format<MMA>;
  // A carry into the sign's place tells what lies above the largest finite magnitude.
  constexpr uint32_t above = both(From::magnitudes - From::max);
  uint32_t special = ((codes & both(From::magnitudes)) + above) >> (From::bits - 1) & both(1);
  return special * (From::hasInfinity ? To::infinity : To::nan);
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
      value |= specialPair<D, MMA>(codes);
    }
    return value;
  }
}

// The bytes of a word, side by side in four bytes.
HOST_DEVICE constexpr uint32_t fourTimes(uint32_t byte) { return byte * 0x01010101u; }

// Whether four codes of 8 bits have one without a finite value, in the bytes' highest bits; the
// others are anything.
template <int D>
DEVICE uint32_t specials(uint32_t codes) {
  using T = Format<D>;
  return (codes & fourTimes(T::magnitudes)) + fourTimes(T::magnitudes - T::max);
}

// Four codes, a word of 8 bits each, of which none is special. Sign and magnitude are put where MMA's
// type has them, high and low bytes of all four at once:
//
//   E4M3 to F16   seeeemmm  ->  s0eeeemm m0000000, times 2^8
template <int D, int MMA>
DEVICE void decodeBytes(uint32_t codes, uint32_t& first, uint32_t& second) {
  using From = Format<D>;
  using To = Format<MMA>;
  constexpr int shift = To::mantissaBits - From::mantissaBits;
  if constexpr (shift == 8) {
    first = permute(codes, 0, 0x1404);
    second = permute(codes, 0, 0x3424);
  } else {
    constexpr uint32_t factor = both((uint32_t)(2 * To::bias - From::bias) << To::mantissaBits);
    uint32_t high = (codes & fourTimes(0x80)) |
                    (codes >> (8 - shift) & fourTimes(From::magnitudes >> (8 - shift)));
    uint32_t low = codes << shift & fourTimes(0xFF << shift & 0xFF);
    first = fmaPair<MMA>(permute(low, high, 0x5140), factor, MINUS_ZEROS);
    second = fmaPair<MMA>(permute(low, high, 0x7362), factor, MINUS_ZEROS);
  }
}

// Eight codes of 4 bits in their order, as bytes.
DEVICE void bytesOfNibbles(uint32_t codes, uint32_t& first, uint32_t& second) {
  uint32_t even = codes & fourTimes(0x0F);
  uint32_t odd = codes >> 4 & fourTimes(0x0F);
  first = permute(even, odd, 0x5140);
  second = permute(even, odd, 0x7362);
}

// Eight codes of E2M1: bytes of their values are looked up, four at a time, with the magnitudes as
// numbers of bytes.
//
//   magnitude      0     0.5   1     1.5   2     3     4     6
//   F16         0000    3800  3C00  3E00  4000  4200  4400  4600
//   BF16        0000    3F00  3F80  3FC0  4000  4040  4080  40C0
template <int MMA>
DEVICE void decodeE2M1(uint32_t codes, uint32_t (&pairs)[4]) {
  constexpr bool half = MMA == F16;
  uint32_t magnitudes = codes & 0x77777777;
  uint32_t signs = codes >> 3 & 0x11111111;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    uint32_t high = permute(half ? 0x3E3C3800 : 0x3F3F3F00, half ? 0x46444240 : 0x40404040,
                            magnitudes >> i * 16);
    high |= permute(0x00008000, 0, signs >> i * 16);
    uint32_t low = half ? 0 : permute(0xC0800000, 0xC0804000, magnitudes >> i * 16);
    pairs[i * 2] = permute(low, high, 0x5140);
    pairs[i * 2 + 1] = permute(low, high, 0x7362);
  }
}

// Codes of 8 bits and fewer in words, 16 of them; those with special values have none.
template <int D, int MMA, class Codes>
DEVICE void decodeRun(const Codes& codes, uint32_t (&pairs)[8]) {
  constexpr int bits = Format<D>::bits;
  if constexpr (D == F4_E2M1) {
    uint32_t four[4];
#pragma unroll
    for (int w = 0; w < 2; w++) {
      decodeE2M1<MMA>(codes.word[w], four);
#pragma unroll
      for (int p = 0; p < 4; p++) {
        pairs[w * 4 + p] = four[p];
      }
    }
  } else if constexpr (bits == 8 && !Format<D>::isInteger) {
#pragma unroll
    for (int w = 0; w < 4; w++) {
      decodeBytes<D, MMA>(codes.word[w], pairs[w * 2], pairs[w * 2 + 1]);
    }
  } else {
#pragma unroll
    for (int p = 0; p < 8; p++) {
      pairs[p] = decodePair<D, MMA>(codes.pair(p));
    }
  }
}
