// F16 and BF16 products on the tensor cores of 9.0.
// Tile 128 × 128 × 64, 384 threads, 4 stages.
#include "hopper_gemm.cuh"

typedef HopperGemm<WgmmaF16, F16, F16> GemmF16;
typedef HopperGemm<WgmmaBF16, BF16, BF16> GemmBF16;

HOPPER_GEMM(gemm_hopper_f16, GemmF16)
HOPPER_GEMM(gemm_hopper_bf16, GemmBF16)
