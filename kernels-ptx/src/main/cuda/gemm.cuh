// Products on the tensor cores: D[m, n] = sum A[m, k]·B[n, k], K side by side in memory in both.
//
// Tile: 128 × 64 of D by 128 bytes of K (64 elements of 2 bytes, 128 of one); 2 × 2 warps of 64 × 32.
// Grid: (ceil(N / 64), ceil(M / 128), min(batch, 65535)). A warp whose rows or columns are all beyond
// D's only fetches.
//
// STAGES tiles of each operand lie in dynamic shared memory, swizzled as tiles.cuh says. Step t, from
// 1 - STAGES on (the first barrier is also what the sums of a matrix before wait at),
//   waits for its own copies of tile t, then at the barrier for everyone's, which also says that
//   everyone has done with tile t - 1;
//   begins to fetch tile t + STAGES - 1 into the place of tile t - 1: asynchronous copies, or codes
//   into registers;
//   multiplies tile t;
//   decodes what it holds in registers into the place of tile t - 1, for a later barrier to show.
//
// Scales. Sums of a block of K are multiplied by both operands' scales and added to F32 sums of
// their own (promoted) wherever a block ends, at multiples of GRANULE elements. So the elements stay
// exact, and an accumulator narrower than F32 holds few terms. A thread reads the scales of one row
// of A and of one of B, before the multiplications that they wait for, and hands them on in shared
// memory. A block of K must be a multiple of GRANULE elements, or all of K, and begin at the view's
// first column.
#pragma once

#include "epilogue.cuh"
#include "tiles.cuh"

constexpr int TILE_M = 128;
constexpr int TILE_N = 64;
constexpr int GEMM_THREADS = 128;
constexpr int STEP_BYTES = 32;
constexpr int STEPS = ROW_BYTES / STEP_BYTES;

// How many elements of K share a scale, as far as a view tells.
DEVICE int64_t scaleDepth(const View& view, int64_t depth) {
  bool blocks = view.scaleKind == SCALES_F32 || view.scaleKind == SCALES_E8M0;
  return blocks && view.grid.blockColumns < depth ? view.grid.blockColumns : depth;
}

// The factors of one row of an operand; of NVFP4 only the tensor's own, since its block scales are
// with the elements.
struct RowScales {
  const View& view;
  int64_t first;  // index of the scale at the beginning of the row

  DEVICE RowScales(const Strip& strip, int row) : view(strip.view), first(0) {
    if (byBlocks()) {
      first = scaleIndex(view.grid, strip.at + (row < strip.rows ? row : 0) * strip.pitch);
    }
  }

  DEVICE bool byBlocks() const {
    return view.scaleKind == SCALES_F32 || view.scaleKind == SCALES_E8M0;
  }

  DEVICE float at(int64_t k) const {
    if (view.scaleKind == UNSCALED) {
      return 1;
    }
    if (view.scaleKind == SCALES_E4M3_F32) {
      return *view.global;
    }
    return scaleAt(view, first + (int64_t)quotient((uint64_t)k, (uint64_t)view.grid.blockColumns));
  }
};

// After how many elements of K to promote, so that no block of either operand ends in between and
// none grows longer than `longest`; blocks that don't fit together make it 1, every granule.
DEVICE int64_t promotionInterval(int64_t byA, int64_t byB, int64_t depth, int64_t longest) {
  int64_t shorter = byA < byB ? byA : byB;
  int64_t longer = byA < byB ? byB : byA;
  if (longer < depth && longer % shorter != 0) {
    return 1;
  }
  if (longest > 0 && longest < shorter) {
    return shorter < depth ? 1 : longest;
  }
  return shorter;
}

// The operands of a tile.
template <int D>
using DirectA = DirectTile<D, TILE_M, GEMM_THREADS>;
template <int D>
using DirectB = DirectTile<D, TILE_N, GEMM_THREADS>;
template <int D, int MMA>
using DecodedA = DecodedTile<D, MMA, TILE_M, GEMM_THREADS>;
template <int D, int MMA>
using DecodedB = DecodedTile<D, MMA, TILE_N, GEMM_THREADS>;

template <class Mma, class A, class B, int STAGES, int GRANULE>
struct TensorGemm {
  static constexpr int WARPS_M = 2;
  static constexpr int WARPS_N = 2;
  // Of a warp: 16 rows of A, 8 columns of D at once.
  static constexpr int ROWS_16 = 4;
  static constexpr int COLUMNS_8 = 4;
  static constexpr int WARP_M = ROWS_16 * 16;
  static constexpr int WARP_N = COLUMNS_8 * 8;
  static constexpr int BM = TILE_M;
  static constexpr int BN = TILE_N;
  static constexpr int THREADS = GEMM_THREADS;
  static constexpr int DEPTH = A::DEPTH;
  static constexpr bool SCALED = GRANULE > 0;
  static constexpr int GRANULES = SCALED ? DEPTH / (SCALED ? GRANULE : 1) : 1;
  // From 9.0 on, devices decode FP8 to F16 for mma: with more steps at once registers would spill.
  static constexpr int STEPS_AT_ONCE = GRANULES > 1 ? STEPS / GRANULES : 1;
  static constexpr int MOST_UNPROMOTED = 1 << 30;
  static constexpr int PITCH = BN + 8;
  static constexpr int STAGE_BYTES = (BM + BN) * ROW_BYTES;
  static constexpr int SCALES = STAGES * STAGE_BYTES;
  static constexpr int SHARED_BYTES = SCALES + (SCALED ? (BM + BN) * 4 : 0);
  static_assert(BM == WARPS_M * WARP_M && BN == WARPS_N * WARP_N &&
                    THREADS == WARPS_M * WARPS_N * WARP, "warps cover a tile");
  static_assert(A::DEPTH == B::DEPTH, "both operands have the same elements in a tile");
  static_assert(SCALES >= BM * PITCH * 4, "the sums fit where the tiles were");
  static_assert(BM == THREADS && BN <= THREADS, "a thread has the scales of a row of each");

  typedef typename Mma::Sum Sums[ROWS_16][COLUMNS_8][4];
  typedef float Floats[ROWS_16][COLUMNS_8][4];

  // Rows of A are lane / 4 and 8 further down of each 16; columns of D 2·(lane % 4) and the next of
  // each 8.
  static DEVICE void promote(Sums& part, Floats& sums, const float* scales, int warpRow,
                             int warpColumn) {
    int lane = threadIdx.x % WARP;
    const float* down = scales + warpRow + lane / 4;
    const float* across = scales + BM + warpColumn + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < ROWS_16; i++) {
      float a[2] = {down[i * 16], down[i * 16 + 8]};
#pragma unroll
      for (int j = 0; j < COLUMNS_8; j++) {
        float2 b = *(const float2*)(across + j * 8);
#pragma unroll
        for (int r = 0; r < 4; r++) {
          sums[i][j][r] =
              fmaf((float)part[i][j][r] * a[r / 2], r % 2 == 0 ? b.x : b.y, sums[i][j][r]);
          part[i][j][r] = 0;
        }
      }
    }
  }

  // `left` and `right` are where the lane's rows begin, in a tile's first chunks as they are swizzled;
  // a step's chunks lie where an exclusive or of its bytes leads, since tiles lie at multiples of them
  // all.
  static DEVICE void multiplyStep(Sums& part, uint32_t left, uint32_t right, int step) {
    uint32_t b[COLUMNS_8 / 2][4];
    uint32_t rows = left ^ step * STEP_BYTES;
    uint32_t columns = right ^ step * STEP_BYTES;
    unrolled<COLUMNS_8 / 2>([&](auto j) { loadMatrices<j() * 16 * ROW_BYTES>(b[j()], columns); });
    unrolled<ROWS_16>([&](auto i) {
      uint32_t a[4];
      loadMatrices<i() * 16 * ROW_BYTES>(a, rows);
#pragma unroll
      for (int j = 0; j < COLUMNS_8; j++) {
        Mma::multiply(part[i()][j], a, b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
      }
    });
  }

  // `longest` is the most elements of K that an unpromoted sum may hold; 0 for any.
  static DEVICE void run(uint8_t* memory, const View& a, const View& b, const Epilogue& to,
                         int64_t batch, int64_t longest) {
    int64_t m = extentFromEnd(a, 2);
    int64_t n = extentFromEnd(b, 2);
    int64_t depth = to.alpha == 0 ? 0 : extentFromEnd(a, 1);
    int64_t row = (int64_t)blockIdx.y * BM;
    int64_t column = (int64_t)blockIdx.x * BN;
    int lane = threadIdx.x % WARP;
    int warpRow = threadIdx.x / WARP % WARPS_M * WARP_M;
    int warpColumn = threadIdx.x / WARP / WARPS_M * WARP_N;
    bool multiplies = row + warpRow < m && column + warpColumn < n;
    // Matrices: rows 0-7 and 8-15 of the step's first 16 bytes, then of its second.
    uint32_t left = sharedAddress(chunkAt(memory, warpRow + lane % 16, lane / 16));
    // Matrices: both halves of columns 0-7, then of 8-15.
    uint32_t right = sharedAddress(
        chunkAt(memory + BM * ROW_BYTES, warpColumn + lane % 8 + lane / 16 * 8, lane / 8 % 2));
    float* scales = (float*)(memory + SCALES);
    int interval = 0;
    if constexpr (SCALED) {
      int64_t blocks =
          promotionInterval(scaleDepth(a, depth), scaleDepth(b, depth), depth, longest);
      // Promoting within a block as long as this does no harm, and saves a register.
      interval = blocks < MOST_UNPROMOTED ? (int)blocks : MOST_UNPROMOTED;
    }
#pragma unroll 1
    for (int64_t matrix = blockIdx.z; matrix < batch; matrix += gridDim.z) {
      Strip leftStrip(a, matrix, row, depth);
      Strip rightStrip(b, matrix, column, depth);
      A leftTile(leftStrip);
      B rightTile(rightStrip);
      typename A::Registers leftCodes;
      typename B::Registers rightCodes;
      RowScales leftScales(leftStrip, threadIdx.x);
      RowScales rightScales(rightStrip, threadIdx.x % BN);
      Sums part = {};
      Floats sums = {};
      int next = 0;
      int unpromoted = 0;
      // Tiles beyond K are not fetched: every step commits a group all the same.
#pragma unroll 1
      for (int64_t k = (1 - STAGES) * DEPTH; k < depth; k += DEPTH) {
        waitForCopies<STAGES - 2>();
        __syncthreads();
        uint8_t* fetched = memory + next * STAGE_BYTES;
        int64_t ahead = k + (STAGES - 1) * DEPTH;
        if (ahead < depth) {
          leftTile.fetch(leftCodes, fetched, ahead);
          rightTile.fetch(rightCodes, fetched + BM * ROW_BYTES, ahead);
        }
        commitCopies();
        next = next + 1 == STAGES ? 0 : next + 1;
        if (k >= 0) {
          int stage = next * STAGE_BYTES;
          if constexpr (SCALED) {
#pragma unroll 1
            for (int granule = 0; granule < GRANULES; granule++) {
              int64_t from = k + granule * GRANULE;
              unpromoted += GRANULE;
              bool ends = unpromoted >= interval || from + GRANULE >= depth;
              float down = ends ? leftScales.at(from) : 0;
              float across = ends ? rightScales.at(from) : 0;
              if (multiplies) {
#pragma unroll STEPS_AT_ONCE
                for (int step = 0; step < STEPS / GRANULES; step++) {
                  multiplyStep(part, left + stage, right + stage,
                               granule * (STEPS / GRANULES) + step);
                }
              }
              if (ends) {
                unpromoted = 0;
                __syncthreads();
                scales[threadIdx.x] = down;
                if (threadIdx.x < BN) {
                  scales[BM + threadIdx.x] = across;
                }
                __syncthreads();
                promote(part, sums, scales, warpRow, warpColumn);
                if (from + GRANULE >= depth) {
                  break;
                }
              }
            }
          } else if (multiplies) {
#pragma unroll
            for (int step = 0; step < STEPS; step++) {
              multiplyStep(part, left + stage, right + stage, step);
            }
          }
        }
        if (ahead < depth) {
          leftTile.store(leftCodes, fetched);
          rightTile.store(rightCodes, fetched + BM * ROW_BYTES);
        }
      }
      __syncthreads();
      if (multiplies) {
        handOver(memory, part, sums, warpRow, warpColumn);
      }
      __syncthreads();
      finishTile<BM, BN, PITCH, THREADS>(to, (const float*)memory, matrix, row, column, m, n);
    }
  }

  static DEVICE void handOver(uint8_t* memory, Sums& part, Floats& sums, int warpRow,
                              int warpColumn) {
    int lane = threadIdx.x % WARP;
    float* tile = (float*)memory + (warpRow + lane / 4) * PITCH + warpColumn + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < ROWS_16; i++) {
#pragma unroll
      for (int j = 0; j < COLUMNS_8; j++) {
#pragma unroll
        for (int r = 0; r < 4; r += 2) {
          *(float2*)(tile + (i * 16 + r / 2 * 8) * PITCH + j * 8) =
              SCALED ? make_float2(sums[i][j][r], sums[i][j][r + 1])
                     : make_float2((float)part[i][j][r], (float)part[i][j][r + 1]);
        }
      }
    }
  }
};

// CTAs that a multiprocessor shall hold: the more, the fewer registers of a thread.
#ifndef RESIDENT
#define RESIDENT 2
#endif

#define GEMM(NAME, CONFIGURATION, LONGEST)                                              \
  extern "C" __global__ void __launch_bounds__(GEMM_THREADS, RESIDENT)                  \
      NAME(const View a, const View b, const Epilogue to, int64_t batch) {              \
    extern __shared__ __align__(128) uint8_t memory[];                                  \
    CONFIGURATION::run(memory, a, b, to, batch, LONGEST);                               \
  }
