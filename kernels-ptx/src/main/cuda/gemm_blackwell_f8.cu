// FP8 products on the tensor cores of 10.0. Scales: none, tensor, rows; of K by blocks of 128, in B for
// 128 rows at a time.
// Tile 128 × 128 × 128, 416 threads, 4 stages, 2 accumulators in Tensor Memory.
#include "blackwell_gemm.cuh"

typedef BlackwellGemm<TensorF8, F8_E4M3, F8_E4M3, TensorFormats<0, 0>::descriptor> GemmE4M3E4M3;
typedef BlackwellGemm<TensorF8, F8_E4M3, F8_E5M2, TensorFormats<0, 1>::descriptor> GemmE4M3E5M2;
typedef BlackwellGemm<TensorF8, F8_E5M2, F8_E4M3, TensorFormats<1, 0>::descriptor> GemmE5M2E4M3;
typedef BlackwellGemm<TensorF8, F8_E5M2, F8_E5M2, TensorFormats<1, 1>::descriptor> GemmE5M2E5M2;

BLACKWELL_GEMM(gemm_blackwell_e4m3_e4m3, GemmE4M3E4M3)
BLACKWELL_GEMM(gemm_blackwell_e4m3_e5m2, GemmE4M3E5M2)
BLACKWELL_GEMM(gemm_blackwell_e5m2_e4m3, GemmE5M2E4M3)
BLACKWELL_GEMM(gemm_blackwell_e5m2_e5m2, GemmE5M2E5M2)
