// What only 9.0 has: barriers that count bytes, copies of tiles by tensor maps, products of
// warpgroups with both operands in shared memory (PTX ISA: mbarrier, cp.async.bulk.tensor, wgmma).
#pragma once

#include "ptx.cuh"

// A CUtensorMap. Kernels take it by value; copies name the address of the parameter.
struct alignas(64) TensorMap {
  uint8_t opaque[128];
};

DEVICE void initBarrier(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(barrier)),
               "r"(arrivals)
               : "memory");
}

// Makes barriers that have been initialised known to copies too.
DEVICE void fenceBarriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// A number that the compiler computes once: it can't know it again where it is used.
DEVICE uint32_t opaque(uint32_t x) {
  asm volatile("" : "+r"(x));
  return x;
}

DEVICE uint64_t opaque(uint64_t x) {
  asm volatile("" : "+l"(x));
  return x;
}

// x · FACTOR + y in one instruction.
template <int FACTOR>
DEVICE uint32_t multiplyAdd(uint32_t x, uint32_t y) {
  uint32_t sum;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(x), "n"(FACTOR), "r"(y));
  return sum;
}

// Bits of a number from one on, in one instruction.
template <int FIRST, int BITS>
DEVICE uint32_t bits(uint32_t x) {
  uint32_t field;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(x), "n"(FIRST), "n"(BITS));
  return field;
}

DEVICE void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// One lane of a warp, whose number is given, arrives at the barrier OFFSET bytes on.
template <int OFFSET>
DEVICE void arriveFirst(uint32_t barrier, uint32_t lane) {
  asm volatile(
      "{\n\t"
      ".reg .pred first;\n\t"
      "setp.eq.u32 first, %2, 0;\n\t"
      "@first mbarrier.arrive.shared::cta.b64 _, [%0+%1];\n\t"
      "}" ::"r"(barrier),
      "n"(OFFSET), "r"(lane)
      : "memory");
}

// The float OFFSET bytes on.
template <int OFFSET>
DEVICE float sharedFloat(uint32_t address) {
  float x;
  asm volatile("ld.shared.f32 %0, [%1+%2];" : "=f"(x) : "r"(address), "n"(OFFSET) : "memory");
  return x;
}

// Arrives, and makes the phase wait for so many bytes of copies besides.
DEVICE void arriveExpecting(uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Waits until the phase of a parity is complete.
DEVICE void awaitPhase(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n\t"
      ".reg .pred complete;\n\t"
      "AGAIN:\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n\t"
      "@!complete bra AGAIN;\n\t"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// Copies the box of a map of three dimensions that begins at (x, y, z); zeros beyond its extents.
DEVICE void copyBox(uint32_t to, const TensorMap& map, int x, int y, int z, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}

// How many registers the threads of a warpgroup have from here on.
template <int REGISTERS>
DEVICE void shrinkRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

template <int REGISTERS>
DEVICE void growRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

// A barrier of some warps of a CTA; 0 is that of __syncthreads.
DEVICE void syncThreads(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// The descriptor of a tile with rows of 128 bytes, swizzled over all of them: 1,024 bytes from eight
// rows to the next.
DEVICE uint64_t descriptor(uint32_t tile) {
  return (uint64_t)0x40000040 << 32 | (tile & 0x3FFFF) >> 4;
}

// Descriptors of each 32 bytes of a tile's rows.
struct Descriptors {
  uint64_t of[4];

  DEVICE explicit Descriptors(uint32_t tile) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      of[i] = opaque(descriptor(tile) + i * 2);
    }
  }
};

#define TIMES8(F, I)                                                                          \
  F(I), F(I + 1), F(I + 2), F(I + 3), F(I + 4), F(I + 5), F(I + 6), F(I + 7)
#define TIMES64(F)                                                                            \
  TIMES8(F, 0), TIMES8(F, 8), TIMES8(F, 16), TIMES8(F, 24), TIMES8(F, 32), TIMES8(F, 40),     \
      TIMES8(F, 48), TIMES8(F, 56)
#define SUM(I) "+f"(sums[I])

#define SUMS64                                                                                \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                   \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "          \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "          \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"

#define PRODUCT(INSTRUCTION, TILE, ADDS, SCALES)                                              \
  "mad.wide.u32 a, %64, 64, " TILE ";\n\t"                                                    \
  "mad.wide.u32 b, %65, 64, " TILE ";\n\t"                                                    \
  INSTRUCTION " " SUMS64 ", a, b, " ADDS ", " SCALES ";\n\t"

// 64 rows of A times 128 rows of B, 128 bytes of K of each: four products of 32 bytes, of which the
// first begins the sums. Waits for them. In one text, so that nothing comes between the products. The
// matrices begin eightsA and eightsB times eight rows (64 units of 16 bytes) behind the descriptors'.
#define WGMMA(NAME, INSTRUCTION, SCALES)                                                      \
  struct NAME {                                                                               \
    static DEVICE void multiply(float (&sums)[64], const Descriptors& tile, uint32_t eightsA, \
                                uint32_t eightsB) {                                           \
      asm volatile(                                                                           \
          "{\n\t"                                                                             \
          ".reg .pred begins;\n\t"                                                            \
          ".reg .b64 a, b;\n\t"                                                               \
          "wgmma.fence.sync.aligned;\n\t"                                                     \
          "setp.eq.u32 begins, %64, %64;\n\t"                                                 \
          PRODUCT(INSTRUCTION, "%66", "!begins", SCALES)                                      \
          PRODUCT(INSTRUCTION, "%67", "begins", SCALES)                                       \
          PRODUCT(INSTRUCTION, "%68", "begins", SCALES)                                       \
          PRODUCT(INSTRUCTION, "%69", "begins", SCALES)                                       \
          "wgmma.commit_group.sync.aligned;\n\t"                                              \
          "wgmma.wait_group.sync.aligned 0;\n\t"                                              \
          "}"                                                                                 \
          : TIMES64(SUM)                                                                      \
          : "r"(eightsA), "r"(eightsB), "l"(tile.of[0]), "l"(tile.of[1]), "l"(tile.of[2]),    \
            "l"(tile.of[3])                                                                   \
          : "memory");                                                                        \
    }                                                                                         \
  };

WGMMA(WgmmaE4M3E4M3, "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3", "1, 1")
WGMMA(WgmmaE4M3E5M2, "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e5m2", "1, 1")
WGMMA(WgmmaE5M2E4M3, "wgmma.mma_async.sync.aligned.m64n128k32.f32.e5m2.e4m3", "1, 1")
WGMMA(WgmmaE5M2E5M2, "wgmma.mma_async.sync.aligned.m64n128k32.f32.e5m2.e5m2", "1, 1")
WGMMA(WgmmaF16, "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", "1, 1, 0, 0")
WGMMA(WgmmaBF16, "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", "1, 1, 0, 0")

#undef WGMMA
