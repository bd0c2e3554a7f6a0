// Tiles of an operand on their way from memory to the shared memory that ldmatrix reads.
//
// A tile has ROWS rows of 128 bytes: 64 elements of 2 bytes, or 128 of one. Each row is 8 chunks of
// 16 bytes; chunk c of row r lies at place c ^ (r % 8), so that the 8 rows that a quarter of a warp
// reads at once lie in different banks.
//
//   row 0:  0 1 2 3 4 5 6 7
//   row 1:  1 0 3 2 5 4 7 6
//   row 2:  2 3 0 1 6 7 4 5      ...
#pragma once

#include "pairs.cuh"
#include "runs.cuh"

constexpr int ROW_BYTES = 128;
constexpr int CHUNK = 16;
constexpr int CHUNKS = ROW_BYTES / CHUNK;

DEVICE uint8_t* chunkAt(uint8_t* tile, int row, int chunk) {
  return tile + row * ROW_BYTES + (chunk ^ (row & 7)) * CHUNK;
}

// The rows of one operand [rows, K] that a CTA needs. K must lie side by side in memory.
struct Strip {
  const View& view;
  int64_t at;     // storage index of its first element
  int64_t pitch;  // elements from one row to the next
  int64_t rows;
  int64_t depth;

  DEVICE Strip(const View& view, int64_t matrix, int64_t firstRow, int64_t depth)
      : view(view), pitch(strideFromEnd(view, 2)), rows(extentFromEnd(view, 2) - firstRow),
        depth(depth) {
    at = storageIndex(view, matrix, view.rank - 2) + firstRow * pitch;
  }

  // How many elements of a run that begins at k are there.
  DEVICE int present(int row, int64_t k, int run) const {
    int64_t left = row < rows ? depth - k : 0;
    return left >= run ? run : left > 0 ? (int)left : 0;
  }
};

// An operand whose elements are the tensor cores' own: copied as they are, asynchronously where
// rows begin at multiples of 16 bytes, else element by element.
template <int D, int ROWS, int THREADS>
struct DirectTile {
  static constexpr int SIZE = Format<D>::bits / 8;
  static constexpr int RUN = CHUNK / SIZE;
  static constexpr int EACH = ROWS * CHUNKS / THREADS;
  static constexpr int DEPTH = ROW_BYTES / SIZE;

  struct Registers {};

  const Strip& strip;
  bool aligned;

  DEVICE explicit DirectTile(const Strip& strip)
      : strip(strip), aligned(runsAligned(strip.view, strip.at, strip.pitch, RUN, CHUNK)) {}

  DEVICE void fetch(Registers&, uint8_t* tile, int64_t k) const {
    const uint8_t* data = (const uint8_t*)strip.view.data;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      int unit = threadIdx.x + e * THREADS;
      int row = unit / CHUNKS;
      int64_t from = k + unit % CHUNKS * RUN;
      int present = strip.present(row, from, RUN);
      int64_t at = strip.at + row * strip.pitch + from;
      uint8_t* to = chunkAt(tile, row, unit % CHUNKS);
      if (aligned) {
        copyAsync16(to, present > 0 ? data + at * SIZE : data, present * SIZE);
      } else {
#pragma unroll 1
        for (int i = 0; i < RUN; i++) {
          uint32_t code = i < present ? loadCode<Format<D>::bits>(data, at + i) : 0;
          if constexpr (SIZE == 2) {
            ((uint16_t*)to)[i] = (uint16_t)code;
          } else {
            to[i] = (uint8_t)code;
          }
        }
      }
    }
  }

  DEVICE void store(const Registers&, uint8_t*) const {}
};

// An operand of 8 bits or fewer that is decoded, once, to F16 or BF16. A thread holds runs of 16
// codes in registers from fetch to store. NVFP4's block scales are multiplied in: E2M1 times E4M3
// has 6 significant bits and lies between 2^-10 and 2688, which both types hold.
template <int D, int MMA, int ROWS, int THREADS>
struct DecodedTile {
  static constexpr int BITS = Format<D>::bits;
  static constexpr int RUN = 16;
  static constexpr int DEPTH = ROW_BYTES / 2;
  static constexpr int RUNS = DEPTH / RUN;
  static constexpr int EACH = ROWS * RUNS / THREADS;

  struct Registers {
    Codes16<BITS> codes[EACH];
    uint32_t scale[EACH];
  };

  const Strip& strip;
  bool aligned;
  bool folded;

  DEVICE explicit DecodedTile(const Strip& strip)
      : strip(strip), aligned(Codes16<BITS>::aligned(strip.view, strip.at, strip.pitch)),
        folded(D == F4_E2M1 && strip.view.scaleKind == SCALES_E4M3_F32) {}

  DEVICE void fetch(Registers& registers, uint8_t*, int64_t k) const {
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      int unit = threadIdx.x + e * THREADS;
      int row = unit / RUNS;
      int64_t from = k + unit % RUNS * RUN;
      int present = strip.present(row, from, RUN);
      int64_t at = strip.at + row * strip.pitch + from;
      registers.codes[e].load(strip.view.data, at, present, aligned);
      if constexpr (D == F4_E2M1) {
        registers.scale[e] = folded && present > 0
            ? loadCode<8>(strip.view.scales, scaleIndex(strip.view.grid, at)) : 0;
      }
    }
  }

  DEVICE void store(const Registers& registers, uint8_t* tile) const {
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      int unit = threadIdx.x + e * THREADS;
      uint32_t pairs[RUN / 2];
#pragma unroll
      for (int p = 0; p < RUN / 2; p++) {
        pairs[p] = decodePair<D, MMA>(registers.codes[e].pair(p));
      }
      if constexpr (D == F4_E2M1) {
        if (folded) {
          uint32_t scale = decodePair<F8_E4M3, MMA>(both(registers.scale[e]));
#pragma unroll
          for (int p = 0; p < RUN / 2; p++) {
            pairs[p] = fmaPair<MMA>(pairs[p], scale, MINUS_ZEROS);
          }
        }
      }
      int row = unit / RUNS;
      int chunk = unit % RUNS * 2;
      *(uint4*)chunkAt(tile, row, chunk) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
      *(uint4*)chunkAt(tile, row, chunk + 1) = make_uint4(pairs[4], pairs[5], pairs[6], pairs[7]);
    }
  }
};
