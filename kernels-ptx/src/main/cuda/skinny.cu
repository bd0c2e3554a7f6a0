// Products with few rows of A, up to 8 at a time, and weights [N, K] of any format with K side by
// side: bound by reading the weights, so each is read once, in loads of 16 bytes.
//
// A CTA of 8 warps takes 512 elements of K at a time: decodes those of A's rows to F32 in shared
// memory, then every warp multiplies ROWS rows of weights, lane l elements 16·l to 16·l + 15 of each.
// A block of weights that shares a scale must be a multiple of 16 elements of K, or all of K, and
// begin at the view's first column; its scale is multiplied to the sum of a run.
//
// K is split among the CTAs of grid.y. Each writes its sums apart, and skinny_sum adds them in their
// order: the result depends on the number of splits, not on who is first.
//
// Grid: (ceil(N / (8 · ROWS)), splits, ceil(M / rows of A at a time) · batch); partial has
// batch · splits · M · N elements.
#include "epilogue.cuh"
#include "runs.cuh"

constexpr int WARPS = 8;
constexpr int THREADS = WARPS * WARP;
constexpr int PER_LANE = 16;
constexpr int SLICE = WARP * PER_LANE;

// Rows of weights that a warp takes at once: as many as its registers hold on every device (with 4
// of E5M2, those of 12.0 spill).
template <int D, int M>
constexpr int ROWS_AT_ONCE = Format<D>::bits == 32       ? 1
                             : Format<D>::bits == 16     ? 2
                             : D == F8_E5M2 && M > 1     ? 3
                                                         : 4;

// Element 16·lane + q of a slice lies at [q][lane]: lanes read side by side.
typedef float Slice[PER_LANE][WARP + 1];

template <int D, int M>
DEVICE void skinny(Slice (&slices)[M], const View& a, const View& b, float* partial, int64_t batch) {
  constexpr int BITS = Format<D>::bits;
  constexpr int ROWS = ROWS_AT_ONCE<D, M>;
  int64_t m = extentFromEnd(a, 2);
  int64_t n = extentFromEnd(b, 2);
  int64_t depth = extentFromEnd(b, 1);
  int64_t aPitch = strideFromEnd(a, 2);
  int64_t aStride = strideFromEnd(a, 1);
  int64_t pitch = strideFromEnd(b, 2);
  int groups = (int)((m + M - 1) / M);
  int64_t firstRow = blockIdx.z % groups * M;
  int64_t matrix = blockIdx.z / groups;
  int lane = threadIdx.x % WARP;
  int64_t column = ((int64_t)blockIdx.x * WARPS + threadIdx.x / WARP) * ROWS;
  int64_t left = storageIndex(a, matrix, a.rank - 2) + firstRow * aPitch;
  int64_t right = storageIndex(b, matrix, b.rank - 2) + column * pitch;
  bool aligned = Codes16<BITS>::aligned(b, right, pitch);
  int64_t slicesOfK = (depth + SLICE - 1) / SLICE;
  int64_t share = (slicesOfK + gridDim.y - 1) / gridDim.y * SLICE;
  int64_t end = (blockIdx.y + 1) * share < depth ? (blockIdx.y + 1) * share : depth;
  float sums[ROWS][M] = {};
#pragma unroll 1
  for (int64_t k = blockIdx.y * share; k < end; k += SLICE) {
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < M * SLICE; i += THREADS) {
      int row = i / SLICE;
      int e = i % SLICE;
      bool there = firstRow + row < m && k + e < end;
      slices[row][e % PER_LANE][e / PER_LANE] =
          there ? loadValue(a, left + row * aPitch + (k + e) * aStride) : 0;
    }
    __syncthreads();
    int64_t from = k + lane * PER_LANE;
    int present = from >= end ? 0 : end - from < PER_LANE ? (int)(end - from) : PER_LANE;
    Codes16<BITS> codes[ROWS];
    float scale[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      int there = column + r < n ? present : 0;
      int64_t at = right + r * pitch + from;
      codes[r].load(b.data, at, there, aligned);
      scale[r] =
          b.scaleKind == UNSCALED || there == 0 ? 1 : scaleAt(b, scaleIndex(b.grid, at));
    }
    float part[ROWS][M] = {};
#pragma unroll
    for (int q = 0; q < PER_LANE; q++) {
      float x[M];
#pragma unroll
      for (int i = 0; i < M; i++) {
        x[i] = slices[i][q][lane];
      }
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        float weight = decode<D>(codes[r].code(q));
#pragma unroll
        for (int i = 0; i < M; i++) {
          part[r][i] = fmaf(weight, x[i], part[r][i]);
        }
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
#pragma unroll
      for (int i = 0; i < M; i++) {
        sums[r][i] = fmaf(part[r][i], scale[r], sums[r][i]);
      }
    }
  }
  float* to = partial + (matrix * gridDim.y + blockIdx.y) * m * n;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
#pragma unroll
    for (int i = 0; i < M; i++) {
      float sum = warpReduce(sums[r][i], Sum());
      if (lane == 0 && column + r < n && firstRow + i < m) {
        to[(firstRow + i) * n + column + r] = sum;
      }
    }
  }
}

#define SKINNY(NAME, D)                                                               \
  extern "C" __global__ void __launch_bounds__(THREADS, 2)                            \
      skinny_1_##NAME(const View a, const View b, float* partial, int64_t batch) {    \
    __shared__ Slice slices[1];                                                       \
    skinny<D, 1>(slices, a, b, partial, batch);                                       \
  }                                                                                   \
                                                                                      \
  extern "C" __global__ void __launch_bounds__(THREADS, 2)                            \
      skinny_8_##NAME(const View a, const View b, float* partial, int64_t batch) {    \
    __shared__ Slice slices[8];                                                       \
    skinny<D, 8>(slices, a, b, partial, batch);                                       \
  }

SKINNY(f32, F32)
SKINNY(f16, F16)
SKINNY(bf16, BF16)
SKINNY(f8_e4m3, F8_E4M3)
SKINNY(f8_e5m2, F8_E5M2)
SKINNY(f6_e2m3, F6_E2M3)
SKINNY(f6_e3m2, F6_E3M2)
SKINNY(f4_e2m1, F4_E2M1)
SKINNY(i8, I8)
SKINNY(i4, I4)

// D of the sums of all splits. One thread an element; any grid.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    skinny_sum(const float* partial, int64_t splits, const Epilogue to, int64_t m, int64_t n,
               int64_t batch) {
  int64_t step = (int64_t)gridDim.x * THREADS;
  int64_t elements = m * n;
  int64_t count = batch * elements;
  uint32_t largest = 0;
#pragma unroll 1
  for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
    int64_t matrix = (int64_t)quotient((uint64_t)i, (uint64_t)elements);
    int64_t within = i - matrix * elements;
    const float* sums = partial + matrix * splits * elements + within;
    float sum = 0;
#pragma unroll 1
    for (int64_t s = 0; s < splits; s++) {
      sum += sums[s * elements];
    }
    int64_t row = (int64_t)quotient((uint64_t)within, (uint64_t)n);
    float d = finish(to, sum, matrix, row, within - row * n, m, n);
    storeFloat(to, i, d);
    largest = Max()(largest, asBits(d) & 0x7FFFFFFF);
  }
  storeAmax(to, largest);
}
