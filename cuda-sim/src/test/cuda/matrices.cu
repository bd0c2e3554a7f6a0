// Matrix products: tiles in shared memory, tensor cores through wmma, copies that run ahead.
#include <cuda_fp16.h>
#include <mma.h>

constexpr int TILE = 16;

// c = a · b for any extents.
extern "C" __global__ void tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float left[TILE][TILE];
  __shared__ float right[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y;
  int column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int from = 0; from < k; from += TILE) {
    int x = from + threadIdx.x;
    int y = from + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < m && x < k ? a[row * k + x] : 0;
    right[threadIdx.y][threadIdx.x] = y < k && column < n ? b[y * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < TILE; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

// A warp for each 16 × 16 of c; a [M, K] and b [K, N] in F16.
extern "C" __global__ void tensorCores(const half* a, const half* b, float* c, int n, int k) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  int row = blockIdx.y * 16;
  int column = blockIdx.x * 16;
  for (int from = 0; from < k; from += 16) {
    wmma::load_matrix_sync(left, a + row * k + from, k);
    wmma::load_matrix_sync(right, b + from * n + column, n);
    wmma::mma_sync(sums, left, right, sums);
  }
  wmma::store_matrix_sync(c + row * n + column, sums, n, wmma::mem_row_major);
}

__device__ void fetch(float4* to, const float4* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
               "l"(from)
               : "memory");
}

// Sums of each thread's column of tiles, of which the next one is on its way.
extern "C" __global__ void ahead(const float4* x, float* out, int tiles) {
  __shared__ float4 stage[2][64];
  int t = threadIdx.x;
  float sum = 0;
  fetch(&stage[0][t], &x[t]);
  asm volatile("cp.async.commit_group;");
  for (int i = 0; i < tiles; i++) {
    if (i + 1 < tiles) fetch(&stage[(i + 1) % 2][t], &x[(i + 1) * 64 + t]);
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    float4 value = stage[i % 2][63 - t];
    sum += value.x + 2 * value.y + 3 * value.z + 4 * value.w;
    __syncthreads();
  }
  out[t] = sum;
}

extern "C" __global__ void halves(const float* x, half* sums, float* products) {
  int i = threadIdx.x;
  half2 pair = __floats2half2_rn(x[2 * i], x[2 * i + 1]);
  half2 doubled = __hadd2(pair, pair);
  sums[2 * i] = __low2half(doubled);
  sums[2 * i + 1] = __high2half(doubled);
  products[i] = __half2float(__hmul(__low2half(pair), __high2half(pair)));
}
