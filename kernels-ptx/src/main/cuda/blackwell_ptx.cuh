// What only 10.0 and its family have: Tensor Memory and products that one thread issues (PTX ISA:
// tcgen05).
#pragma once

#include "hopper_ptx.cuh"

// Allocates columns of Tensor Memory, for a whole warp; their address comes into shared memory.
template <int COLUMNS>
DEVICE void allocateColumns(uint32_t* address) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                   sharedAddress(address)),
               "n"(COLUMNS)
               : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
}

template <int COLUMNS>
DEVICE void freeColumns(uint32_t address) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), "n"(COLUMNS)
               : "memory");
}

// What tcgen05 instructions of this thread did comes before the synchronisation that follows, or
// after the one before.
DEVICE void fenceBefore() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }

DEVICE void fenceAfter() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

// Arrives at a barrier once everything that this thread has issued to the tensor cores is done.
DEVICE void arriveWhenDone(uint32_t barrier) {
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
      : "memory");
}

// The descriptor of a tile with rows of 128 bytes, swizzled over all of them: 1,024 bytes from eight
// rows to the next, and the version that these tensor cores want in bit 46.
DEVICE uint64_t tensorDescriptor(uint32_t tile) {
  return (uint64_t)0x40004040 << 32 | (tile & 0x3FFFF) >> 4;
}

// 128 × 128 sums in F32 of formats A and B, by the kind's numbers, both along K.
template <int A, int B>
struct TensorFormats {
  static constexpr uint32_t descriptor =
      1u << 4 | (uint32_t)A << 7 | (uint32_t)B << 10 | 128u / 8 << 17 | 128u / 16 << 24;
};

#define TENSOR_PRODUCT(NAME, KIND)                                                              \
  struct NAME {                                                                                 \
    static DEVICE void multiply(uint32_t sums, uint64_t a, uint64_t b, uint32_t formats,        \
                                bool adds) {                                                    \
      asm volatile(                                                                             \
          "{\n\t"                                                                               \
          ".reg .pred adds;\n\t"                                                                \
          "setp.ne.u32 adds, %4, 0;\n\t"                                                        \
          "tcgen05.mma.cta_group::1.kind::" KIND " [%0], %1, %2, %3, adds;\n\t"                 \
          "}" ::"r"(sums),                                                                      \
          "l"(a), "l"(b), "r"(formats), "r"((uint32_t)adds)                                     \
          : "memory");                                                                          \
    }                                                                                           \
  };

TENSOR_PRODUCT(TensorF8, "f8f6f4")
TENSOR_PRODUCT(TensorF16, "f16")

#undef TENSOR_PRODUCT

// 128 × 128 sums in F32 of formats A and B, by the kind's numbers, both along K and with scales, powers
// of two or E4M3.
template <int A, int B, bool POWERS>
struct ScaledFormats {
  static constexpr uint32_t descriptor = (uint32_t)A << 7 | (uint32_t)B << 10 | 128u / 8 << 17 |
                                         (uint32_t)POWERS << 23 | 128u / 16 << 24;
};

// Products of blocks that have scales: SCALES_EACH of a row for 32 bytes of K, bytes of a word in
// Tensor Memory from `byte` on.
#define SCALED_PRODUCT(NAME, KIND, SCALES_EACH)                                                 \
  struct NAME {                                                                                 \
    static constexpr int SCALES = SCALES_EACH;                                                  \
    static DEVICE void multiply(uint32_t sums, uint64_t a, uint64_t b, uint32_t formats,        \
                                uint32_t byte, uint32_t scalesA, uint32_t scalesB, bool adds) { \
      asm volatile(                                                                             \
          "{\n\t"                                                                               \
          ".reg .pred adds;\n\t"                                                                \
          "setp.ne.u32 adds, %6, 0;\n\t"                                                        \
          "tcgen05.mma.cta_group::1.kind::" KIND " [%0], %1, %2, %3, [%4], [%5], adds;\n\t"     \
          "}" ::"r"(sums),                                                                      \
          "l"(a), "l"(b), "r"(formats | byte << 29 | byte << 4), "r"(scalesA), "r"(scalesB),    \
          "r"((uint32_t)adds)                                                                   \
          : "memory");                                                                          \
    }                                                                                           \
  };

SCALED_PRODUCT(TensorMxF8, "mxf8f6f4.block_scale.block32", 1)
SCALED_PRODUCT(TensorMxF4, "mxf4.block_scale.block32", 2)
SCALED_PRODUCT(TensorNvF4, "mxf4nvf4.block_scale.block16", 4)

#undef SCALED_PRODUCT

// Copies 32 × 16 bytes of shared memory, one behind the other, to 4 columns of each quarter of the
// lanes. What the thread issues to the tensor cores next finds them there.
DEVICE void copyScales(uint32_t columns, uint32_t from) {
  // Rows of 16 bytes, not swizzled: 128 bytes from eight to the next.
  uint64_t descriptor = (uint64_t)0x4008 << 32 | (from & 0x3FFFF) >> 4;
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(columns), "l"(descriptor)
               : "memory");
}

// What this thread wrote to shared memory comes before copies and products that follow a barrier.
DEVICE void fenceProxies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// 32 columns of the warp's lanes, one lane's in each thread, from an address on. Waits for them.
DEVICE void loadColumns(float (&x)[32], uint32_t address) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x32.b32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];\n\t"
      "tcgen05.wait::ld.sync.aligned;"
      : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]), "=f"(x[4]), "=f"(x[5]), "=f"(x[6]),
        "=f"(x[7]), "=f"(x[8]), "=f"(x[9]), "=f"(x[10]), "=f"(x[11]), "=f"(x[12]), "=f"(x[13]),
        "=f"(x[14]), "=f"(x[15]), "=f"(x[16]), "=f"(x[17]), "=f"(x[18]), "=f"(x[19]),
        "=f"(x[20]), "=f"(x[21]), "=f"(x[22]), "=f"(x[23]), "=f"(x[24]), "=f"(x[25]),
        "=f"(x[26]), "=f"(x[27]), "=f"(x[28]), "=f"(x[29]), "=f"(x[30]), "=f"(x[31])
      : "r"(address)
      : "memory");
}
