// FP8 with FP6 weights and FP6 with FP6, MX blocks of 32 scaled by the tensor cores of sm_120f.
// Tile 128 × 128 × 128, 256 threads, 3 stages: 101,376 bytes of shared memory, all that a CTA can have.
#include "block_gemm.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1200
template <class Mma, int A, int B>
using Gemm = BlockGemm<Mma, A, B, SCALES_E8M0, 3>;

typedef Gemm<MxE4M3E2M3, F8_E4M3, F6_E2M3> GemmE4M3E2M3;
typedef Gemm<MxE4M3E3M2, F8_E4M3, F6_E3M2> GemmE4M3E3M2;
typedef Gemm<MxE2M3E2M3, F6_E2M3, F6_E2M3> GemmE2M3E2M3;
typedef Gemm<MxE3M2E3M2, F6_E3M2, F6_E3M2> GemmE3M2E3M2;

BLOCK_GEMM(gemm_block_e4m3_e2m3, GemmE4M3E2M3)
BLOCK_GEMM(gemm_block_e4m3_e3m2, GemmE4M3E3M2)
BLOCK_GEMM(gemm_block_e2m3_e2m3, GemmE2M3E2M3)
BLOCK_GEMM(gemm_block_e3m2_e3m2, GemmE3M2E3M2)
#endif
