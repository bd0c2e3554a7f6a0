// Products of scaled blocks on the tensor cores of sm_120f: D[m, n] = sum A[m, k]·B[n, k], K side by
// side in memory in both, the scales of blocks of K multiplied in by the tensor cores.
//
// Tile: 128 × 128 of D by 128 bytes of K. 8 warps, 2 × 4, each 64 × 32.
// Grid: (ceil(N / 128), ceil(M / 128), min(batch, 65535)).
//
// STAGES tiles of each operand lie in dynamic shared memory, swizzled as tiles.cuh says, with WORDS
// words of scales for each of their rows behind them. Step t
//   waits for its own copies of tile t, then at the barrier for everyone's, which also says that
//   everyone has done with tile t - 1;
//   begins to fetch tile t + STAGES - 1 into the place of tile t - 1;
//   multiplies tile t, 32 bytes of K at a time.
//
// A lane loads the scales of two rows of A and one column of B once for a tile, and multiplications
// say which lanes of each four have those of which 16 rows and 8 columns:
//
//   lane % 4     0       1       2       3
//   A, word i    row g   g + 8   g + 16  g + 24     of rows 32·i and following, g = lane / 4
//   B            col g   g + 8   g + 16  g + 24     of the warp's 32 columns
//
// In shared memory they lie in the order of the lanes, so that no two are in one bank.
//
// Sums are F32. What an operand has in place of such scales (one for the tensor, one a row), and
// NVFP4's factor of the tensor, multiplies the sums at the end.
#pragma once

#include "block_tiles.cuh"
#include "epilogue.cuh"

// A lane's words of scales, which one load brings.
template <int WORDS>
DEVICE void loadWords(uint32_t (&words)[WORDS], const uint8_t* from) {
  if constexpr (WORDS == 4) {
    uint4 four = *(const uint4*)from;
    words[0] = four.x;
    words[1] = four.y;
    words[2] = four.z;
    words[3] = four.w;
  } else if constexpr (WORDS == 2) {
    uint2 two = *(const uint2*)from;
    words[0] = two.x;
    words[1] = two.y;
  } else {
    words[0] = *(const uint32_t*)from;
  }
}

// The row of 32 whose scales a lane has.
DEVICE int scaleRowOf(int lane) { return lane % 4 * 8 + lane / 4; }

template <class Mma, int A, int B, int KIND, int STAGES>
struct BlockGemm {
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int WARPS_M = 2;
  static constexpr int WARP_M = 64;
  static constexpr int WARP_N = 32;
  static constexpr int THREADS = 256;
  static constexpr int STEP_BYTES = 32;
  static constexpr int STEPS = ROW_BYTES / STEP_BYTES;
  // Bytes of scales for a row of a tile are STEPS · SCALES.
  static constexpr int WORDS = Mma::SCALES;
  // Multiplications of 32 elements want each in a byte of its own.
  static constexpr bool BYTEWISE = Mma::SCALES == 1;
  static constexpr bool SPREAD_A = BYTEWISE && Format<A>::bits < 8;
  static constexpr bool SPREAD_B = BYTEWISE && Format<B>::bits < 8;
  // Eight floats behind each row put pairs of columns of eight rows into different banks.
  static constexpr int PITCH = BN + 8;
  static constexpr int TILE_BYTES = (BM + BN) * ROW_BYTES;
  static constexpr int STAGE_BYTES = TILE_BYTES + (BM + BN) * WORDS * 4;
  // The sums lie where the tiles were, and behind them the rows' factors.
  static constexpr int FACTORS = BM * PITCH * 4;
  static constexpr int SUMS_BYTES = FACTORS + (BM + BN) * 4;
  static constexpr int TILES_BYTES = STAGES * STAGE_BYTES;
  static constexpr int SHARED_BYTES = TILES_BYTES > SUMS_BYTES ? TILES_BYTES : SUMS_BYTES;

  typedef BlockTile<A, SPREAD_A, BM, THREADS> TileA;
  typedef BlockTile<B, SPREAD_B, BN, THREADS> TileB;
  typedef ScaleRow<KIND, WORDS> Scales;
  typedef float Sums[4][4][4];

  static constexpr int DEPTH = TileA::DEPTH;
  static_assert(TileA::DEPTH == TileB::DEPTH, "both operands have the same elements in a tile");
  static_assert(BM + BN == THREADS, "a thread fetches the scales of one row");

  template <int D, bool SPREAD>
  static DEVICE void load(uint32_t (&matrices)[4], const uint8_t* chunk) {
    if constexpr (SPREAD) {
      loadSpreadMatrices<Format<D>::bits>(matrices, chunk);
    } else {
      loadMatrices(matrices, chunk);
    }
  }

  static DEVICE void multiplyTile(Sums& sums, uint8_t* stage, int warpRow, int warpColumn) {
    int lane = threadIdx.x % WARP;
    uint8_t* a = stage;
    uint8_t* b = stage + BM * ROW_BYTES;
    const uint8_t* scales = stage + TILE_BYTES;
    uint32_t scalesA[2][WORDS];
    uint32_t scalesB[WORDS];
    loadWords(scalesA[0], scales + (warpRow + lane) * WORDS * 4);
    loadWords(scalesA[1], scales + (warpRow + 32 + lane) * WORDS * 4);
    loadWords(scalesB, scales + (BM + warpColumn + lane) * WORDS * 4);
    unrolled<STEPS>([&](auto step) {
      constexpr int first = step() * Mma::SCALES;
      uint32_t left[4][4];
      uint32_t right[2][4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        // Matrices: rows 0-7 and 8-15 of the step's first 16 bytes, then of its second.
        load<A, SPREAD_A>(left[i],
                          chunkAt(a, warpRow + i * 16 + lane % 16, step() * 2 + lane / 16));
      }
#pragma unroll
      for (int j = 0; j < 2; j++) {
        // Matrices: both halves of columns 0-7, then of 8-15.
        load<B, SPREAD_B>(right[j], chunkAt(b, warpColumn + j * 16 + lane % 8 + lane / 16 * 8,
                                            step() * 2 + lane / 8 % 2));
      }
      unrolled<4>([&](auto i) {
        unrolled<4>([&](auto j) {
          Mma::template multiply<first % 4, i() % 2, j()>(
              sums[i()][j()], left[i()], right[j() / 2][j() % 2 * 2],
              right[j() / 2][j() % 2 * 2 + 1], scalesA[i() / 2][first / 4], scalesB[first / 4]);
        });
      });
    });
  }

  static DEVICE void run(uint8_t* memory, const View& a, const View& b, const Epilogue& to,
                         int64_t batch) {
    int64_t m = extentFromEnd(a, 2);
    int64_t n = extentFromEnd(b, 2);
    int64_t depth = to.alpha == 0 ? 0 : extentFromEnd(a, 1);
    int64_t row = (int64_t)blockIdx.y * BM;
    int64_t column = (int64_t)blockIdx.x * BN;
    int warpRow = threadIdx.x / WARP % WARPS_M * WARP_M;
    int warpColumn = threadIdx.x / WARP / WARPS_M * WARP_N;
#pragma unroll 1
    for (int64_t matrix = blockIdx.z; matrix < batch; matrix += gridDim.z) {
      Strip leftStrip(a, matrix, row, depth);
      Strip rightStrip(b, matrix, column, depth);
      TileA left(leftStrip);
      TileB right(rightStrip);
      int scaled = threadIdx.x / WARP * WARP + scaleRowOf(threadIdx.x % WARP);
      Scales scales(scaled < BM ? leftStrip : rightStrip, scaled % BM);
      uint8_t* scalesTo = memory + TILE_BYTES + threadIdx.x * WORDS * 4;
      Sums sums = {};
      // Tiles beyond K are not fetched: every step commits a group all the same.
#pragma unroll 1
      for (int t = 0; t < STAGES - 1; t++) {
        int64_t k = (int64_t)t * DEPTH;
        if (k < depth) {
          left.fetch(memory + t * STAGE_BYTES, k);
          right.fetch(memory + t * STAGE_BYTES + BM * ROW_BYTES, k);
          scales.fetch(scalesTo + t * STAGE_BYTES, k);
        }
        commitCopies();
      }
      int stage = 0;
#pragma unroll 1
      for (int64_t k = 0; k < depth; k += DEPTH) {
        waitForCopies<STAGES - 2>();
        __syncthreads();
        int next = stage == 0 ? STAGES - 1 : stage - 1;
        int64_t ahead = k + (STAGES - 1) * DEPTH;
        if (ahead < depth) {
          left.fetch(memory + next * STAGE_BYTES, ahead);
          right.fetch(memory + next * STAGE_BYTES + BM * ROW_BYTES, ahead);
          scales.fetch(scalesTo + next * STAGE_BYTES, ahead);
        }
        commitCopies();
        multiplyTile(sums, memory + stage * STAGE_BYTES, warpRow, warpColumn);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
      }
      __syncthreads();
      ((float*)(memory + FACTORS))[scaled] = scales.factor;
      __syncthreads();
      finishSums(memory, sums, warpRow, warpColumn);
      __syncthreads();
      finishTile<BM, BN, PITCH, THREADS>(to, (const float*)memory, matrix, row, column, m, n);
      __syncthreads();
    }
  }

  // Rows of D are lane / 4 and 8 further down of each 16; columns 2·(lane % 4) and the next of each 8.
  static DEVICE void finishSums(uint8_t* memory, Sums& sums, int warpRow, int warpColumn) {
    int lane = threadIdx.x % WARP;
    float* tile = (float*)memory;
    const float* factors = (const float*)(memory + FACTORS);
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
      for (int j = 0; j < 4; j++) {
        int column = warpColumn + j * 8 + lane % 4 * 2;
        float2 across = *(const float2*)(factors + BM + column);
#pragma unroll
        for (int r = 0; r < 4; r += 2) {
          int row = warpRow + i * 16 + r / 2 * 8 + lane / 4;
          float down = factors[row];
          *(float2*)(tile + row * PITCH + column) = make_float2(
              sums[i][j][r] * down * across.x, sums[i][j][r + 1] * down * across.y);
        }
      }
    }
  }
};

#define BLOCK_GEMM(NAME, CONFIGURATION)                                     \
  extern "C" __global__ void __launch_bounds__(256, 1)                      \
      NAME(const View a, const View b, const Epilogue to, int64_t batch) {  \
    extern __shared__ __align__(128) uint8_t memory[];                      \
    CONFIGURATION::run(memory, a, b, to, batch);                            \
  }
