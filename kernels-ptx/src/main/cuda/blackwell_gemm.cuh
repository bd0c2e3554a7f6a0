// Products on the tensor cores of 10.0: D[m, n] = sum A[m, k]·B[n, k], K side by side in memory in both.
//
// A CTA has 416 threads. Two warpgroups take up sums, one fetches, one warp has a thread that multiplies.
// The fetching warpgroup is hopper_gemm's: one of its threads has both tiles of 128 bytes of K copied by
// tensor maps, and if scales change along K each of its threads brings the factor of one row. The sums
// stay in Tensor Memory, two accumulators of 128 columns: while one is read the other is made.
//
//   full[s]     1 arrival that expects bytes, and 128 of factors     multiplying thread, and who needs factors
//   empty[s]    1 arrival of the tensor cores, and 8 of warps that have read factors     fetching threads
//   made[i]     1 arrival of the tensor cores                         warps that take up sums
//   taken[i]    8 arrivals, one for each of these warps               multiplying thread
//
// These tensor cores keep 25 or so bits of a sum, so an accumulator holds all of K. Only where scales
// change along K it holds 128 bytes of it, and is multiplied by the factor and added to F32 sums.
//
// Scales of blocks of 32 or 16 elements (KIND) go with the tiles: each fetching thread brings those of one
// row of each operand, in the order in which copies to Tensor Memory want them, and the multiplying thread
// has them copied there before it multiplies. Four columns hold a word of four scales for 128 rows:
//
//   shared memory      16 bytes for each of 32 rows r: words of rows r, r + 32, r + 64, r + 96
//   Tensor Memory      row r in lane r % 32 of each quarter, column r / 32
//
// What has other scales then, or none, gets ones, and is scaled at the end.
//
// Grid and the order of tiles: as in hopper_gemm.
#pragma once

#include "blackwell_ptx.cuh"
#include "block_tiles.cuh"
#include "hopper_gemm.cuh"

template <class Mma>
constexpr int WORDS_OF_SCALES = 0;
template <>
constexpr int WORDS_OF_SCALES<TensorMxF8> = TensorMxF8::SCALES;
template <>
constexpr int WORDS_OF_SCALES<TensorMxF4> = TensorMxF4::SCALES;
template <>
constexpr int WORDS_OF_SCALES<TensorNvF4> = TensorNvF4::SCALES;

template <class Mma, int A, int B, uint32_t FORMATS, int KIND = UNSCALED>
struct BlackwellGemm {
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int GROUP_THREADS = 128;
  static constexpr int TAKING = 2 * GROUP_THREADS;
  static constexpr int TAKING_WARPS = TAKING / WARP;
  static constexpr int FETCHING = GROUP_THREADS;
  // Columns of a thread that takes up sums.
  static constexpr int OWN = BN / 2;
  static constexpr int CHUNK = 32;
  static constexpr int STAGES = 4;
  static constexpr int ACCUMULATORS = 2;
  static constexpr int DEPTH = ROW_BYTES * 8 / Format<A>::bits;
  static constexpr int TILE_A = BM * ROW_BYTES;
  static constexpr int TILE_B = BN * ROW_BYTES;
  static constexpr int STAGE_BYTES = TILE_A + TILE_B;
  // Four floats behind each row put what eight threads write at once into different banks.
  static constexpr int PITCH = BN + 4;
  static_assert(Format<A>::bits == Format<B>::bits, "both operands have the same elements in a tile");
  // Elements that a map's column has: bytes are counted where elements are halves of them.
  static constexpr int IN_COLUMN = Format<A>::bits < 8 ? 8 / Format<A>::bits : 1;
  static constexpr bool SCALED = KIND != UNSCALED;
  // Of scales for a row in a tile: four steps of 32 bytes, four scales in a word.
  static constexpr int WORDS = SCALED ? WORDS_OF_SCALES<Mma> : 1;
  // What a word of scales takes up in Tensor Memory.
  static constexpr int SCALE_COLUMNS = 4;
  static constexpr int COLUMNS = ACCUMULATORS * BN * (SCALED ? 2 : 1);
  static_assert(!SCALED || COLUMNS >= ACCUMULATORS * BN + 2 * WORDS * SCALE_COLUMNS,
                "scales lie behind the accumulators");

  struct Shared {
    uint8_t tiles[STAGES][STAGE_BYTES];
    uint32_t scales[SCALED ? STAGES : 0][2][WORDS][BM];
    float sums[BM * PITCH];
    float factors[STAGES][BM];
    float across[BN];
    uint64_t full[STAGES];
    uint64_t empty[STAGES];
    uint64_t made[ACCUMULATORS];
    uint64_t taken[ACCUMULATORS];
    uint32_t columns;
  };

  // What all roles know.
  struct Work {
    int rows;
    int columns;
    int64_t tiles;
    int64_t depth;
    bool deepA;
    bool deepB;

    DEVICE bool deep() const { return deepA || deepB; }

    // Whether each fetching thread brings something with a tile.
    DEVICE bool brings() const { return SCALED || deep(); }
  };

  static DEVICE void fetch(Shared& shared, const TensorMap& mapA, const TensorMap& mapB,
                           const View& a, const View& b, const Work& work) {
    int thread = threadIdx.x - TAKING;
    if (!work.brings() && thread != 0) {
      return;
    }
    // Rows in the order in which their scales lie, so that a warp writes words side by side.
    int scaled = thread % 4 * WARP + thread / 4;
    uint32_t turn = 0;
#pragma unroll 1
    for (int64_t t = blockIdx.x; t < work.tiles; t += gridDim.x) {
      HopperTile tile(t, work.rows, work.columns, BM, BN);
      Strip left(a, tile.matrix, tile.row, work.depth);
      Strip right(b, tile.matrix, tile.column, work.depth);
      RowScales down(left, thread);
      RowScales across(right, 0);
      // Matrices that are repeated lie in a map of one.
      int matrixA = a.rank > 2 && strideFromEnd(a, 3) != 0 ? (int)tile.matrix : 0;
      int matrixB = b.rank > 2 && strideFromEnd(b, 3) != 0 ? (int)tile.matrix : 0;
      ScaleRow<KIND, WORDS> scalesA(left, scaled);
      ScaleRow<KIND, WORDS> scalesB(right, scaled);
      // Scales are loaded a step ahead: their way from memory is as long as a step.
      uint32_t nextA[WORDS];
      uint32_t nextB[WORDS];
      if constexpr (SCALED) {
        scalesA.load(nextA, 0);
        scalesB.load(nextB, 0);
      }
#pragma unroll 1
      for (int64_t k = 0; k < work.depth; k += DEPTH) {
        float factor = 1;
        uint32_t wordsA[WORDS];
        uint32_t wordsB[WORDS];
        if constexpr (SCALED) {
#pragma unroll
          for (int w = 0; w < WORDS; w++) {
            wordsA[w] = nextA[w];
            wordsB[w] = nextB[w];
          }
          scalesA.load(nextA, k + DEPTH);
          scalesB.load(nextB, k + DEPTH);
        } else {
          factor = (work.deepA ? down.at(k) : 1) * (work.deepB ? across.at(k) : 1);
        }
        int stage = turn % STAGES;
        uint32_t full = sharedAddress(&shared.full[stage]);
        awaitPhase(sharedAddress(&shared.empty[stage]), turn / STAGES % 2 ^ 1);
        if (thread == 0) {
          uint32_t to = sharedAddress(shared.tiles[stage]);
          arriveExpecting(full, STAGE_BYTES);
          copyBox(to, mapA, (int)(k / IN_COLUMN), tile.row, matrixA, full);
          copyBox(to + TILE_A, mapB, (int)(k / IN_COLUMN), tile.column, matrixB, full);
        }
        if constexpr (SCALED) {
#pragma unroll
          for (int w = 0; w < WORDS; w++) {
            shared.scales[stage][0][w][thread] = wordsA[w];
            shared.scales[stage][1][w][thread] = wordsB[w];
          }
          fenceProxies();
          arrive(full);
        } else if (work.deep()) {
          shared.factors[stage][thread] = factor;
          arrive(full);
        }
        turn++;
      }
    }
  }

  static DEVICE void multiply(Shared& shared, const Work& work) {
    uint32_t sums = shared.columns;
    uint32_t turn = 0;
    uint32_t part = 0;
#pragma unroll 1
    for (int64_t t = blockIdx.x; t < work.tiles; t += gridDim.x) {
#pragma unroll 1
      for (int64_t k = 0; k < work.depth; k += DEPTH) {
        int stage = turn % STAGES;
        int accumulator = part % ACCUMULATORS;
        bool begins = work.deep() || k == 0;
        bool ends = work.deep() || k + DEPTH >= work.depth;
        if (begins) {
          awaitPhase(sharedAddress(&shared.taken[accumulator]), part / ACCUMULATORS % 2 ^ 1);
        }
        awaitPhase(sharedAddress(&shared.full[stage]), turn / STAGES % 2);
        fenceAfter();
        uint64_t left = tensorDescriptor(sharedAddress(shared.tiles[stage]));
        uint64_t right = left + TILE_A / 16;
        uint32_t scalesA = sums + ACCUMULATORS * BN;
        uint32_t scalesB = scalesA + WORDS * SCALE_COLUMNS;
        if constexpr (SCALED) {
#pragma unroll
          for (int w = 0; w < WORDS; w++) {
            copyScales(scalesA + w * SCALE_COLUMNS, sharedAddress(shared.scales[stage][0][w]));
            copyScales(scalesB + w * SCALE_COLUMNS, sharedAddress(shared.scales[stage][1][w]));
          }
        }
        // 32 bytes of K at a time.
#pragma unroll
        for (int i = 0; i < 4; i++) {
          if constexpr (SCALED) {
            int word = i * WORDS / 4 * SCALE_COLUMNS;
            Mma::multiply(sums + accumulator * BN, left + i * 2, right + i * 2, FORMATS,
                          i * WORDS % 4, scalesA + word, scalesB + word, !begins || i > 0);
          } else {
            Mma::multiply(sums + accumulator * BN, left + i * 2, right + i * 2, FORMATS,
                          !begins || i > 0);
          }
        }
        arriveWhenDone(sharedAddress(&shared.empty[stage]));
        if (ends) {
          arriveWhenDone(sharedAddress(&shared.made[accumulator]));
          part++;
        }
        turn++;
      }
    }
  }

  // What a row is multiplied by at the end.
  static DEVICE float wholeFactor(const Strip& strip, int row) {
    if constexpr (SCALED) {
      return ScaleRow<KIND, WORDS>(strip, row).factor;
    } else {
      return RowScales(strip, row).at(0);
    }
  }

  static DEVICE void take(Shared& shared, const View& a, const View& b, const Epilogue& to,
                          const Work& work, int64_t m, int64_t n) {
    // A warp reaches the lanes of one quarter of Tensor Memory, which are rows of D.
    int warp = threadIdx.x / WARP;
    int row = warp % 4 * WARP + threadIdx.x % WARP;
    int half = warp / 4;
    uint32_t cells = shared.columns + ((uint32_t)(warp % 4 * WARP) << 16) + half * OWN;
    uint32_t turn = 0;
    uint32_t part = 0;
#pragma unroll 1
    for (int64_t t = blockIdx.x; t < work.tiles; t += gridDim.x) {
      HopperTile tile(t, work.rows, work.columns, BM, BN);
      float sums[OWN];
#pragma unroll
      for (int i = 0; i < OWN; i++) {
        sums[i] = 0;
      }
      int64_t step = work.deep() ? DEPTH : work.depth;
#pragma unroll 1
      for (int64_t k = 0; k < work.depth; k += step) {
        int accumulator = part % ACCUMULATORS;
        float factor = 1;
        if (work.deep()) {
          int stage = turn % STAGES;
          awaitPhase(sharedAddress(&shared.full[stage]), turn / STAGES % 2);
          factor = shared.factors[stage][row];
          __syncwarp();
          if (threadIdx.x % WARP == 0) {
            arrive(sharedAddress(&shared.empty[stage]));
          }
          turn++;
        }
        awaitPhase(sharedAddress(&shared.made[accumulator]), part / ACCUMULATORS % 2);
        fenceAfter();
#pragma unroll
        for (int c = 0; c < OWN; c += CHUNK) {
          float x[CHUNK];
          loadColumns(x, cells + accumulator * BN + c);
#pragma unroll
          for (int i = 0; i < CHUNK; i++) {
            sums[c + i] = fmaf(x[i], factor, sums[c + i]);
          }
        }
        fenceBefore();
        __syncwarp();
        if (threadIdx.x % WARP == 0) {
          arrive(sharedAddress(&shared.taken[accumulator]));
        }
        part++;
      }
      Strip left(a, tile.matrix, tile.row, work.depth);
      Strip right(b, tile.matrix, tile.column, work.depth);
      float down = work.deepA ? 1 : wholeFactor(left, row);
      if (threadIdx.x < BN) {
        shared.across[threadIdx.x] = work.deepB ? 1 : wholeFactor(right, threadIdx.x);
      }
      syncThreads(1, TAKING);
#pragma unroll
      for (int i = 0; i < OWN; i += 4) {
        float4 factor = *(const float4*)(shared.across + half * OWN + i);
        *(float4*)(shared.sums + row * PITCH + half * OWN + i) =
            make_float4(sums[i] * down * factor.x, sums[i + 1] * down * factor.y,
                        sums[i + 2] * down * factor.z, sums[i + 3] * down * factor.w);
      }
      syncThreads(1, TAKING);
      finishTile<BM, BN, PITCH, TAKING>(to, shared.sums, tile.matrix, tile.row, tile.column, m, n,
                                        threadIdx.x);
      syncThreads(1, TAKING);
    }
  }

  static DEVICE void run(uint8_t* memory, const TensorMap& mapA, const TensorMap& mapB,
                         const View& a, const View& b, const Epilogue& to, int64_t batch) {
    Shared& shared = *(Shared*)memory;
    int64_t m = extentFromEnd(a, 2);
    int64_t n = extentFromEnd(b, 2);
    Work work;
    work.depth = extentFromEnd(a, 1);
    work.rows = (int)((m + BM - 1) / BM);
    work.columns = (int)((n + BN - 1) / BN);
    work.tiles = batch * work.rows * work.columns;
    work.deepA = !SCALED && scaleDepth(a, work.depth) < work.depth;
    work.deepB = !SCALED && scaleDepth(b, work.depth) < work.depth;
    bool multiplies = threadIdx.x >= TAKING + FETCHING;
    if (threadIdx.x == 0) {
#pragma unroll 1
      for (int s = 0; s < STAGES; s++) {
        initBarrier(&shared.full[s], work.brings() ? 1 + FETCHING : 1);
        initBarrier(&shared.empty[s], work.deep() ? 1 + TAKING_WARPS : 1);
      }
#pragma unroll 1
      for (int i = 0; i < ACCUMULATORS; i++) {
        initBarrier(&shared.made[i], 1);
        initBarrier(&shared.taken[i], TAKING_WARPS);
      }
      fenceBarriers();
    }
    if (multiplies) {
      allocateColumns<COLUMNS>(&shared.columns);
    }
    __syncthreads();
    if (threadIdx.x < TAKING) {
      take(shared, a, b, to, work, m, n);
    } else if (!multiplies) {
      fetch(shared, mapA, mapB, a, b, work);
    } else if (threadIdx.x == TAKING + FETCHING) {
      multiply(shared, work);
    }
    __syncthreads();
    if (multiplies) {
      freeColumns<COLUMNS>(shared.columns);
    }
  }
};

#define BLACKWELL_GEMM(NAME, CONFIGURATION)                                                   \
  extern "C" __global__ void __launch_bounds__(416, 1)                                        \
      NAME(const __grid_constant__ TensorMap mapA, const __grid_constant__ TensorMap mapB,    \
           const __grid_constant__ View a, const __grid_constant__ View b,                    \
           const __grid_constant__ Epilogue to, int64_t batch) {                              \
    extern __shared__ __align__(1024) uint8_t memory[];                                       \
    CONFIGURATION::run(memory, mapA, mapB, a, b, to, batch);                                  \
  }
