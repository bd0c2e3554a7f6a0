// Functions that a C++ compiler and a CUDA compiler both translate; the test compares their results.
#pragma once

#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif

struct Pair {
  int count;
  double weight;
  char tag[5];
  float values[3];
};

BOTH inline unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ (x >> 16);
}

BOTH inline unsigned gcd(unsigned a, unsigned b) {
  while (b != 0) {
    unsigned t = a % b;
    a = b;
    b = t;
  }
  return a;
}

BOTH inline int collatz(unsigned x) {
  int steps = 0;
  unsigned long long v = x % 100000 + 1;
  while (v != 1 && steps < 1000) {
    v = (v & 1) ? 3 * v + 1 : v / 2;
    steps++;
  }
  return steps;
}

BOTH inline unsigned recursive(unsigned n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }

BOTH inline Pair makePair(unsigned x) {
  Pair p;
  p.count = (int)(x % 17) - 8;
  p.weight = x * 0.25;
  for (int i = 0; i < 5; i++) p.tag[i] = (char)(x >> i);
  for (int i = 0; i < 3; i++) p.values[i] = (float)(x % (i + 7)) / (float)(i + 3);
  return p;
}

BOTH inline double total(Pair p, int which) {
  double sum = p.count * p.weight;
  for (int i = 0; i < 5; i++) sum += p.tag[i];
  return sum + p.values[which % 3];
}

BOTH inline int classify(unsigned x) {
  switch (x % 11) {
    case 0: return 5;
    case 1: return (int)x;
    case 2: return -(int)(x / 3);
    case 3: return (int)(x << 3);
    case 4: return (int)(x >> 5);
    case 5: return (int)gcd(x, 360360);
    case 6: return collatz(x);
    case 7: return (int)recursive(x % 9);
    default: return ~(int)x;
  }
}

BOTH inline float horner(float x) {
  float sum = 0.5f;
  for (int i = 1; i < 6; i++) sum = sum * x + 1.0f / i;
  return sum;
}

BOTH inline long long wide(unsigned x) {
  long long v = (long long)(int)x * 0x123456789LL;
  unsigned long long u = (unsigned long long)v;
  u = (u << 7) | (u >> 57);
  return (long long)u / (int)(x % 1000 + 1) + (short)x + (signed char)x;
}

/** Eight results of one input. */
BOTH inline void results(unsigned x, unsigned long long* out) {
  union { double d; unsigned long long u; } d;
  union { float f; unsigned u; } f;
  out[0] = mix(x);
  out[1] = (unsigned)classify(mix(x));
  d.d = total(makePair(x), (int)(x % 5));
  out[2] = d.u;
  f.f = horner((float)(int)x * 1e-9f);
  out[3] = f.u;
  out[4] = (unsigned long long)wide(mix(x));
  d.d = (double)x / 7.0 - (double)(int)mix(x);
  out[5] = d.u;
  out[6] = (unsigned)(int)((float)(int)x * 0.37f);
  unsigned sorted[6];
  for (int i = 0; i < 6; i++) sorted[i] = mix(x + i);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j + 1 < 6; j++)
      if (sorted[j] > sorted[j + 1]) {
        unsigned t = sorted[j];
        sorted[j] = sorted[j + 1];
        sorted[j + 1] = t;
      }
  out[7] = sorted[x % 6];
}
