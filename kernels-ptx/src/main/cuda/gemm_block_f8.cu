// FP8 with FP8 and with FP4 weights, MX blocks of 32 scaled by the tensor cores of sm_120f.
// Tile 128 × 128 × 128, 256 threads, 3 stages: 101,376 bytes of shared memory, all that a CTA can have.
#include "block_gemm.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1200
template <class Mma, int A, int B>
using Gemm = BlockGemm<Mma, A, B, SCALES_E8M0, 3>;

typedef Gemm<MxE4M3E4M3, F8_E4M3, F8_E4M3> GemmE4M3E4M3;
typedef Gemm<MxE4M3E5M2, F8_E4M3, F8_E5M2> GemmE4M3E5M2;
typedef Gemm<MxE5M2E4M3, F8_E5M2, F8_E4M3> GemmE5M2E4M3;
typedef Gemm<MxE5M2E5M2, F8_E5M2, F8_E5M2> GemmE5M2E5M2;
typedef Gemm<MxE4M3E2M1, F8_E4M3, F4_E2M1> GemmE4M3E2M1;
typedef Gemm<MxE5M2E2M1, F8_E5M2, F4_E2M1> GemmE5M2E2M1;

BLOCK_GEMM(gemm_block_e4m3_e4m3, GemmE4M3E4M3)
BLOCK_GEMM(gemm_block_e4m3_e5m2, GemmE4M3E5M2)
BLOCK_GEMM(gemm_block_e5m2_e4m3, GemmE5M2E4M3)
BLOCK_GEMM(gemm_block_e5m2_e5m2, GemmE5M2E5M2)
BLOCK_GEMM(gemm_block_e4m3_e2m1, GemmE4M3E2M1)
BLOCK_GEMM(gemm_block_e5m2_e2m1, GemmE5M2E2M1)
#endif
