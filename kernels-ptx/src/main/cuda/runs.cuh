// Runs of 16 elements that lie side by side, read in as few loads as can be.
#pragma once

#include "view.cuh"

// Whether elements at, at + pitch, ... are multiples of a run, and runs begin at multiples of bytes.
DEVICE bool runsAligned(const View& view, int64_t at, int64_t pitch, int run, int bytes) {
  return ((uint64_t)view.data % bytes) == 0 && at % run == 0 && pitch % run == 0;
}

// 16 codes as words: 8 bytes of 4-bit codes, 12 of 6-bit ones, 16, 32 or 64.
template <int BITS>
struct Codes16 {
  static constexpr int RUN = 16;
  static constexpr int WORDS = BITS / 2;
  // Bytes of a load: 12 bytes are read word by word.
  static constexpr int LOAD = BITS == 4 ? 8 : BITS == 6 ? 4 : 16;

  uint32_t word[WORDS];

  static DEVICE bool aligned(const View& view, int64_t at, int64_t pitch) {
    return runsAligned(view, at, pitch, RUN, LOAD);
  }

  // The codes at a multiple of LOAD bytes.
  DEVICE void load(const uint8_t* run) {
#pragma unroll
    for (int w = 0; w < WORDS; w += LOAD / 4) {
      if constexpr (LOAD == 16) {
        uint4 words = ((const uint4*)run)[w / 4];
        word[w] = words.x;
        word[w + 1] = words.y;
        word[w + 2] = words.z;
        word[w + 3] = words.w;
      } else if constexpr (LOAD == 8) {
        uint2 words = *(const uint2*)run;
        word[w] = words.x;
        word[w + 1] = words.y;
      } else {
        word[w] = ((const uint32_t*)run)[w];
      }
    }
  }

  // The codes from element `at` on, of which only `present` are there; zeros in place of the rest.
  DEVICE void load(const void* data, int64_t at, int present, bool aligned) {
    if (aligned && present == RUN) {
      load((const uint8_t*)data + at / 8 * BITS);
      return;
    }
    if constexpr (BITS >= 16) {
#pragma unroll
      for (int i = 0; i < RUN; i++) {
        uint32_t code = i < present ? loadCode<BITS>(data, at + i) : 0;
        int w = i * BITS / 32;
        word[w] = i * BITS % 32 == 0 ? code : word[w] | code << 16;
      }
    } else {
      gather(data, at, present);
    }
  }

  DEVICE void gather(const void* data, int64_t at, int present) {
    uint64_t low = 0;
    uint64_t high = 0;
#pragma unroll 1
    for (int i = 0; i < present; i++) {
      uint64_t code = loadCode<BITS>(data, at + i);
      int bit = i * BITS;
      if (bit >= 64) {
        high |= code << (bit - 64);
      } else {
        low |= code << bit;
        if (bit + BITS > 64) {
          high |= code >> (64 - bit);
        }
      }
    }
    word[0] = (uint32_t)low;
    word[1] = (uint32_t)(low >> 32);
    if constexpr (BITS > 4) {
      word[2] = (uint32_t)high;
    }
    if constexpr (BITS == 8) {
      word[3] = (uint32_t)(high >> 32);
    }
  }

  // The lowest `bits` from a bit on, a number known at compile time once loops are unrolled.
  DEVICE uint32_t bitsFrom(int bit, int bits) const {
    uint32_t value = word[bit / 32] >> bit % 32;
    if (bit % 32 + bits > 32) {
      value |= word[bit / 32 + 1] << (32 - bit % 32);
    }
    return value;
  }

  DEVICE uint32_t code(int i) const {
    return bitsFrom(i * BITS, BITS) & (BITS == 32 ? 0xFFFFFFFF : (1u << BITS % 32) - 1);
  }

  // Codes 2·pair and the next, each in 16 bits.
  DEVICE uint32_t pair(int pair) const {
    uint32_t two = bitsFrom(pair * 2 * BITS, 2 * BITS);
    constexpr uint32_t low = (1u << BITS % 32) - 1;
    return (two & low) | (two & low << BITS) << (16 - BITS);
  }
};
