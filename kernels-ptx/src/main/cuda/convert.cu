// Rounds an unscaled view of any type to another type, in one step.
#include "philox.cuh"
#include "store.cuh"

template <int D>
DEVICE void convert(const View& x, void* out, int64_t count, int rounding, int overflow,
                    uint64_t seed) {
  EncodeMode mode = {rounding, overflow};
  RandomBits random(seed);
  fill<Format<D>::bits>(out, count, [&](int64_t i) {
    int64_t at = storageIndex(x, i);
    // F32 would round integers of 32 bits a first time.
    Number value = x.dtype == I32 ? numberOf((int32_t)loadCode<32>(x.data, at))
                                  : numberOf(loadElement(x.dtype, x.data, at));
    return encode<D>(value, mode, rounding == STOCHASTIC ? random.at((uint64_t)i) : 0);
  });
}

#define CONVERT(NAME, D)                                                                     \
  extern "C" __global__ void __launch_bounds__(FILL_THREADS, 4)                                 \
      convert_##NAME(const View x, void* out, int64_t count, int rounding, int overflow,     \
                     uint64_t seed) {                                                        \
    convert<D>(x, out, count, rounding, overflow, seed);                                     \
  }

CONVERT(f32, F32)
CONVERT(f16, F16)
CONVERT(bf16, BF16)
CONVERT(f8_e4m3, F8_E4M3)
CONVERT(f8_e5m2, F8_E5M2)
CONVERT(f8_e8m0, F8_E8M0)
CONVERT(f6_e2m3, F6_E2M3)
CONVERT(f6_e3m2, F6_E3M2)
CONVERT(f4_e2m1, F4_E2M1)
CONVERT(i8, I8)
CONVERT(i4, I4)
CONVERT(i32, I32)
