// Copies a view to a whole tensor of the same type, element by element; scales are copied apart.
//
// Layout: RUN elements a thread (a word of the output), any grid.
#include "store.cuh"

#define COPY(BITS)                                                                          \
  extern "C" __global__ void __launch_bounds__(FILL_THREADS, 4)                                \
      copy_b##BITS(const View x, void* out, int64_t count) {                                \
    fill<BITS>(out, count,                                                                  \
               [&](int64_t i) { return loadCode<BITS>(x.data, storageIndex(x, i)); });      \
  }

COPY(4)
COPY(6)
COPY(8)
COPY(16)
COPY(32)
