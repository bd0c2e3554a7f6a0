// FP8 products without FP8 tensor cores: decoded once to F16, which is exact, in shared memory.
// Scales: none, tensor, rows, blocks of a multiple of 32 of K (1 × 128, 128 × 128), MX.
// Tile 128 × 64 × 64, 128 threads, 2 stages: 49,920 bytes of shared memory.
#include "gemm.cuh"

template <int A, int B>
using Gemm = TensorGemm<MmaF16, DecodedA<A, F16>, DecodedB<B, F16>, 2, 32>;

typedef Gemm<F8_E4M3, F8_E4M3> GemmE4M3E4M3;
typedef Gemm<F8_E4M3, F8_E5M2> GemmE4M3E5M2;
typedef Gemm<F8_E5M2, F8_E4M3> GemmE5M2E4M3;
typedef Gemm<F8_E5M2, F8_E5M2> GemmE5M2E5M2;

GEMM(gemm_f8_e4m3_f8_e4m3, GemmE4M3E4M3, 0)
GEMM(gemm_f8_e4m3_f8_e5m2, GemmE4M3E5M2, 0)
GEMM(gemm_f8_e5m2_f8_e4m3, GemmE5M2E4M3, 0)
GEMM(gemm_f8_e5m2_f8_e5m2, GemmE5M2E5M2, 0)
