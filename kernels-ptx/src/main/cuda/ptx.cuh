// The instructions of PTX that C++ has no words for: asynchronous copies, matrices from shared
// memory, matrix products, and arithmetic on pairs of halves.
#ifndef MINIFLOAT_PTX_CUH
#define MINIFLOAT_PTX_CUH

#include "bits.cuh"

DEVICE uint32_t sharedAddress(const void* shared) {
  return (uint32_t)__cvta_generic_to_shared(shared);
}

// Copies `bytes` of 16 bytes to shared memory and fills the rest with zeros (PTX ISA, cp.async).
DEVICE void copyAsync16(void* shared, const void* global, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sharedAddress(shared)),
               "l"(__cvta_generic_to_global(global)), "r"(bytes)
               : "memory");
}

// Copies 16 bytes to a shared address and OFFSET bytes on.
template <int OFFSET>
DEVICE void copyAsync16(uint32_t shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0+%2], [%1], 16;" ::"r"(shared),
               "l"(__cvta_generic_to_global(global)), "n"(OFFSET)
               : "memory");
}

DEVICE void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most N of this thread's groups of copies are under way.
template <int N>
DEVICE void waitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// Four 8 × 8 matrices of 16-bit elements, whose rows of 16 bytes lanes 0-7, 8-15, ... point at; a
// lane gets elements 2·(lane % 4) and the next of row lane / 4 of each (PTX ISA, ldmatrix).
DEVICE void loadMatrices(uint32_t (&m)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(sharedAddress(row))
               : "memory");
}

// The same with rows at shared addresses and OFFSET bytes on.
template <int OFFSET>
DEVICE void loadMatrices(uint32_t (&m)[4], uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4+%5];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
               : "r"(row), "n"(OFFSET)
               : "memory");
}

// Where row `row` lies, in one instruction.
DEVICE const uint8_t* rowAt(const uint8_t* first, int row, int pitchBytes) {
  uint64_t at;
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(at) : "r"(row), "r"(pitchBytes), "l"(first));
  return (const uint8_t*)at;
}

// Four of the eight bytes of `low` and `high`, one for each nibble of `which`.
DEVICE uint32_t permute(uint32_t low, uint32_t high, uint32_t which) {
  return __byte_perm(low, high, which);
}

// Products of 16 × 32 bytes of A and 32 bytes × 8 of B, added to the sums. The fragments are those
// of PTX ISA, mma.m16n8k16 and m16n8k32; both have the same bytes in the same registers.
#define MMA(NAME, SUM, LETTER, SHAPE, TYPES)                                                \
  struct NAME {                                                                             \
    typedef SUM Sum;                                                                        \
    static DEVICE void multiply(SUM(&d)[4], const uint32_t (&a)[4], uint32_t b0,            \
                                uint32_t b1) {                                              \
      asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES                              \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"       \
                   : "+" LETTER(d[0]), "+" LETTER(d[1]), "+" LETTER(d[2]), "+" LETTER(d[3]) \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));         \
    }                                                                                       \
  };

MMA(MmaF16, float, "f", "m16n8k16", "f32.f16.f16.f32")
MMA(MmaBF16, float, "f", "m16n8k16", "f32.bf16.bf16.f32")
MMA(MmaI8, int, "r", "m16n8k32", "s32.s8.s8.s32")
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
MMA(MmaE4M3E4M3, float, "f", "m16n8k32", "f32.e4m3.e4m3.f32")
MMA(MmaE4M3E5M2, float, "f", "m16n8k32", "f32.e4m3.e5m2.f32")
MMA(MmaE5M2E4M3, float, "f", "m16n8k32", "f32.e5m2.e4m3.f32")
MMA(MmaE5M2E5M2, float, "f", "m16n8k32", "f32.e5m2.e5m2.f32")
#endif

#undef MMA

// a·b + c of two F16, of two BF16.
DEVICE uint32_t fmaHalves(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t d;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

DEVICE uint32_t fmaBrains(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t d;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

#endif
