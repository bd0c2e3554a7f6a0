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
// Grid and the order of tiles: as in hopper_gemm.
#pragma once

#include "blackwell_ptx.cuh"
#include "hopper_gemm.cuh"

template <class Mma, int A, int B, uint32_t FORMATS>
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

  struct Shared {
    uint8_t tiles[STAGES][STAGE_BYTES];
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
  };

  static DEVICE void fetch(Shared& shared, const TensorMap& mapA, const TensorMap& mapB,
                           const View& a, const View& b, const Work& work) {
    int thread = threadIdx.x - TAKING;
    if (!work.deep() && thread != 0) {
      return;
    }
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
#pragma unroll 1
      for (int64_t k = 0; k < work.depth; k += DEPTH) {
        float factor = (work.deepA ? down.at(k) : 1) * (work.deepB ? across.at(k) : 1);
        int stage = turn % STAGES;
        uint32_t full = sharedAddress(&shared.full[stage]);
        awaitPhase(sharedAddress(&shared.empty[stage]), turn / STAGES % 2 ^ 1);
        if (thread == 0) {
          uint32_t to = sharedAddress(shared.tiles[stage]);
          arriveExpecting(full, STAGE_BYTES);
          copyBox(to, mapA, (int)k, tile.row, matrixA, full);
          copyBox(to + TILE_A, mapB, (int)k, tile.column, matrixB, full);
        }
        if (work.deep()) {
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
        // 32 bytes of K at a time.
#pragma unroll
        for (int i = 0; i < 4; i++) {
          Mma::multiply(sums + accumulator * BN, left + i * 2, right + i * 2, FORMATS,
                        !begins || i > 0);
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
      float down = work.deepA ? 1 : RowScales(left, row).at(0);
      if (threadIdx.x < BN) {
        shared.across[threadIdx.x] = work.deepB ? 1 : RowScales(right, threadIdx.x).at(0);
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
    work.deepA = scaleDepth(a, work.depth) < work.depth;
    work.deepB = scaleDepth(b, work.depth) < work.depth;
    bool multiplies = threadIdx.x >= TAKING + FETCHING;
    if (threadIdx.x == 0) {
#pragma unroll 1
      for (int s = 0; s < STAGES; s++) {
        initBarrier(&shared.full[s], work.deep() ? 1 + FETCHING : 1);
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
      allocateColumns<ACCUMULATORS * BN>(&shared.columns);
    }
    fenceBefore();
    __syncthreads();
    fenceAfter();
    if (threadIdx.x < TAKING) {
      take(shared, a, b, to, work, m, n);
    } else if (!multiplies) {
      fetch(shared, mapA, mapB, a, b, work);
    } else if (threadIdx.x == TAKING + FETCHING) {
      multiply(shared, work);
    }
    fenceBefore();
    __syncthreads();
    if (multiplies) {
      freeColumns<ACCUMULATORS * BN>(shared.columns);
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
