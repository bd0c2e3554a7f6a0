// Quantization in three steps: the amax of each block, by bits; the scales; the elements.
//
// Each is a kernel of its own, since a block may be a row, a column or all of the tensor. An amax
// is an unsigned integer, so that a NaN beats an infinity and an infinity every number, and the
// order of the atomic maxima doesn't matter.
#include "philox.cuh"
#include "scales.cuh"
#include "store.cuh"
#include "warp.cuh"

constexpr int THREADS = 256;

// amax[s] = max(amax[s], bits of the largest |value| of block s) over the blocks of a grid laid
// over the view; the caller has set amax to 0. `parts` warps share a block.
//
// One warp a part, its lanes over the part's elements in row-major order; any grid.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    amax_blocks(const View x, const Grid grid, int64_t blocks, int64_t parts, uint32_t* amax) {
  int lane = threadIdx.x % WARP;
  int64_t step = (int64_t)gridDim.x * (THREADS / WARP);
  int64_t first = (int64_t)blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP;
  for (int64_t w = first; w < blocks * parts; w += step) {
    int64_t block = (int64_t)quotient((uint64_t)w, (uint64_t)parts);
    int64_t part = w - block * parts;
    int64_t gridRow = (int64_t)quotient((uint64_t)block, (uint64_t)grid.gridColumns);
    int64_t column = (block - gridRow * grid.gridColumns) * grid.blockColumns;
    int64_t matrix = (int64_t)quotient((uint64_t)gridRow, (uint64_t)grid.gridRows);
    int64_t row = (gridRow - matrix * grid.gridRows) * grid.blockRows;
    int64_t height = grid.rows - row < grid.blockRows ? grid.rows - row : grid.blockRows;
    int64_t width =
        grid.columns - column < grid.blockColumns ? grid.columns - column : grid.blockColumns;
    int64_t elements = height * width;
    int64_t share = (int64_t)quotient((uint64_t)(elements + parts - 1), (uint64_t)parts);
    int64_t end = (part + 1) * share < elements ? (part + 1) * share : elements;
    int64_t corner = (matrix * grid.rows + row) * grid.columns + column;
    uint32_t largest = 0;
    for (int64_t e = part * share + lane; e < end; e += WARP) {
      int64_t r = (int64_t)quotient((uint64_t)e, (uint64_t)width);
      int64_t i = corner + r * grid.columns + (e - r * width);
      largest = Max()(largest, asBits(loadValue(x, storageIndex(x, i))) & 0x7FFFFFFF);
    }
    largest = warpReduce(largest, Max());
    if (lane == 0 && largest != 0) {
      atomicMax(amax + block, largest);
    }
  }
}

// F32 scales: amax / max(format).
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    scales_f32(const uint32_t* amax, float* scales, int64_t count, float max) {
  int64_t step = (int64_t)gridDim.x * THREADS;
  for (int64_t s = (int64_t)blockIdx.x * THREADS + threadIdx.x; s < count; s += step) {
    scales[s] = scaleQuotient(asFloat(amax[s]), max);
  }
}

// E8M0 scales by a rule of MxScaleRule.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    scales_mx(const uint32_t* amax, uint8_t* scales, int64_t count, float max, int maxExponent,
              int mantissaBits, int rule) {
  int64_t step = (int64_t)gridDim.x * THREADS;
  for (int64_t s = (int64_t)blockIdx.x * THREADS + threadIdx.x; s < count; s += step) {
    scales[s] =
        (uint8_t)mxScale(MxFormat{max, maxExponent, mantissaBits}, asFloat(amax[s]), rule);
  }
}

// NVFP4's factor of the whole tensor, the largest amax / 2688. One CTA.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    scales_nvfp4_global(const uint32_t* amax, int64_t count, float* global) {
  __shared__ uint32_t scratch[THREADS / WARP];
  uint32_t largest = 0;
  for (int64_t s = threadIdx.x; s < count; s += THREADS) {
    largest = Max()(largest, amax[s]);
  }
  largest = blockReduce<THREADS>(scratch, largest, Max());
  if (threadIdx.x == 0) {
    *global = scaleQuotient(asFloat(largest), 2688);
  }
}

// NVFP4's E4M3 scales of the blocks.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    scales_nvfp4(const uint32_t* amax, uint8_t* scales, int64_t count, const float* global) {
  int64_t step = (int64_t)gridDim.x * THREADS;
  for (int64_t s = (int64_t)blockIdx.x * THREADS + threadIdx.x; s < count; s += step) {
    scales[s] = (uint8_t)nvfp4Scale(asFloat(amax[s]), *global);
  }
}

// Elements: encode(x / scale); zero in a block of zeros, or one whose scale is NaN. `out` is the
// whole target, whose data are written and whose scales are read; amax says which blocks are zero.
template <int D>
DEVICE void quantize(const View& x, const View& out, const uint32_t* amax, int64_t count,
                     int rounding, int overflow, uint64_t seed) {
  EncodeMode mode = {rounding, overflow};
  RandomBits random(seed);
  fill<Format<D>::bits>((void*)out.data, count, [&](int64_t i) -> uint32_t {
    int64_t block = scaleIndex(out.grid, i);
    float scale = scaleAt(out, block);
    if (amax[block] == 0 || scale != scale) {
      return 0;
    }
    float scaled = loadFloat(x, storageIndex(x, i)) / scale;
    return encode<D>(numberOf(scaled), mode,
                     rounding == STOCHASTIC ? random.at((uint64_t)i) : 0);
  });
}

#define QUANTIZE(NAME, D)                                                                     \
  extern "C" __global__ void __launch_bounds__(FILL_THREADS, 4)                                  \
      quantize_##NAME(const View x, const View out, const uint32_t* amax, int64_t count,      \
                      int rounding, int overflow, uint64_t seed) {                            \
    quantize<D>(x, out, amax, count, rounding, overflow, seed);                               \
  }

QUANTIZE(f8_e4m3, F8_E4M3)
QUANTIZE(f8_e5m2, F8_E5M2)
QUANTIZE(f6_e2m3, F6_E2M3)
QUANTIZE(f6_e3m2, F6_E3M2)
QUANTIZE(f4_e2m1, F4_E2M1)
QUANTIZE(i8, I8)
QUANTIZE(i4, I4)
