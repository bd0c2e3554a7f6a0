// Products of any views, accumulated in F32 with fused multiply-adds: D[m, n] = sum A[m, k]·B[n, k].
//
// gemm_f32 multiplies F32 operands; gemm_any whatever two views hold, decoded and scaled on the way
// to shared memory. Operands may have any strides.
//
// Tile: 64 × 64 of D, 16 of K; one CTA of 256 threads, each with 4 × 4 sums. Two tiles of each
// operand lie in shared memory: while one is multiplied, every thread holds the next 4 + 4 elements
// in registers; it stores them behind the products, and one barrier a step keeps writers and readers
// apart. Grid: (ceil(N / 64), ceil(M / 64), min(batch, 65535)); at least 1 each.
#include "epilogue.cuh"

constexpr int TILE = 64;
constexpr int DEPTH = 16;
constexpr int THREADS = 256;
constexpr int EACH = TILE * DEPTH / THREADS;
// Rows of a tile begin 4 banks apart.
constexpr int PITCH = TILE + 4;

// One operand [rows, K] of a batch, as the threads of a CTA load it: along the dimension whose
// elements lie side by side.
template <bool ANY>
struct Operand {
  const View& view;
  int64_t at;
  int64_t rowStride;
  int64_t stride;
  int64_t rows;
  int64_t depth;
  bool alongDepth;

  DEVICE Operand(const View& view, int64_t matrix, int64_t firstRow)
      : view(view),
        rowStride(strideFromEnd(view, 2)),
        stride(strideFromEnd(view, 1)),
        rows(extentFromEnd(view, 2) - firstRow),
        depth(extentFromEnd(view, 1)) {
    at = storageIndex(view, matrix, view.rank - 2) + firstRow * rowStride;
    alongDepth = stride == 1 || rowStride != 1;
  }

  // Row and depth, within a tile, of this thread's e-th element.
  DEVICE int row(int e) const {
    return alongDepth ? threadIdx.x / DEPTH + e * (THREADS / DEPTH) : threadIdx.x % TILE;
  }

  DEVICE int inner(int e) const {
    return alongDepth ? threadIdx.x % DEPTH : threadIdx.x / TILE + e * (THREADS / TILE);
  }

  DEVICE float load(int64_t k, int e) const {
    if (row(e) >= rows || k + inner(e) >= depth) {
      return 0;
    }
    int64_t index = at + row(e) * rowStride + (k + inner(e)) * stride;
    return ANY ? loadValue(view, index) : ((const float*)view.data)[index];
  }

  // Begins to fetch what store() puts into a tile.
  DEVICE void fetch(float (&values)[EACH], int64_t k) const {
    if constexpr (!ANY) {
#pragma unroll
      for (int e = 0; e < EACH; e++) {
        values[e] = load(k, e);
      }
    }
  }

  // Decoding takes longer than the way from memory, and much text: one element after the other.
  DEVICE void store(float (&tile)[DEPTH][PITCH], const float (&values)[EACH], int64_t k) const {
    if constexpr (ANY) {
#pragma unroll 1
      for (int e = 0; e < EACH; e++) {
        tile[inner(e)][row(e)] = load(k, e);
      }
    } else {
#pragma unroll
      for (int e = 0; e < EACH; e++) {
        tile[inner(e)][row(e)] = values[e];
      }
    }
  }
};

union Shared {
  struct {
    float a[2][DEPTH][PITCH];
    float b[2][DEPTH][PITCH];
  } tiles;
  float sums[TILE][PITCH];
};

template <bool ANY>
DEVICE void gemm(Shared& shared, const View& a, const View& b, const Epilogue& to,
                 int64_t batch) {
  auto& tiles = shared.tiles;
  int64_t m = extentFromEnd(a, 2);
  int64_t n = extentFromEnd(b, 2);
  int64_t depth = to.alpha == 0 ? 0 : extentFromEnd(a, 1);
  int64_t row = (int64_t)blockIdx.y * TILE;
  int64_t column = (int64_t)blockIdx.x * TILE;
  int threadRow = threadIdx.x / 16 * 4;
  int threadColumn = threadIdx.x % 16 * 4;
  // A warp has 8 rows, and nothing to multiply where all of them are beyond the last.
  bool multiplies = row + threadIdx.x / WARP * 8 < m;
  for (int64_t matrix = blockIdx.z; matrix < batch; matrix += gridDim.z) {
    Operand<ANY> left(a, matrix, row);
    Operand<ANY> right(b, matrix, column);
    float sums[4][4] = {};
    float nextA[EACH];
    float nextB[EACH];
    if (depth > 0) {
      left.fetch(nextA, 0);
      right.fetch(nextB, 0);
      left.store(tiles.a[0], nextA, 0);
      right.store(tiles.b[0], nextB, 0);
    }
    __syncthreads();
    int current = 0;
#pragma unroll 1
    for (int64_t k = 0; k < depth; k += DEPTH, current ^= 1) {
      bool more = k + DEPTH < depth;
      if (more) {
        left.fetch(nextA, k + DEPTH);
        right.fetch(nextB, k + DEPTH);
      }
      if (multiplies) {
#pragma unroll 4
        for (int i = 0; i < DEPTH; i++) {
          float x[4];
          float y[4];
#pragma unroll
          for (int j = 0; j < 4; j++) {
            x[j] = tiles.a[current][i][threadRow + j];
            y[j] = tiles.b[current][i][threadColumn + j];
          }
#pragma unroll
          for (int j = 0; j < 16; j++) {
            sums[j / 4][j % 4] = fmaf(x[j / 4], y[j % 4], sums[j / 4][j % 4]);
          }
        }
      }
      if (more) {
        left.store(tiles.a[current ^ 1], nextA, k + DEPTH);
        right.store(tiles.b[current ^ 1], nextB, k + DEPTH);
      }
      __syncthreads();
    }
    if (multiplies) {
#pragma unroll
      for (int j = 0; j < 16; j++) {
        shared.sums[threadRow + j / 4][threadColumn + j % 4] = sums[j / 4][j % 4];
      }
    }
    __syncthreads();
    finishTile<TILE, TILE, PITCH, THREADS>(to, &shared.sums[0][0], matrix, row, column, m, n);
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    gemm_any(const View a, const View b, const Epilogue to, int64_t batch) {
  __shared__ Shared shared;
  gemm<true>(shared, a, b, to, batch);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    gemm_f32(const View a, const View b, const Epilogue to, int64_t batch) {
  __shared__ Shared shared;
  gemm<false>(shared, a, b, to, batch);
}
