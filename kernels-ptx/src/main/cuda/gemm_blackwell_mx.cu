// Products of blocks with scales on the tensor cores of 10.0: MXFP8, FP8 in blocks of 32 with powers of
// two; MXFP4, the same of FP4; NVFP4, FP4 in blocks of 16 with E4M3.
// Tile 128 × 128 × 128, of FP4 256 deep, 416 threads, 4 stages, 2 accumulators in Tensor Memory.
#include "blackwell_gemm.cuh"

template <int A, int B, int NUMBER_A, int NUMBER_B>
using GemmMxF8 = BlackwellGemm<TensorMxF8, A, B, ScaledFormats<NUMBER_A, NUMBER_B, true>::descriptor,
                               SCALES_E8M0>;

typedef GemmMxF8<F8_E4M3, F8_E4M3, 0, 0> GemmE4M3E4M3;
typedef GemmMxF8<F8_E4M3, F8_E5M2, 0, 1> GemmE4M3E5M2;
typedef GemmMxF8<F8_E5M2, F8_E4M3, 1, 0> GemmE5M2E4M3;
typedef GemmMxF8<F8_E5M2, F8_E5M2, 1, 1> GemmE5M2E5M2;
typedef BlackwellGemm<TensorMxF4, F4_E2M1, F4_E2M1, ScaledFormats<1, 1, true>::descriptor, SCALES_E8M0>
    GemmMxF4;
typedef BlackwellGemm<TensorNvF4, F4_E2M1, F4_E2M1, ScaledFormats<1, 1, false>::descriptor,
                      SCALES_E4M3_F32>
    GemmNvF4;

BLACKWELL_GEMM(gemm_blackwell_mx_e4m3_e4m3, GemmE4M3E4M3)
BLACKWELL_GEMM(gemm_blackwell_mx_e4m3_e5m2, GemmE4M3E5M2)
BLACKWELL_GEMM(gemm_blackwell_mx_e5m2_e4m3, GemmE5M2E4M3)
BLACKWELL_GEMM(gemm_blackwell_mx_e5m2_e5m2, GemmE5M2E5M2)
BLACKWELL_GEMM(gemm_blackwell_mxf4, GemmMxF4)
BLACKWELL_GEMM(gemm_blackwell_nvf4, GemmNvF4)
