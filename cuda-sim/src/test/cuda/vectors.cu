// An element for each thread: indexes of one and three dimensions, structs by value, constant
// memory, loops of differing lengths, division, doubles.

struct Wave {
  float amplitude;
  int period;
  short offset;
  signed char sign;
};

__constant__ float taps[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = a * x[i] + y[i];
  }
}

extern "C" __global__ void place(int* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  int width = gridDim.x * blockDim.x;
  int height = gridDim.y * blockDim.y;
  out[(z * height + y) * width + x] = x + 100 * y + 10000 * z;
}

extern "C" __global__ void wave(Wave w, float* out) {
  int i = threadIdx.x;
  float phase = (float)(i % w.period) / (float)w.period;
  out[i] = (float)w.sign * w.amplitude * phase + (float)w.offset;
}

extern "C" __global__ void smooth(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < 5; k++) {
    int j = i + k - 2;
    if (j >= 0 && j < n) sum += taps[k] * x[j];
  }
  y[i] = sum;
}

// Steps until 3n + 1 comes to 1: neighbours go on for very different times.
extern "C" __global__ void collatz(const unsigned* start, int* steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long value = start[i];
  int count = 0;
  while (value != 1) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    count++;
  }
  steps[i] = count;
}

extern "C" __global__ void divide(const long long* a, const long long* b, long long* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  out[4 * i] = a[i] / b[i];
  out[4 * i + 1] = a[i] % b[i];
  out[4 * i + 2] = (int)a[i] / (int)b[i];
  out[4 * i + 3] = (unsigned)a[i] % (unsigned)b[i];
}

// Newton's steps for a root, in doubles.
extern "C" __global__ void root(const double* x, double* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  double guess = x[i] > 1 ? x[i] : 1;
  for (int k = 0; k < 60; k++) guess = 0.5 * (guess + x[i] / guess);
  out[i] = guess;
}
