// Strided views of packed elements with their scales, as dev.minifloat.spi.TensorView has them.
#pragma once

#include <stddef.h>

#include "formats.cuh"

constexpr int MAX_RANK = 8;

// What dev.minifloat.codec.ScaleGrid says of a storage: matrices of rows × columns elements, cut
// into blocks of blockRows × blockColumns; scales row-major over [batch, gridRows, gridColumns].
// All are at least 1, except in a grid that is not used.
struct Grid {
  int64_t rows;
  int64_t columns;
  int64_t blockRows;
  int64_t blockColumns;
  int64_t gridRows;
  int64_t gridColumns;
};

enum ScaleKind { UNSCALED, SCALES_F32, SCALES_E8M0, SCALES_E4M3_F32 };

// The element with index (i0, i1, ...) is element offset + sum of i[k] · stride[k] of the storage.
// Dimensions from rank on are not read.
struct View {
  const void* data;     // packed elements of the whole storage
  const void* scales;   // of the whole storage; null when unscaled
  const float* global;  // NVFP4's factor of the tensor; null otherwise
  int64_t offset;
  Grid grid;
  int32_t dtype;
  int32_t scaleKind;
  int32_t rank;
  int32_t unused;
  int64_t extent[MAX_RANK];
  int64_t stride[MAX_RANK];
};

static_assert(sizeof(View) == 224 && offsetof(View, grid) == 32 && offsetof(View, dtype) == 80 &&
                  offsetof(View, extent) == 96 && offsetof(View, stride) == 160,
              "as ParameterType.VIEW");

// Quotients of indices; most fit in 32 bits, where a division costs a fifth.
HOST_DEVICE uint64_t quotient(uint64_t n, uint64_t d) {
  return (n | d) >> 32 == 0 ? (uint32_t)n / (uint32_t)d : n / d;
}

HOST_DEVICE uint64_t remainder(uint64_t n, uint64_t d) {
  return (n | d) >> 32 == 0 ? (uint32_t)n % (uint32_t)d : n % d;
}

// Storage index of the element with row-major index i among the dimensions before `rank`.
HOST_DEVICE int64_t storageIndex(const View& view, int64_t i, int rank) {
  int64_t at = view.offset;
  uint64_t left = (uint64_t)i;
#pragma unroll
  for (int k = MAX_RANK - 1; k >= 1; k--) {
    if (k < rank) {
      uint64_t extent = (uint64_t)view.extent[k];
      uint64_t next = quotient(left, extent);
      at += (int64_t)(left - next * extent) * view.stride[k];
      left = next;
    }
  }
  return rank == 0 ? at : at + (int64_t)left * view.stride[0];
}

HOST_DEVICE int64_t storageIndex(const View& view, int64_t i) {
  return storageIndex(view, i, view.rank);
}

HOST_DEVICE int64_t extentFromEnd(const View& view, int fromEnd) {
  int64_t extent = 1;
#pragma unroll
  for (int k = 0; k < MAX_RANK; k++) {
    extent = k == view.rank - fromEnd ? view.extent[k] : extent;
  }
  return extent;
}

HOST_DEVICE int64_t strideFromEnd(const View& view, int fromEnd) {
  int64_t stride = 0;
#pragma unroll
  for (int k = 0; k < MAX_RANK; k++) {
    stride = k == view.rank - fromEnd ? view.stride[k] : stride;
  }
  return stride;
}

HOST_DEVICE int64_t scaleIndex(const Grid& grid, int64_t element) {
  uint64_t row = quotient((uint64_t)element, (uint64_t)grid.columns);
  uint64_t column = (uint64_t)element - row * (uint64_t)grid.columns;
  uint64_t batch = quotient(row, (uint64_t)grid.rows);
  row -= batch * (uint64_t)grid.rows;
  uint64_t block = batch * (uint64_t)grid.gridRows + quotient(row, (uint64_t)grid.blockRows);
  return (int64_t)(block * (uint64_t)grid.gridColumns +
                   quotient(column, (uint64_t)grid.blockColumns));
}

// The code of element i.
//
//   4 bits:  byte k   = element 2k+1 | element 2k
//   6 bits:  3 bytes  = d5..d0 c5..c0 b5..b0 a5..a0, bit 0 of a lowest
template <int BITS>
HOST_DEVICE uint32_t loadCode(const void* data, int64_t i) {
  const uint8_t* bytes = (const uint8_t*)data;
  if constexpr (BITS == 4) {
    return bytes[i >> 1] >> ((int)i & 1) * 4 & 0xF;
  } else if constexpr (BITS == 6) {
    int64_t bit = i * 6;
    int shift = (int)bit & 7;
    uint32_t window = bytes[bit >> 3];
    if (shift > 2) {
      window |= (uint32_t)bytes[(bit >> 3) + 1] << 8;
    }
    return window >> shift & 0x3F;
  } else if constexpr (BITS == 8) {
    return bytes[i];
  } else if constexpr (BITS == 16) {
    return ((const uint16_t*)data)[i];
  } else {
    return ((const uint32_t*)data)[i];
  }
}

HOST_DEVICE uint32_t loadCode(int bits, const void* data, int64_t i) {
  switch (bits) {
    case 4: return loadCode<4>(data, i);
    case 6: return loadCode<6>(data, i);
    case 8: return loadCode<8>(data, i);
    case 16: return loadCode<16>(data, i);
    default: return loadCode<32>(data, i);
  }
}

// The element of any type, decoded, without its scale.
HOST_DEVICE float loadElement(int dtype, const void* data, int64_t i) {
  return decodeBy(dtype, [&](auto bits) { return loadCode<bits()>(data, i); });
}

// The element of an F32, F16 or BF16 tensor.
HOST_DEVICE float loadFloat(int dtype, const void* data, int64_t i) {
  switch (dtype) {
    case F16: return decode<F16>(loadCode<16>(data, i));
    case BF16: return decode<BF16>(loadCode<16>(data, i));
    default: return decode<F32>(loadCode<32>(data, i));
  }
}

HOST_DEVICE float loadFloat(const View& view, int64_t at) {
  return loadFloat(view.dtype, view.data, at);
}

// The decoded scale with a given index: NVFP4's two levels multiplied, 1 without scaling.
HOST_DEVICE float scaleAt(const View& view, int64_t index) {
  switch (view.scaleKind) {
    case SCALES_F32: return decode<F32>(loadCode<32>(view.scales, index));
    case SCALES_E8M0: return decode<F8_E8M0>(loadCode<8>(view.scales, index));
    case SCALES_E4M3_F32:
      return canonical(decode<F8_E4M3>(loadCode<8>(view.scales, index)) * *view.global);
    default: return 1;
  }
}

// The value of a storage element: scale × element, rounded once; an unscaled NaN keeps its sign.
HOST_DEVICE float loadValue(const View& view, int64_t at) {
  float element = loadElement(view.dtype, view.data, at);
  if (view.scaleKind == UNSCALED) {
    return element;
  }
  return canonical(scaleAt(view, scaleIndex(view.grid, at)) * element);
}
