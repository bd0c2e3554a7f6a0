// D = A · B with A [M, K] and B [N, K] in E4M3 and D [M, N] in BF16, for the tests of mbarriers,
// tensor copies, warpgroup multiplications and clusters. A block makes 128 × 64 elements: a producer
// warp loads stages of 128 along K, two warpgroups multiply 64 rows each and add what they get to
// F32 registers of their own every 128, then store through shared memory. In a cluster of two blocks,
// one above the other, each loads one half of B for both.
#include <cstdint>

constexpr int M_TILE = 128, N_TILE = 64, K_TILE = 128, STAGES = 3;

struct alignas(64) Map {
  char opaque[128];
};

struct alignas(1024) Shared {
  uint8_t a[STAGES][M_TILE * K_TILE];
  uint8_t b[STAGES][N_TILE * K_TILE];
  uint16_t d[M_TILE * N_TILE];
  uint64_t full[STAGES], empty[STAGES];
};

__device__ __forceinline__ uint32_t shared(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void wait(uint64_t* bar, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\n"
      "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(shared(bar)), "r"(parity) : "memory");
}

__device__ __forceinline__ void load(
    const Map& map, void* to, uint64_t* bar, int x, int y, uint16_t blocks) {
  if (blocks == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%3, %4}], [%2];" ::"r"(shared(to)), "l"(&map), "r"(shared(bar)), "r"(x), "r"(y)
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared(to)), "l"(&map),
        "r"(shared(bar)), "r"(x), "r"(y), "h"(blocks) : "memory");
  }
}

// K-major, rows of 128 bytes, swizzled: 1024 bytes from eight rows to the next.
__device__ __forceinline__ uint64_t descriptor(const void* p) {
  return (shared(p) & 0x3FFFF) >> 4 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}

__device__ __forceinline__ void multiply(float (&d)[32], uint64_t a, uint64_t b, int adds) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31"
      "}, %32, %33, p, 1, 1;\n}"
      :
        "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b), "r"(adds));
}

template <int BLOCKS>
__device__ __forceinline__ void gemm(
    Shared& s, const Map& a, const Map& b, const Map& d, int k, float scale) {
  uint32_t rank = 0;
  if (BLOCKS > 1) asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  int row = blockIdx.y * M_TILE, column = blockIdx.x * N_TILE;
  int steps = (k + K_TILE - 1) / K_TILE;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; i++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&s.full[i])));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(&s.empty[i])), "r"(2 * BLOCKS));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (BLOCKS > 1) {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  } else {
    __syncthreads();
  }

  if (threadIdx.x >= 256) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 256) {
      for (int t = 0; t < steps; t++) {
        int stage = t % STAGES;
        wait(&s.empty[stage], t / STAGES + 1 & 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&s.full[stage])),
                     "r"((M_TILE + N_TILE) * K_TILE) : "memory");
        load(a, s.a[stage], &s.full[stage], t * K_TILE, row, 0);
        constexpr int PART = N_TILE / BLOCKS;
        load(b, s.b[stage] + rank * PART * K_TILE, &s.full[stage], t * K_TILE, column + rank * PART,
             BLOCKS > 1 ? (1 << BLOCKS) - 1 : 0);
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    int group = threadIdx.x / 128, lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    float sum[32];
    for (int i = 0; i < 32; i++) sum[i] = 0;
    for (int t = 0; t < steps; t++) {
      int stage = t % STAGES;
      wait(&s.full[stage], t / STAGES & 1);
      float part[32];
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      for (int i = 0; i < 4; i++) {
        multiply(part, descriptor(s.a[stage] + group * 64 * K_TILE) + 2 * i,
                 descriptor(s.b[stage]) + 2 * i, i);
      }
      asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
      for (int i = 0; i < 32; i++) asm volatile("" : "+f"(part[i])::"memory");
      if (BLOCKS > 1) {
        if (threadIdx.x % 128 < BLOCKS) {
          asm volatile(
              "{\n.reg .b32 at;\nmapa.shared::cluster.u32 at, %0, %1;\n"
              "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [at];\n}" ::"r"(shared(&s.empty[stage])),
              "r"(int(threadIdx.x % 128)) : "memory");
        }
      } else if (threadIdx.x % 128 == 0) {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(&s.empty[stage])) : "memory");
      }
      for (int i = 0; i < 32; i++) sum[i] += part[i];
    }
    uint16_t* tile = s.d + group * 64 * N_TILE;
    for (int i = 0; i < 32; i += 2) {
      uint32_t pair;
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(sum[i + 1] * scale), "f"(sum[i] * scale));
      int r = warp * 16 + lane / 4 + i / 2 % 2 * 8, c = i / 4 * 8 + lane % 4 * 2;
      *reinterpret_cast<uint32_t*>(tile + r * N_TILE + c) = pair;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
    if (threadIdx.x % 128 == 0) {
      asm volatile(
          "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];\n"
          "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::"l"(&d),
          "r"(shared(tile)), "r"(column), "r"(row + group * 64) : "memory");
    }
  }
  if (BLOCKS > 1) {
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
}

extern __shared__ char dynamic[];

extern "C" __global__ void __launch_bounds__(384, 1) gemm_block(
    const __grid_constant__ Map a, const __grid_constant__ Map b, const __grid_constant__ Map d, int k,
    float scale) {
  gemm<1>(*reinterpret_cast<Shared*>((reinterpret_cast<uintptr_t>(dynamic) + 1023) & ~uintptr_t(1023)),
          a, b, d, k, scale);
}

extern "C" __global__ void __cluster_dims__(1, 2, 1) __launch_bounds__(384, 1) gemm_cluster(
    const __grid_constant__ Map a, const __grid_constant__ Map b, const __grid_constant__ Map d, int k,
    float scale) {
  gemm<2>(*reinterpret_cast<Shared*>((reinterpret_cast<uintptr_t>(dynamic) + 1023) & ~uintptr_t(1023)),
          a, b, d, k, scale);
}
