// What follows a product: D = activation(alpha · sum + beta · C + bias), rounded once, and its amax.
#pragma once

#include "math.cuh"
#include "store.cuh"
#include "warp.cuh"

// C is a view [batch, M, N] (null data for none), bias one of [N]. D is row-major and whole. With
// outScale, D is divided by that one F32 before it is rounded (E4M3 output, saturating). amax, if
// there is one, holds bits of a float that is at least 0; the caller has set it to 0.
struct Epilogue {
  View c;
  View bias;
  void* out;
  const float* outScale;
  uint32_t* amax;
  float alpha;
  float beta;
  int32_t activation;
  int32_t outType;
};

static_assert(sizeof(Epilogue) == 488 && offsetof(Epilogue, out) == 448 &&
                  offsetof(Epilogue, amax) == 464 && offsetof(Epilogue, alpha) == 472,
              "as ParameterType.EPILOGUE");

// D at a row and column of a matrix, in F32; a NaN is the canonical one.
DEVICE float finish(const Epilogue& to, float sum, int64_t matrix, int64_t row, int64_t column,
                    int64_t rows, int64_t columns) {
  // With alpha 0 the product doesn't count, even if it is no number.
  float d = to.alpha == 0 ? 0 : to.alpha * sum;
  if (to.c.data != nullptr && to.beta != 0) {
    d += to.beta * loadFloat(to.c, storageIndex(to.c, (matrix * rows + row) * columns + column));
  }
  if (to.bias.data != nullptr) {
    d += loadFloat(to.bias, to.bias.offset + column * to.bias.stride[0]);
  }
  return canonical(activate(to.activation, d));
}

DEVICE void storeFloat(const Epilogue& to, int64_t i, float d) {
  switch (to.outType) {
    case F16: ((uint16_t*)to.out)[i] = (uint16_t)encodeFloat<F16>(d); break;
    case BF16: ((uint16_t*)to.out)[i] = (uint16_t)encodeFloat<BF16>(d); break;
    case F8_E4M3: {
      float scaled = to.outScale == nullptr ? d : d / *to.outScale;
      ((uint8_t*)to.out)[i] =
          (uint8_t)encode<F8_E4M3>(numberOf(scaled), EncodeMode{NEAREST_EVEN, SATURATE}, 0);
      break;
    }
    default: ((float*)to.out)[i] = d;
  }
}

// The bits of the largest magnitude that each lane of a warp has written; all lanes must call it.
DEVICE void storeAmax(const Epilogue& to, uint32_t largest) {
  if (to.amax != nullptr) {
    largest = warpReduce(largest, Max());
    if (threadIdx.x % WARP == 0 && largest != 0) {
      atomicMax(to.amax, largest);
    }
  }
}

// Finishes a tile of sums that lies row-major in shared memory: consecutive threads take consecutive
// columns. THREADS threads, of whole warps, call it behind a barrier of theirs.
template <int ROWS, int COLUMNS, int PITCH, int THREADS>
DEVICE void finishTile(const Epilogue& to, const float* sums, int64_t matrix, int64_t row,
                       int64_t column, int64_t rows, int64_t columns,
                       int thread = threadIdx.x) {
  uint32_t largest = 0;
  int there = rows - row < ROWS ? (int)(rows - row) : ROWS;
#pragma unroll 1
  for (int e = thread; e < there * COLUMNS; e += THREADS) {
    int64_t r = row + e / COLUMNS;
    int64_t c = column + e % COLUMNS;
    if (c < columns) {
      float d =
          finish(to, sums[e / COLUMNS * PITCH + e % COLUMNS], matrix, r, c, rows, columns);
      storeFloat(to, (matrix * rows + r) * columns + c, d);
      largest = Max()(largest, asBits(d) & 0x7FFFFFFF);
    }
  }
  storeAmax(to, largest);
}
