// FP8 products on FP8 tensor cores, which keep 13 or so bits of a sum: promoted to F32 every 128
// elements of K. Scales: none, tensor, rows, blocks of a multiple of 128 of K.
// Tile 128 × 64 × 128, 128 threads, 2 stages: 49,920 bytes of shared memory.
#include "gemm.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
template <class Mma, int A, int B>
using Gemm = TensorGemm<Mma, DirectA<A>, DirectB<B>, 2, 128>;

typedef Gemm<MmaE4M3E4M3, F8_E4M3, F8_E4M3> GemmE4M3E4M3;
typedef Gemm<MmaE4M3E5M2, F8_E4M3, F8_E5M2> GemmE4M3E5M2;
typedef Gemm<MmaE5M2E4M3, F8_E5M2, F8_E4M3> GemmE5M2E4M3;
typedef Gemm<MmaE5M2E5M2, F8_E5M2, F8_E5M2> GemmE5M2E5M2;

GEMM(gemm_f8_native_e4m3_e4m3, GemmE4M3E4M3, 128)
GEMM(gemm_f8_native_e4m3_e5m2, GemmE4M3E5M2, 128)
GEMM(gemm_f8_native_e5m2_e4m3, GemmE5M2E4M3, 128)
GEMM(gemm_f8_native_e5m2_e5m2, GemmE5M2E5M2, 128)
#endif
