// Reductions within a warp, and within a CTA through shared memory. Sums are taken in a fixed
// order, so that a result depends on its operands alone.
#pragma once

#include "bits.cuh"

constexpr unsigned ALL_LANES = 0xFFFFFFFF;
constexpr int WARP = 32;

struct Sum {
  template <class T>
  DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};

struct Max {
  template <class T>
  DEVICE T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

// Every lane gets the result.
template <class T, class Operation>
DEVICE T warpReduce(T value, Operation operation) {
#pragma unroll
  for (int lane = WARP / 2; lane > 0; lane /= 2) {
    value = operation(value, __shfl_xor_sync(ALL_LANES, value, lane));
  }
  return value;
}

// Every thread of a CTA of THREADS gets the result; `scratch` has room for a value of each warp.
// All threads must call it; it may be called again at once.
template <int THREADS, class T, class Operation>
DEVICE T blockReduce(T* scratch, T value, Operation operation) {
  value = warpReduce(value, operation);
  if constexpr (THREADS > WARP) {
    if (threadIdx.x % WARP == 0) {
      scratch[threadIdx.x / WARP] = value;
    }
    __syncthreads();
    value = scratch[0];
#pragma unroll
    for (int w = 1; w < THREADS / WARP; w++) {
      value = operation(value, scratch[w]);
    }
    __syncthreads();
  }
  return value;
}
