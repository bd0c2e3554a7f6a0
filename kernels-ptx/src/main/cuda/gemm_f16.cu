// F16 and BF16 products. Tile 64 × 64 × 64, 128 threads, 3 stages: 49,152 bytes of shared memory.
#include "gemm.cuh"

template <class Mma, int D>
using Gemm = TensorGemm<Mma, DirectTile<D, 64, 128>, DirectTile<D, 64, 128>, 2, 2, 3, 0>;

typedef Gemm<MmaF16, F16> GemmF16;
typedef Gemm<MmaBF16, BF16> GemmBF16;

GEMM(gemm_f16, 128, GemmF16, 0)
GEMM(gemm_bf16, 128, GemmBF16, 0)
