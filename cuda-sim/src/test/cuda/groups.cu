// Cooperative groups: blocks, tiles of a warp and of several, lanes that happen to be together, and
// the whole grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

extern "C" __global__ void tiles(const int* x, int* sums, int* ranks) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  int value = x[block.thread_rank()];
  for (int distance = 4; distance > 0; distance /= 2) value += tile.shfl_down(value, distance);
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = value;
  ranks[block.thread_rank()] = tile.thread_rank() + 100 * tile.meta_group_rank();
  block.sync();
}

extern "C" __global__ void reductions(const int* x, int* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  int value = x[block.thread_rank()];
  out[block.thread_rank()] = cg::reduce(warp, value, cg::plus<int>());
}

// Tiles of two warps meet in memory that is the system's.
extern "C" __global__ void pairs(const int* x, int* out) {
  __shared__ int values[128];
  cg::thread_block block = cg::this_thread_block();
  auto pair = cg::tiled_partition<64>(block);
  int rank = block.thread_rank();
  values[rank] = x[rank];
  pair.sync();
  out[rank] = values[rank / 64 * 64 + 63 - pair.thread_rank()] + (int)pair.meta_group_rank() * 1000;
}

// Places for those that have something, of which one lane asks for all.
extern "C" __global__ void filter(const int* x, int* out, int* count) {
  int value = x[threadIdx.x];
  if (value > 0) {
    cg::coalesced_group group = cg::coalesced_threads();
    int first = 0;
    if (group.thread_rank() == 0) first = atomicAdd(count, (int)group.size());
    out[group.shfl(first, 0) + group.thread_rank()] = value;
  }
}

// Each turn reads what other blocks wrote in the last one.
extern "C" __global__ void turns(int* from, int* to, int n) {
  cg::grid_group grid = cg::this_grid();
  int rank = (int)grid.thread_rank();
  int size = (int)grid.size();
  for (int i = 0; i < n; i++) {
    to[rank] = from[size - 1 - rank] + rank;
    grid.sync();
    int* other = from;
    from = to;
    to = other;
  }
}
