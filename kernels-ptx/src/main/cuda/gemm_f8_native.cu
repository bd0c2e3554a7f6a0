// FP8 products on FP8 tensor cores, which keep 13 or so bits of a sum: promoted to F32 every 128
// elements of K. Scales: none, tensor, rows, blocks of a multiple of 128 of K.
// Tile 64 × 64 × 128, 128 threads, 3 stages: 50,688 bytes of shared memory.
// Devices of 9.0 decode to F16 for this and need more registers: with three CTAs they would spill.
#define RESIDENT 2
#include "gemm.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
template <class Mma, int A, int B>
using Gemm = TensorGemm<Mma, DirectTile<A, 64, 128>, DirectTile<B, 64, 128>, 2, 2, 3, 128>;

typedef Gemm<MmaE4M3E4M3, F8_E4M3, F8_E4M3> GemmE4M3E4M3;
typedef Gemm<MmaE4M3E5M2, F8_E4M3, F8_E5M2> GemmE4M3E5M2;
typedef Gemm<MmaE5M2E4M3, F8_E5M2, F8_E4M3> GemmE5M2E4M3;
typedef Gemm<MmaE5M2E5M2, F8_E5M2, F8_E5M2> GemmE5M2E5M2;

GEMM(gemm_f8_native_e4m3_e4m3, 128, GemmE4M3E4M3, 128)
GEMM(gemm_f8_native_e4m3_e5m2, 128, GemmE4M3E5M2, 128)
GEMM(gemm_f8_native_e5m2_e4m3, 128, GemmE5M2E4M3, 128)
GEMM(gemm_f8_native_e5m2_e5m2, 128, GemmE5M2E5M2, 128)
#endif
