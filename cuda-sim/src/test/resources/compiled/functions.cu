#include "functions.h"

extern "C" __global__ void run(const unsigned* in, unsigned long long* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) results(in[i], out + 8 * i);
}
