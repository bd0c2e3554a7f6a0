// FP4 with FP4 at the full rate of sm_120f: MXFP4, blocks of 32 with powers of two, and NVFP4, blocks
// of 16 with E4M3. Tile 128 × 128 × 256, 256 threads, 2 stages: 70,656 and 73,728 bytes of shared
// memory.
#include "block_gemm.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1200
typedef BlockGemm<MxE2M1E2M1, F4_E2M1, F4_E2M1, SCALES_E8M0, 2> GemmMx;
typedef BlockGemm<NvE2M1E2M1, F4_E2M1, F4_E2M1, SCALES_E4M3_F32, 2> GemmNv;

BLOCK_GEMM(gemm_block_mxf4, GemmMx)
BLOCK_GEMM(gemm_block_nvf4, GemmNv)
#endif
