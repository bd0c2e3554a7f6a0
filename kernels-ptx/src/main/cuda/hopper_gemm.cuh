// Products on the tensor cores of 9.0: D[m, n] = sum A[m, k]·B[n, k], K side by side in memory in both.
//
// A CTA has four warpgroups. Three multiply: 64 × 128 of D each, by 128 bytes of K at a time. The fourth
// fetches: one of its threads has both tiles copied by tensor maps, and all of them bring the factors of
// the rows, the products of both operands' scales for these 128 of K.
//
// Three, as shared memory is what these tensor cores wait for: it moves 128 bytes a clock, and of FP8 two
// groups take 512 clocks to multiply what takes 640 to write and to read (each group reads its rows of A
// and all of B); three take 768, and 896.
//
// STAGES tiles of each operand lie in dynamic shared memory, as the maps' swizzle of 128 bytes puts
// them. For each stage one barrier says that it is full, when all bytes have come and all factors are
// written, and one that it is empty, when each of the 12 warps that multiply has read it.
//
//   full[s]    1 arrival that expects bytes + 128 of factors     multiplying warps wait
//   empty[s]   12 arrivals                                       fetching threads wait
//
// Sums of 128 bytes of K are made in the tensor cores' own accumulator, multiplied by the factor and
// added to F32 sums (promoted); while one warpgroup does that, the others' products keep the tensor
// cores busy. What is scaled by rows over all of K is multiplied in at the end.
//
// Grid: at most as many CTAs as there are multiprocessors; each goes on to the tile that comes so many
// further. Tiles are counted down columns of GROUP rows of tiles, so that CTAs at work at the same time
// share rows of A and of B in the second-level cache.
#pragma once

#include "epilogue.cuh"
#include "gemm.cuh"
#include "hopper_ptx.cuh"

// Where a tile of D lies.
struct HopperTile {
  static constexpr int GROUP = 8;

  int64_t matrix;
  int row;
  int column;

  DEVICE HopperTile(int64_t tile, int rows, int columns, int height, int width) {
    int64_t each = (int64_t)rows * columns;
    matrix = (int64_t)quotient((uint64_t)tile, (uint64_t)each);
    int within = (int)(tile - matrix * each);
    int group = within / (GROUP * columns);
    int first = group * GROUP;
    int high = rows - first < GROUP ? rows - first : GROUP;
    int inGroup = within - first * columns;
    row = (first + inGroup % high) * height;
    column = inGroup / high * width;
  }
};

template <class Mma, int A, int B>
struct HopperGemm {
  static constexpr int GROUPS = 3;
  static constexpr int GROUP_M = 64;
  static constexpr int BM = GROUPS * GROUP_M;
  static constexpr int BN = 128;
  static constexpr int GROUP_THREADS = 128;
  static constexpr int MULTIPLYING = GROUPS * GROUP_THREADS;
  static constexpr int STAGES = 4;
  static constexpr int BARRIER = 8;  // bytes
  static constexpr int PHASE_BIT = 5;
  static constexpr int SWIZZLED_ROWS = 8;
  static constexpr int DEPTH = ROW_BYTES * 8 / Format<A>::bits;
  static constexpr int TILE_A = BM * ROW_BYTES;
  static constexpr int TILE_B = BN * ROW_BYTES;
  static constexpr int STAGE_BYTES = TILE_A + TILE_B;
  // Columns that are finished at a time.
  static constexpr int PASS = 64;
  // Eight floats behind each row put pairs of columns of eight rows into different banks.
  static constexpr int PITCH = PASS + 8;
  static_assert(STAGES * BARRIER == 1 << PHASE_BIT, "turns are counted in bytes of barriers");
  static_assert(Format<A>::bits == Format<B>::bits, "both operands have the same elements in a tile");

  // What all threads know. In shared memory, since registers are all taken by sums.
  struct Extents {
    int64_t m;
    int64_t n;
    int64_t depth;
    int64_t tiles;
    int rows;
    int columns;
  };

  struct Shared {
    uint8_t tiles[STAGES][STAGE_BYTES];
    float sums[GROUPS][GROUP_M * PITCH];
    float factors[STAGES][BM];
    float across[GROUPS][BN];
    uint64_t full[STAGES];
    uint64_t empty[STAGES];
    Extents extents;
  };

  // Whether an operand has a scale for each 128 elements of K; else it has one for all of K, at most.
  static DEVICE bool byDepth(const View& view, int64_t depth) {
    return scaleDepth(view, depth) < depth;
  }

  // The scales of a row of an operand that has one for each 128 elements of K.
  static DEVICE const float* deepScales(const Strip& strip, int row) {
    return (const float*)strip.view.scales + RowScales(strip, row).first;
  }

  static DEVICE void fetch(Shared& shared, const TensorMap& mapA, const TensorMap& mapB,
                           const View& a, const View& b) {
    int64_t depth = shared.extents.depth;
    int64_t tiles = shared.extents.tiles;
    int thread = threadIdx.x - MULTIPLYING;
    bool deepA = byDepth(a, depth);
    bool deepB = byDepth(b, depth);
    uint32_t turn = 0;
#pragma unroll 1
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
      HopperTile tile(t, shared.extents.rows, shared.extents.columns, BM, BN);
      Strip left(a, tile.matrix, tile.row, depth);
      Strip right(b, tile.matrix, tile.column, depth);
      int second = GROUP_THREADS + thread % (BM - GROUP_THREADS);
      const float* down = deepA ? deepScales(left, thread) : nullptr;
      const float* further = deepA ? deepScales(left, second) : nullptr;
      const float* across = deepB ? deepScales(right, 0) : nullptr;
      // Matrices that are repeated lie in a map of one.
      int matrixA = a.rank > 2 && strideFromEnd(a, 3) != 0 ? (int)tile.matrix : 0;
      int matrixB = b.rank > 2 && strideFromEnd(b, 3) != 0 ? (int)tile.matrix : 0;
      // Scales are loaded a step ahead: their way from memory is as long as a step.
      float next = 1;
      float nextFurther = 1;
      auto load = [&]() {
        float ofBlock = across == nullptr ? 1 : *across++;
        next = down == nullptr ? ofBlock : *down++ * ofBlock;
        nextFurther = further == nullptr ? ofBlock : *further++ * ofBlock;
      };
      load();
#pragma unroll 1
      for (int64_t k = 0; k < depth; k += DEPTH) {
        float factor = next;
        float factorFurther = nextFurther;
        if (k + DEPTH < depth) {
          load();
        }
        int stage = turn % STAGES;
        uint32_t full = sharedAddress(&shared.full[stage]);
        awaitPhase(sharedAddress(&shared.empty[stage]), turn / STAGES % 2 ^ 1);
        if (thread == 0) {
          uint32_t to = sharedAddress(shared.tiles[stage]);
          arriveExpecting(full, STAGE_BYTES);
          copyBox(to, mapA, (int)k, tile.row, matrixA, full);
          copyBox(to + TILE_A, mapB, (int)k, tile.column, matrixB, full);
        }
        shared.factors[stage][thread] = factor;
        if (thread < BM - GROUP_THREADS) {
          shared.factors[stage][second] = factorFurther;
        }
        arrive(full);
        turn++;
      }
    }
  }

  static DEVICE void multiply(Shared& shared, const View& a, const View& b, const Epilogue& to) {
    // The same for a whole warp, as the compiler knows after a shuffle.
    int group = __shfl_sync(0xFFFFFFFF, threadIdx.x / GROUP_THREADS, 0);
    int thread = threadIdx.x % GROUP_THREADS;
    int lane = threadIdx.x % WARP;
    // Rows of D are lane / 4 and 8 further down of each warp's 16; columns 2·(lane % 4) and the next
    // of each 8.
    int row = thread / WARP * 16 + lane / 4;
    Descriptors descriptors(sharedAddress(shared.tiles) + group * GROUP_M * ROW_BYTES);
    // B's tile lies behind the group's rows of A by so many times eight rows.
    uint32_t behind = opaque((uint32_t)((BM - group * GROUP_M) / SWIZZLED_ROWS));
    uint32_t barriers = opaque(sharedAddress(shared.full));
    uint32_t factors = opaque(sharedAddress(&shared.factors[0][group * GROUP_M + row]));
    uint32_t laneHeld = opaque((uint32_t)lane);
    float* sumsTile = shared.sums[group];
    float* across = shared.across[group];
    int turns = (int)((shared.extents.depth + DEPTH - 1) / DEPTH) * BARRIER;
    // Counts in bytes of a barrier: the lowest bits say which stage's is next, those above its phase.
    uint32_t turn = 0;
#pragma unroll 1
    for (int64_t t = blockIdx.x; t < shared.extents.tiles; t += gridDim.x) {
      float part[64];
      float sums[64];
#pragma unroll
      for (int i = 0; i < 64; i++) {
        sums[i] = 0;
        part[i] = 0;
      }
      uint32_t end = turn + turns;
#pragma unroll 1
      for (; turn != end; turn += BARRIER) {
        uint32_t at = turn % (STAGES * BARRIER);
        uint32_t barrier = barriers + at;
        awaitPhase(barrier, bits<PHASE_BIT, 1>(turn));
        uint32_t factor = multiplyAdd<BM * 4 / BARRIER>(at, factors);
        float upper = sharedFloat<0>(factor);
        float lower = sharedFloat<8 * 4>(factor);
        uint32_t rowsBefore = at * (STAGE_BYTES / ROW_BYTES / SWIZZLED_ROWS / BARRIER);
        Mma::multiply(part, descriptors, rowsBefore, rowsBefore + behind);
        arriveFirst<STAGES * BARRIER>(barrier, laneHeld);
#pragma unroll
        for (int i = 0; i < 64; i++) {
          sums[i] = fmaf(part[i], i / 2 % 2 == 0 ? upper : lower, sums[i]);
        }
      }
      const Extents extents = shared.extents;
      HopperTile tile(t, extents.rows, extents.columns, BM, BN);
      bool deepA = byDepth(a, extents.depth);
      bool deepB = byDepth(b, extents.depth);
      Strip left(a, tile.matrix, tile.row, extents.depth);
      Strip right(b, tile.matrix, tile.column, extents.depth);
      float down[2];
#pragma unroll
      for (int half = 0; half < 2; half++) {
        down[half] = deepA ? 1 : RowScales(left, group * GROUP_M + row + half * 8).at(0);
      }
      across[thread] = deepB ? 1 : RowScales(right, thread).at(0);
#pragma unroll 1
      for (int pass = 0; pass < BN / PASS && tile.column + pass * PASS < extents.n; pass++) {
        syncThreads(1 + group, GROUP_THREADS);
#pragma unroll
        for (int p = 0; p < BN / PASS; p++) {
          // Registers have no index: each pass has a branch, and one is taken.
          if (p == pass) {
#pragma unroll
            for (int j = 0; j < PASS / 8; j++) {
              int column = j * 8 + lane % 4 * 2;
              float2 factor = *(const float2*)(across + p * PASS + column);
              const float* of = sums + (p * PASS / 8 + j) * 4;
#pragma unroll
              for (int half = 0; half < 2; half++) {
                *(float2*)(sumsTile + (row + half * 8) * PITCH + column) =
                    make_float2(of[half * 2] * down[half] * factor.x,
                                of[half * 2 + 1] * down[half] * factor.y);
              }
            }
          }
        }
        syncThreads(1 + group, GROUP_THREADS);
        finishTile<GROUP_M, PASS, PITCH, GROUP_THREADS>(to, sumsTile, tile.matrix,
                                                        tile.row + group * GROUP_M,
                                                        tile.column + pass * PASS, extents.m,
                                                        extents.n, thread);
      }
      // Factors of columns are written again by threads that are ahead.
      syncThreads(1 + group, GROUP_THREADS);
    }
  }

  static DEVICE void run(uint8_t* memory, const TensorMap& mapA, const TensorMap& mapB,
                         const View& a, const View& b, const Epilogue& to, int64_t batch) {
    Shared& shared = *(Shared*)memory;
    if (threadIdx.x == 0) {
      Extents& extents = shared.extents;
      extents.m = extentFromEnd(a, 2);
      extents.n = extentFromEnd(b, 2);
      extents.depth = extentFromEnd(a, 1);
      extents.rows = (int)((extents.m + BM - 1) / BM);
      extents.columns = (int)((extents.n + BN - 1) / BN);
      extents.tiles = batch * extents.rows * extents.columns;
#pragma unroll 1
      for (int s = 0; s < STAGES; s++) {
        initBarrier(&shared.full[s], 1 + GROUP_THREADS);
        initBarrier(&shared.empty[s], MULTIPLYING / WARP);
      }
      fenceBarriers();
    }
    __syncthreads();
    if (threadIdx.x >= MULTIPLYING) {
      shrinkRegisters<56>();
      fetch(shared, mapA, mapB, a, b);
    } else {
      growRegisters<152>();
      multiply(shared, a, b, to);
    }
  }
};

#define HOPPER_GEMM(NAME, CONFIGURATION)                                                      \
  extern "C" __global__ void __launch_bounds__(512, 1)                                        \
      NAME(const __grid_constant__ TensorMap mapA, const __grid_constant__ TensorMap mapB,    \
           const __grid_constant__ View a, const __grid_constant__ View b,                    \
           const __grid_constant__ Epilogue to, int64_t batch) {                              \
    extern __shared__ __align__(1024) uint8_t memory[];                                       \
    CONFIGURATION::run(memory, mapA, mapB, a, b, to, batch);                                  \
  }
