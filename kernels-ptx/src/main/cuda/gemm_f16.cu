// F16 and BF16 products. Tile 128 × 64 × 64, 128 threads, 2 stages: 49,152 bytes of shared memory.
#include "gemm.cuh"

template <class Mma, int D>
using Gemm = TensorGemm<Mma, DirectA<D>, DirectB<D>, 2, 0>;

typedef Gemm<MmaF16, F16> GemmF16;
typedef Gemm<MmaBF16, BF16> GemmBF16;

GEMM(gemm_f16, GemmF16, 0)
GEMM(gemm_bf16, GemmBF16, 0)
