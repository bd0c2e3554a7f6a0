// F16 or BF16 activations with weights of 8 bits or fewer, which are decoded once to the
// activations' type; both are exact.
// Tile 128 × 64 × 64, 128 threads, 2 stages: 49,920 bytes of shared memory.
#include "gemm.cuh"

template <class Mma, int A, int B>
using Gemm = TensorGemm<Mma, DirectA<A>, DecodedB<B, A>, 2, 32>;

#define WEIGHTS(NAME, D)                         \
  typedef Gemm<MmaF16, F16, D> GemmF16##D;       \
  typedef Gemm<MmaBF16, BF16, D> GemmBF16##D;    \
  GEMM(gemm_f16_##NAME, GemmF16##D, 0)      \
  GEMM(gemm_bf16_##NAME, GemmBF16##D, 0)

WEIGHTS(f8_e4m3, F8_E4M3)
WEIGHTS(f8_e5m2, F8_E5M2)
WEIGHTS(f6_e2m3, F6_E2M3)
WEIGHTS(f6_e3m2, F6_E3M2)
WEIGHTS(f4_e2m1, F4_E2M1)
WEIGHTS(i8, I8)
WEIGHTS(i4, I4)
