// FP8 products on the tensor cores of 9.0, which keep 13 or so bits of a sum: promoted to F32 every 128
// elements of K. Scales: none, tensor, rows; of K by blocks of 128, in B for 128 rows at a time.
// Tile 128 × 128 × 128, 384 threads, 4 stages.
#include "hopper_gemm.cuh"

typedef HopperGemm<WgmmaE4M3E4M3, F8_E4M3, F8_E4M3> GemmE4M3E4M3;
typedef HopperGemm<WgmmaE4M3E5M2, F8_E4M3, F8_E5M2> GemmE4M3E5M2;
typedef HopperGemm<WgmmaE5M2E4M3, F8_E5M2, F8_E4M3> GemmE5M2E4M3;
typedef HopperGemm<WgmmaE5M2E5M2, F8_E5M2, F8_E5M2> GemmE5M2E5M2;

HOPPER_GEMM(gemm_hopper_e4m3_e4m3, GemmE4M3E4M3)
HOPPER_GEMM(gemm_hopper_e4m3_e5m2, GemmE4M3E5M2)
HOPPER_GEMM(gemm_hopper_e5m2_e4m3, GemmE5M2E4M3)
HOPPER_GEMM(gemm_hopper_e5m2_e5m2, GemmE5M2E5M2)
