// Threads of a block that work together: trees and shuffles, scans, histograms, turned tiles.

// Adds up by halves in shared memory; blocks add their sums with an atomic.
extern "C" __global__ void sumOfTree(const int* x, int n, int* total) {
  __shared__ int part[128];
  int t = threadIdx.x;
  int sum = 0;
  for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128) sum += x[i];
  part[t] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) atomicAdd(total, part[0]);
}

template <class T>
__device__ T sumOfWarp(T value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xFFFFFFFF, value, offset);
  }
  return value;
}

template <class T>
__device__ void sumOfBlock(const T* x, T* out) {
  __shared__ T ofWarps[32];
  T sum = sumOfWarp(x[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x % 32 == 0) ofWarps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = sumOfWarp(threadIdx.x < blockDim.x / 32 ? ofWarps[threadIdx.x] : T(0));
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

extern "C" __global__ void sumOfShuffles(const long long* x, long long* out) { sumOfBlock(x, out); }

extern "C" __global__ void sumOfFloats(const float* x, float* out) { sumOfBlock(x, out); }

// Each block counts in shared memory first.
extern "C" __global__ void histogram(const unsigned char* x, int n, unsigned* bins) {
  __shared__ unsigned own[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&own[x[i]], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) {
    if (own[b] != 0) atomicAdd(&bins[b], own[b]);
  }
}

// An inclusive scan with two buffers that take turns, in dynamic shared memory.
extern "C" __global__ void scan(const int* x, int* out) {
  extern __shared__ int buffers[];
  int n = blockDim.x;
  int t = threadIdx.x;
  int from = 0;
  buffers[t] = x[t];
  __syncthreads();
  for (int distance = 1; distance < n; distance *= 2) {
    int value = buffers[from * n + t];
    if (t >= distance) value += buffers[from * n + t - distance];
    from ^= 1;
    buffers[from * n + t] = value;
    __syncthreads();
  }
  out[t] = buffers[from * n + t];
}

extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x;
  int y = blockIdx.y * 16 + threadIdx.y;
  if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (x < rows && y < columns) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

// The largest float, which no atomic instruction knows: compare and swap until nobody came between.
extern "C" __global__ void largest(const float* x, int n, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int* bits = (int*)out;
  int seen = *(volatile int*)bits;
  while (__int_as_float(seen) < x[i]) {
    int before = atomicCAS(bits, seen, __float_as_int(x[i]));
    if (before == seen) break;
    seen = before;
  }
}
