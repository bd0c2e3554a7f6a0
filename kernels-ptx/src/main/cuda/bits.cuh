// Bits of floats, and the few integer instructions that C++ has no operator for.
#pragma once

#include <stdint.h>
#include <string.h>

#define HOST_DEVICE __host__ __device__ __forceinline__
#define DEVICE __device__ __forceinline__

HOST_DEVICE uint32_t asBits(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
#endif
}

HOST_DEVICE float asFloat(uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
#endif
}

HOST_DEVICE double asDouble(uint64_t bits) {
#ifdef __CUDA_ARCH__
  return __longlong_as_double((long long)bits);
#else
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
#endif
}

// 32 for 0.
HOST_DEVICE int leadingZeros(uint32_t x) {
#ifdef __CUDA_ARCH__
  return __clz((int)x);
#else
  return x == 0 ? 32 : __builtin_clz(x);
#endif
}

HOST_DEVICE uint32_t multiplyHigh(uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)a * b >> 32);
}

// 2^n of a normal float.
HOST_DEVICE float powerOfTwo(int n) { return asFloat((uint32_t)(n + 127) << 23); }

// An F32 that is no NaN, rounded to the F16 code that is nearest, ties to even.
HOST_DEVICE uint32_t roundToHalf(float x) {
#ifdef __CUDA_ARCH__
  uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
  return half;
#else
  // A sum with 2^(exponent of an ulp + 23) · 1.5 leaves the rounded value in the low bits.
  uint32_t bits = asBits(x);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude >= 0x47800000) {
    return sign | 0x7C00;
  }
  if (magnitude < 0x38800000) {
    return sign | (asBits(asFloat(magnitude) + 0.5f) - 0x3F000000);
  }
  uint32_t rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
  return sign | (rounded - 0x38000000) >> 13;
#endif
}
