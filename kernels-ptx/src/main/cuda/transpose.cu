// Copies matrices [batch, rows, columns] to [batch, columns, rows] through shared memory, so that
// both sides are read and written in runs of 32 elements.
//
// Tile: 32 × 32, one CTA of 32 × 8 threads each; a column more of shared memory keeps the banks
// apart. Grid: (ceil(columns / 32), ceil(rows / 32), min(batch, 65535)).
#include "view.cuh"

constexpr int TILE = 32;
constexpr int ROWS_AT_ONCE = 8;

template <class T>
DEVICE void transpose(T (*tile)[TILE + 1], const void* in, int64_t batchStride, int64_t rowStride,
                      void* out, int64_t batch, int64_t rows, int64_t columns) {
  int64_t column = (int64_t)blockIdx.x * TILE;
  int64_t row = (int64_t)blockIdx.y * TILE;
  for (int64_t b = blockIdx.z; b < batch; b += gridDim.z) {
    const T* from = (const T*)in + b * batchStride;
    T* to = (T*)out + b * rows * columns;
#pragma unroll 1
    for (int r = threadIdx.y; r < TILE; r += ROWS_AT_ONCE) {
      if (row + r < rows && column + threadIdx.x < columns) {
        tile[r][threadIdx.x] = from[(row + r) * rowStride + column + threadIdx.x];
      }
    }
    __syncthreads();
#pragma unroll 1
    for (int r = threadIdx.y; r < TILE; r += ROWS_AT_ONCE) {
      if (column + r < columns && row + threadIdx.x < rows) {
        to[(column + r) * rows + row + threadIdx.x] = tile[threadIdx.x][r];
      }
    }
    __syncthreads();
  }
}

#define TRANSPOSE(BITS, TYPE)                                                                 \
  extern "C" __global__ void __launch_bounds__(TILE* ROWS_AT_ONCE)                            \
      transpose_b##BITS(const void* in, int64_t batchStride, int64_t rowStride, void* out,    \
                        int64_t batch, int64_t rows, int64_t columns) {                       \
    __shared__ TYPE tile[TILE][TILE + 1];                                                     \
    transpose<TYPE>(tile, in, batchStride, rowStride, out, batch, rows, columns);             \
  }

TRANSPOSE(8, uint8_t)
TRANSPOSE(16, uint16_t)
TRANSPOSE(32, uint32_t)
