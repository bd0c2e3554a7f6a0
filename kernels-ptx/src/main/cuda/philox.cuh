// Philox4x32-10 (Salmon et al., SC 2011), as dev.minifloat.codec.Philox: element i uses word i mod 4
// of the block whose counter is floor(i / 4), under the seed as key.
#pragma once

#include "bits.cuh"

struct PhiloxBlock {
  uint32_t word[4];
};

HOST_DEVICE PhiloxBlock philox(uint64_t seed, uint64_t counter) {
  uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = 0, c3 = 0;
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
#pragma unroll 1
  for (int round = 0; round < 10; round++) {
    uint32_t n0 = multiplyHigh(0xCD9E8D57, c2) ^ c1 ^ k0;
    uint32_t n2 = multiplyHigh(0xD2511F53, c0) ^ c3 ^ k1;
    c1 = 0xCD9E8D57 * c2;
    c3 = 0xD2511F53 * c0;
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {{c0, c1, c2, c3}};
}

// The random bits of elements that are asked for in order: a block is computed when one of its
// four elements is the first.
struct RandomBits {
  uint64_t seed;
  uint64_t counter;
  PhiloxBlock block;

  HOST_DEVICE explicit RandomBits(uint64_t seed) : seed(seed), counter(~0ull), block{{0, 0, 0, 0}} {}

  HOST_DEVICE uint32_t at(uint64_t index) {
    if (index >> 2 != counter) {
      counter = index >> 2;
      block = philox(seed, counter);
    }
    uint32_t low = index & 1 ? block.word[1] : block.word[0];
    uint32_t high = index & 1 ? block.word[3] : block.word[2];
    return index & 2 ? high : low;
  }
};
