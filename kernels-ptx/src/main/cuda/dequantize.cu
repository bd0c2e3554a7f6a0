// Scale × element of any view, rounded to a float type; whole, or rows picked by their ids.
#include "store.cuh"

#define DEQUANTIZE(NAME, D)                                                                   \
  extern "C" __global__ void __launch_bounds__(FILL_THREADS, 4)                                  \
      dequantize_##NAME(const View x, void* out, int64_t count) {                             \
    fill<Format<D>::bits>(out, count, [&](int64_t i) {                                        \
      return encodeFloat<D>(loadValue(x, storageIndex(x, i)));                                \
    });                                                                                       \
  }                                                                                           \
                                                                                              \
  /* table is [rows, width], ids is I32 with as many elements as rows are wanted. */          \
  extern "C" __global__ void __launch_bounds__(FILL_THREADS, 4)                                  \
      embedding_##NAME(const View table, const View ids, void* out, int64_t count) {          \
    fill<Format<D>::bits>(out, count, [&](int64_t i) {                                        \
      int64_t which = (int64_t)quotient((uint64_t)i, (uint64_t)table.extent[1]);              \
      int64_t column = i - which * table.extent[1];                                           \
      int32_t row = (int32_t)loadCode<32>(ids.data, storageIndex(ids, which));                \
      int64_t at = table.offset + row * table.stride[0] + column * table.stride[1];           \
      return encodeFloat<D>(loadValue(table, at));                                            \
    });                                                                                       \
  }

DEQUANTIZE(f32, F32)
DEQUANTIZE(f16, F16)
DEQUANTIZE(bf16, BF16)
