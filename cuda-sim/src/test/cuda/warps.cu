// Lanes that part and meet: votes, matches, nested branches, jump tables, a lock.

extern "C" __global__ void votes(const int* x, unsigned* out) {
  int lane = threadIdx.x;
  int value = x[lane];
  unsigned odd = __ballot_sync(0xFFFFFFFF, value & 1);
  unsigned same = __match_any_sync(0xFFFFFFFF, value);
  int all = 0;
  unsigned agreeing = __match_all_sync(0xFFFFFFFF, value / 1000, &all);
  out[lane] = odd;
  out[32 + lane] = same;
  out[64 + lane] = __any_sync(0xFFFFFFFF, value == 3) * 2 + __all_sync(0xFFFFFFFF, value >= 0);
  out[96 + lane] = agreeing + all;
  out[128 + lane] = __reduce_add_sync(0xFFFFFFFF, (unsigned)value);
  if (value & 1) {
    // The odd ones alone: each takes the value of the first of them.
    out[160 + lane] = __shfl_sync(odd, value, __ffs(odd) - 1);
  } else {
    out[160 + lane] = 0;
  }
}

extern "C" __global__ void branches(const int* x, int* out) {
  int i = threadIdx.x;
  int value = x[i];
  int sum = 0;
  for (int k = 0; k < value % 7 + 1; k++) {
    if (k == 4) continue;
    if (value % 2 == 0) {
      sum += value % 3 == 0 ? 10 * k : k;
    } else if (value % 5 == 0) {
      sum -= k;
      if (sum < -5) break;
    } else {
      sum ^= value;
    }
  }
  __syncwarp();
  out[i] = sum + __shfl_xor_sync(0xFFFFFFFF, sum, 1);
}

extern "C" __global__ void cases(const int* x, int* out) {
  int i = threadIdx.x;
  int v = x[i];
  int r;
  switch (v & 15) {
    case 0: r = v + 1; break;
    case 1: r = v * 3; break;
    case 2: r = v - 7;  // and on
    case 3: r = v ^ 0x55; break;
    case 4: r = -v; break;
    case 5: r = v << 3; break;
    case 6: r = v >> 2; break;
    case 7: r = __brev(v); break;
    case 8: r = __popc(v); break;
    case 9: r = __clz(v); break;
    case 10: r = v | 64; break;
    case 11: r = v & 48; break;
    default: r = 1000 + v;
  }
  out[i] = r;
}

// One lane at a time: a warp whose lanes wait for one of them must let that one go on.
extern "C" __global__ void lock(int* mutex, volatile int* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(mutex, 0, 1) == 0) {
      *counter = *counter * 3 + 1;
      __threadfence();
      atomicExch(mutex, 0);
      done = true;
    }
  }
}
