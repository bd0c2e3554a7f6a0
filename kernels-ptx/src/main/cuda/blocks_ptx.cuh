// The instructions of sm_120f that multiply scaled blocks, and what feeds them.
#pragma once

#include "ptx.cuh"

// Copies `bytes` of SIZE, 4 or 8, to shared memory and fills the rest with zeros (PTX ISA, cp.async).
template <int SIZE>
DEVICE void copyAsync(void* shared, const void* global, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(sharedAddress(shared)),
               "l"(__cvta_generic_to_global(global)), "n"(SIZE), "r"(bytes)
               : "memory");
}

// Four 8 × 16 matrices of packed elements, 8 or 12 bytes a row, each element in a byte of its own
// (PTX ISA, ldmatrix with .b4x16_p64 and .b6x16_p32); then moved to where multiplications want them:
//
//   4 bits  loaded  | 0000eeee |      wanted  | 00eeee00 |
//   6 bits          | 00eeeeee |              | 00eeeeee |
template <int BITS>
DEVICE void loadSpreadMatrices(uint32_t (&m)[4], const void* row) {
  if constexpr (BITS == 4) {
    asm volatile("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(sharedAddress(row))
                 : "memory");
#pragma unroll
    for (int i = 0; i < 4; i++) {
      m[i] <<= 2;
    }
  } else {
    static_assert(BITS == 6, "elements of 4 or 6 bits");
    asm volatile("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(sharedAddress(row))
                 : "memory");
  }
}

// Products of 16 × 32 bytes of A and 32 bytes × 8 of B, each block with its scale, added to the sums
// (PTX ISA, mma with .block_scale). A byte of a lane's scale words is a block's scale; BYTE is the
// first that counts, and THREAD_A and THREAD_B say which lanes of each four have them:
//
//   lane % 4     0        1        2        3
//   A            row g    g + 8    row g    g + 8       g = lane / 4
//                THREAD_A 0        THREAD_A 1
//   B            column g in the lane that THREAD_B says
#define MMA(NAME, ELEMENTS, KIND, TYPES)                                                    \
  struct NAME {                                                                             \
    static constexpr int SCALES = ELEMENTS;                                                 \
    template <int BYTE, int THREAD_A, int THREAD_B>                                         \
    static DEVICE void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,         \
                                uint32_t b1, uint32_t scalesA, uint32_t scalesB) {          \
      asm volatile("mma.sync.aligned." KIND ".row.col." TYPES                               \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3},"       \
                   " {%10}, {%12, %13}, {%11}, {%12, %14};"                                 \
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                         \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1),          \
                     "r"(scalesA), "r"(scalesB), "n"(BYTE), "n"(THREAD_A), "n"(THREAD_B));  \
    }                                                                                       \
  };

// The number is of scales for 32 bytes of K.
#define MX_F8(NAME, TYPES)                                                                   \
  MMA(NAME, 1, "kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32", "f32." TYPES ".f32.ue8m0")

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1200
MX_F8(MxE4M3E4M3, "e4m3.e4m3")
MX_F8(MxE4M3E5M2, "e4m3.e5m2")
MX_F8(MxE5M2E4M3, "e5m2.e4m3")
MX_F8(MxE5M2E5M2, "e5m2.e5m2")
MX_F8(MxE4M3E2M1, "e4m3.e2m1")
MX_F8(MxE5M2E2M1, "e5m2.e2m1")
MX_F8(MxE4M3E2M3, "e4m3.e2m3")
MX_F8(MxE4M3E3M2, "e4m3.e3m2")
MX_F8(MxE2M3E2M3, "e2m3.e2m3")
MX_F8(MxE3M2E3M2, "e3m2.e3m2")
MMA(MxE2M1E2M1, 2, "kind::mxf4.block_scale.scale_vec::2X.m16n8k64", "f32.e2m1.e2m1.f32.ue8m0")
MMA(NvE2M1E2M1, 4, "kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64",
    "f32.e2m1.e2m1.f32.ue4m3")
#endif

#undef MX_F8
#undef MMA
