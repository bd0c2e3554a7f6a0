// Products on the tensor cores: D[m, n] = sum A[m, k]·B[n, k], K side by side in memory in both.
//
// Tile: BM × BN of D by 128 bytes of K (64 elements of 2 bytes, 128 of one); WARPS_M × WARPS_N warps
// of 32 × 32 each. Grid: (ceil(N / BN), ceil(M / BM), min(batch, 65535)).
//
// STAGES tiles of each operand lie in dynamic shared memory, swizzled as tiles.cuh says. Step t
//   waits for its own copies of tile t, then at the barrier for everyone's, which also says that
//   everyone has done with tile t - 1;
//   begins to fetch tile t + STAGES - 1 into the place of tile t - 1: asynchronous copies, or codes
//   into registers;
//   multiplies tile t;
//   decodes what it holds in registers into the place of tile t - 1, for a later barrier to show.
//
// Scales. Sums of a block of K are multiplied by both operands' scales and added to F32 sums of
// their own (promoted) wherever a block ends, at multiples of GRANULE elements; scales of the tile's
// rows lie in shared memory beside it. So the elements stay exact, and an accumulator narrower than
// F32 holds few terms. A block of K must be a multiple of GRANULE elements, or all of K, and begin
// at the view's first column.
#pragma once

#include "epilogue.cuh"
#include "tiles.cuh"

constexpr int WARP_TILE = 32;
constexpr int STEP_BYTES = 32;
constexpr int STEPS = ROW_BYTES / STEP_BYTES;

// How many elements of K share a scale, as far as a view tells.
DEVICE int64_t scaleDepth(const View& view, int64_t depth) {
  bool blocks = view.scaleKind == SCALES_F32 || view.scaleKind == SCALES_E8M0;
  return blocks && view.grid.blockColumns < depth ? view.grid.blockColumns : depth;
}

// The factor of row `row` from element k on; of NVFP4 only the tensor's own, since its block scales
// are with the elements.
DEVICE float rowScale(const Strip& strip, int64_t row, int64_t k) {
  const View& view = strip.view;
  if (view.scaleKind == UNSCALED) {
    return 1;
  }
  if (view.scaleKind == SCALES_E4M3_F32) {
    return *view.global;
  }
  int64_t within = row < strip.rows ? row : 0;
  int64_t from = k < strip.depth ? k : 0;
  return scaleAt(view, scaleIndex(view.grid, strip.at + within * strip.pitch + from));
}

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

template <class Mma, class A, class B, int WARPS_M, int WARPS_N, int STAGES, int GRANULE>
struct TensorGemm {
  static constexpr int BM = WARPS_M * WARP_TILE;
  static constexpr int BN = WARPS_N * WARP_TILE;
  static constexpr int THREADS = WARPS_M * WARPS_N * WARP;
  static constexpr int DEPTH = A::DEPTH;
  static constexpr bool SCALED = GRANULE > 0;
  static constexpr int GRANULES = SCALED ? DEPTH / (SCALED ? GRANULE : 1) : 1;
  static constexpr int PITCH = BN + 4;
  static constexpr int STAGE_BYTES = (BM + BN) * ROW_BYTES;
  static constexpr int SCALE_FLOATS = SCALED ? GRANULES * (BM + BN) : 0;
  static constexpr int SHARED_BYTES = STAGES * (STAGE_BYTES + SCALE_FLOATS * 4);
  static_assert(A::DEPTH == B::DEPTH, "both operands have the same elements in a tile");
  static_assert(SHARED_BYTES >= BM * PITCH * 4, "the sums fit where the tiles were");

  typedef typename Mma::Sum Sums[2][4][4];

  static DEVICE float* scalesOf(uint8_t* memory, int stage) {
    return (float*)(memory + STAGES * STAGE_BYTES) + stage * SCALE_FLOATS;
  }

  static DEVICE void fetchScales(uint8_t* memory, int stage, const Strip& left,
                                 const Strip& right, int64_t k) {
    float* scales = scalesOf(memory, stage);
    if constexpr (SCALED) {
#pragma unroll 1
      for (int i = threadIdx.x; i < SCALE_FLOATS; i += THREADS) {
        int64_t from = k + i / (BM + BN) * GRANULE;
        int row = i % (BM + BN);
        scales[i] = row < BM ? rowScale(left, row, from) : rowScale(right, row - BM, from);
      }
    }
  }

  // Rows of A are lane / 4 and 8 further down of each 16; columns of D 2·(lane % 4) and the next of
  // each 8.
  static DEVICE void promote(Sums& part, float (&sums)[2][4][4], const float* scales, int warpRow,
                             int warpColumn) {
    int lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
      for (int j = 0; j < 4; j++) {
#pragma unroll
        for (int r = 0; r < 4; r++) {
          float a = scales[warpRow + i * 16 + r / 2 * 8 + lane / 4];
          float b = scales[BM + warpColumn + j * 8 + lane % 4 * 2 + r % 2];
          sums[i][j][r] = fmaf((float)part[i][j][r] * a, b, sums[i][j][r]);
          part[i][j][r] = 0;
        }
      }
    }
  }

  static DEVICE void multiplyStep(Sums& part, uint8_t* a, uint8_t* b, int step, int warpRow,
                                  int warpColumn) {
    int lane = threadIdx.x % WARP;
    uint32_t left[2][4];
    uint32_t right[2][4];
#pragma unroll
    for (int i = 0; i < 2; i++) {
      // Matrices: rows 0-7 and 8-15 of the step's first 16 bytes, then of its second.
      loadMatrices(left[i], chunkAt(a, warpRow + i * 16 + lane % 16, step * 2 + lane / 16));
      // Matrices: both halves of columns 0-7, then of 8-15.
      loadMatrices(right[i], chunkAt(b, warpColumn + i * 16 + lane % 8 + lane / 16 * 8,
                                     step * 2 + lane / 8 % 2));
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
      for (int j = 0; j < 4; j++) {
        Mma::multiply(part[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
      }
    }
  }

  // `longest` is the most elements of K that an unpromoted sum may hold; 0 for any.
  static DEVICE void run(uint8_t* memory, const View& a, const View& b, const Epilogue& to,
                         int64_t batch, int64_t longest) {
    int64_t m = extentFromEnd(a, 2);
    int64_t n = extentFromEnd(b, 2);
    int64_t depth = to.alpha == 0 ? 0 : extentFromEnd(a, 1);
    int64_t row = (int64_t)blockIdx.y * BM;
    int64_t column = (int64_t)blockIdx.x * BN;
    int warpRow = threadIdx.x / WARP % WARPS_M * WARP_TILE;
    int warpColumn = threadIdx.x / WARP / WARPS_M * WARP_TILE;
    int64_t interval = depth;
    if constexpr (SCALED) {
      interval = promotionInterval(scaleDepth(a, depth), scaleDepth(b, depth), depth, longest);
    }
#pragma unroll 1
    for (int64_t matrix = blockIdx.z; matrix < batch; matrix += gridDim.z) {
      Strip leftStrip(a, matrix, row, depth);
      Strip rightStrip(b, matrix, column, depth);
      A left(leftStrip);
      B right(rightStrip);
      typename A::Registers leftCodes;
      typename B::Registers rightCodes;
      Sums part = {};
      float sums[2][4][4] = {};
      // Tiles beyond K are fetched as zeros, or not at all: every step commits a group all the same.
#pragma unroll 1
      for (int t = 0; t < STAGES - 1; t++) {
        uint8_t* tile = memory + t * STAGE_BYTES;
        int64_t k = (int64_t)t * DEPTH;
        if (k < depth) {
          left.fetch(leftCodes, tile, k);
          right.fetch(rightCodes, tile + BM * ROW_BYTES, k);
          left.store(leftCodes, tile);
          right.store(rightCodes, tile + BM * ROW_BYTES);
          fetchScales(memory, t, leftStrip, rightStrip, k);
        }
        commitCopies();
      }
      int stage = 0;
      int64_t unpromoted = 0;
#pragma unroll 1
      for (int64_t k = 0; k < depth; k += DEPTH) {
        waitForCopies<STAGES - 2>();
        __syncthreads();
        int nextStage = stage == 0 ? STAGES - 1 : stage - 1;
        uint8_t* next = memory + nextStage * STAGE_BYTES;
        int64_t ahead = k + (STAGES - 1) * DEPTH;
        if (ahead < depth) {
          left.fetch(leftCodes, next, ahead);
          right.fetch(rightCodes, next + BM * ROW_BYTES, ahead);
          fetchScales(memory, nextStage, leftStrip, rightStrip, ahead);
        }
        commitCopies();
        uint8_t* tile = memory + stage * STAGE_BYTES;
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
          multiplyStep(part, tile, tile + BM * ROW_BYTES, step, warpRow, warpColumn);
          if constexpr (SCALED) {
            if ((step + 1) % (STEPS / GRANULES) == 0) {
              int granule = step / (STEPS / GRANULES);
              unpromoted += GRANULE;
              int64_t end = k + (granule + 1) * GRANULE;
              if (unpromoted >= interval || (end >= depth && end < depth + GRANULE)) {
                promote(part, sums, scalesOf(memory, stage) + granule * (BM + BN), warpRow,
                        warpColumn);
                unpromoted = 0;
              }
            }
          }
        }
        if (ahead < depth) {
          left.store(leftCodes, next);
          right.store(rightCodes, next + BM * ROW_BYTES);
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
      }
      waitForCopies<0>();
      __syncthreads();
      finishSums(memory, part, sums, warpRow, warpColumn);
      __syncthreads();
      finishTile<BM, BN, PITCH, THREADS>(to, (const float*)memory, matrix, row, column, m, n);
      __syncthreads();
    }
  }

  static DEVICE void finishSums(uint8_t* memory, Sums& part, float (&sums)[2][4][4], int warpRow,
                                int warpColumn) {
    int lane = threadIdx.x % WARP;
    float* tile = (float*)memory;
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
      for (int j = 0; j < 4; j++) {
#pragma unroll
        for (int r = 0; r < 4; r++) {
          int at = (warpRow + i * 16 + r / 2 * 8 + lane / 4) * PITCH + warpColumn + j * 8 +
                   lane % 4 * 2 + r % 2;
          tile[at] = SCALED ? sums[i][j][r] : (float)part[i][j][r];
        }
      }
    }
  }
};

// CTAs that a multiprocessor shall hold: the more, the fewer registers of a thread.
#ifndef RESIDENT
#define RESIDENT 3
#endif

#define GEMM(NAME, CTA, CONFIGURATION, LONGEST)                                          \
  extern "C" __global__ void __launch_bounds__(CTA, RESIDENT)                            \
      NAME(const View a, const View b, const Epilogue to, int64_t batch) {               \
    extern __shared__ __align__(128) uint8_t memory[];                                   \
    static_assert(CONFIGURATION::THREADS == CTA, "threads of the configuration");        \
    CONFIGURATION::run(memory, a, b, to, batch, LONGEST);                                \
  }
