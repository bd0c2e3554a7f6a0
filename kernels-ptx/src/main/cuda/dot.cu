// Dot products and matrix-vector products of any views, accumulated in F32.
//
// How a sum is split depends on its length alone, so the result does too.
#include "store.cuh"
#include "warp.cuh"

constexpr int THREADS = 256;
constexpr int SHARE = 4096;

// partial[b] = sum over elements b·4096 ... of a·b; one CTA a share, grid ceil(n / 4096).
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    dot_partial(const View a, const View b, int64_t count, float* partial) {
  __shared__ float scratch[THREADS / WARP];
  int64_t first = (int64_t)blockIdx.x * SHARE;
  int64_t end = first + SHARE < count ? first + SHARE : count;
  float sum = 0;
#pragma unroll 1
  for (int64_t i = first + threadIdx.x; i < end; i += THREADS) {
    sum = fmaf(loadValue(a, storageIndex(a, i)), loadValue(b, storageIndex(b, i)), sum);
  }
  sum = blockReduce<THREADS>(scratch, sum, Sum());
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = canonical(sum);
  }
}

// The sum of the shares, in *out; one CTA.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    dot_sum(const float* partial, int64_t count, float* out) {
  __shared__ float scratch[THREADS / WARP];
  float sum = 0;
#pragma unroll 1
  for (int64_t i = threadIdx.x; i < count; i += THREADS) {
    sum += partial[i];
  }
  sum = blockReduce<THREADS>(scratch, sum, Sum());
  if (threadIdx.x == 0) {
    *out = canonical(sum);
  }
}

// out[m] = sum A[m, k]·x[k], F32. One warp a row, its lanes along K; any grid.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    gemv_any(const View a, const View x, float* out) {
  int64_t step = (int64_t)gridDim.x * (THREADS / WARP);
  int lane = threadIdx.x % WARP;
  for (int64_t m = (int64_t)blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP; m < a.extent[0];
       m += step) {
    int64_t row = a.offset + m * a.stride[0];
    float sum = 0;
#pragma unroll 1
    for (int64_t k = lane; k < a.extent[1]; k += WARP) {
      sum = fmaf(loadValue(a, row + k * a.stride[1]), loadValue(x, x.offset + k * x.stride[0]), sum);
    }
    sum = warpReduce(sum, Sum());
    if (lane == 0) {
      out[m] = canonical(sum);
    }
  }
}

// The same for a matrix whose columns lie side by side in memory. 32 rows a CTA, a lane each; its
// 8 warps take every eighth k and add up through shared memory. Grid: ceil(M / 32).
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    gemv_any_transposed(const View a, const View x, float* out) {
  __shared__ float scratch[THREADS / WARP][WARP];
  int lane = threadIdx.x % WARP;
  int warp = threadIdx.x / WARP;
  int64_t m = (int64_t)blockIdx.x * WARP + lane;
  float sum = 0;
  if (m < a.extent[0]) {
    int64_t row = a.offset + m * a.stride[0];
#pragma unroll 1
    for (int64_t k = warp; k < a.extent[1]; k += THREADS / WARP) {
      sum = fmaf(loadValue(a, row + k * a.stride[1]), loadValue(x, x.offset + k * x.stride[0]), sum);
    }
  }
  scratch[warp][lane] = sum;
  __syncthreads();
  if (warp == 0 && m < a.extent[0]) {
#pragma unroll
    for (int w = 1; w < THREADS / WARP; w++) {
      sum += scratch[w][lane];
    }
    out[m] = canonical(sum);
  }
}
