// F16 and BF16 products on the tensor cores of 10.0.
// Tile 128 × 128 × 64, 416 threads, 4 stages, 2 accumulators in Tensor Memory.
#include "blackwell_gemm.cuh"

typedef BlackwellGemm<TensorF16, F16, F16, TensorFormats<0, 0>::descriptor> GemmF16;
typedef BlackwellGemm<TensorF16, BF16, BF16, TensorFormats<1, 1>::descriptor> GemmBF16;

BLACKWELL_GEMM(gemm_blackwell_f16, GemmF16)
BLACKWELL_GEMM(gemm_blackwell_bf16, GemmBF16)
