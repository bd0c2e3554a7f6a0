// FP4 weights with FP8 activations and with FP4 ones, NVFP4 or MXFP4, decoded once to F16.
// Tile 128 × 64 × 64, 128 threads, 2 stages: 49,920 bytes of shared memory.
#include "gemm.cuh"

template <int A, int B>
using Gemm = TensorGemm<MmaF16, DecodedA<A, F16>, DecodedB<B, F16>, 2, 32>;

typedef Gemm<F8_E4M3, F4_E2M1> GemmE4M3E2M1;
typedef Gemm<F8_E5M2, F4_E2M1> GemmE5M2E2M1;
typedef Gemm<F4_E2M1, F4_E2M1> GemmE2M1E2M1;

GEMM(gemm_f8_e4m3_f4_e2m1, GemmE4M3E2M1, 0)
GEMM(gemm_f8_e5m2_f4_e2m1, GemmE5M2E2M1, 0)
GEMM(gemm_f4_e2m1_f4_e2m1, GemmE2M1E2M1, 0)
