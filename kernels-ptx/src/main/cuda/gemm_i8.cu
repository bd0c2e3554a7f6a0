// I8 products: exact sums in I32, promoted to F32 every 65,536 elements of K at the latest, before
// they could overflow (2^31 / 2^14). Blocks of K must be multiples of 128.
// Tile 64 × 64 × 128, 128 threads, 3 stages: 50,688 bytes of shared memory.
#include "gemm.cuh"

typedef TensorGemm<MmaI8, DirectTile<I8, 64, 128>, DirectTile<I8, 64, 128>, 2, 2, 3, 128> GemmI8;

GEMM(gemm_i8, 128, GemmI8, 65536)
