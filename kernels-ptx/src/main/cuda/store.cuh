// Writing packed elements without races: a thread writes whole words, and so a run of elements.
#pragma once

#include "view.cuh"

// Elements that a thread writes at once: a word of 4 bytes, or 3 bytes of 6-bit elements.
template <int BITS>
constexpr int RUN = BITS == 6 ? 4 : 32 / BITS;

HOST_DEVICE void storeBytes(void* out, int64_t at, uint32_t word, int bytes) {
#pragma unroll
  for (int b = 0; b < 4; b++) {
    if (b < bytes) {
      ((uint8_t*)out)[at + b] = (uint8_t)(word >> b * 8);
    }
  }
}

// Writes a run; of one that is cut short by the end, no byte beyond it, and zero in what is left
// of its last byte.
template <int BITS>
HOST_DEVICE void storeRun(void* out, int64_t run, uint32_t word, int elements) {
  if constexpr (BITS == 6) {
    storeBytes(out, run * 3, word, (elements * 6 + 7) / 8);
  } else if (elements == RUN<BITS>) {
    ((uint32_t*)out)[run] = word;
  } else if constexpr (BITS == 16) {
    ((uint16_t*)out)[run * 2] = (uint16_t)word;
  } else if constexpr (BITS < 16) {
    storeBytes(out, run * 4, word, (elements * BITS + 7) / 8);
  }
}

// Fills a whole tensor of `count` elements; codeOf(i) gives the code of element i, and is called
// for consecutive elements of a run by one thread. Any grid will do.
template <int BITS, class F>
DEVICE void fill(void* out, int64_t count, F codeOf) {
  constexpr int run = RUN<BITS>;
  int64_t runs = (count + run - 1) / run;
  int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; r < runs; r += step) {
    int64_t first = r * run;
    int elements = (int)(count - first < run ? count - first : run);
    uint32_t word = 0;
#pragma unroll 1
    for (int e = 0; e < elements; e++) {
      word |= codeOf(first + e) << (run == 1 ? 0 : e * BITS);
    }
    storeRun<BITS>(out, r, word, elements);
  }
}

constexpr int FILL_THREADS = 256;
