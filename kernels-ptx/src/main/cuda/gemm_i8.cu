// I8 products: exact sums in I32, promoted to F32 every 65,536 elements of K at the latest, before
// they could overflow (2^31 / 2^14). Blocks of K must be multiples of 128.
// Tile 128 × 64 × 128, 128 threads, 2 stages: 49,920 bytes of shared memory.
#include "gemm.cuh"

typedef TensorGemm<MmaI8, DirectA<I8>, DirectB<I8>, 2, 128> GemmI8;

GEMM(gemm_i8, GemmI8, 65536)
