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

// Calls f with 0, 1, … as constants.
template <int N, int I = 0, class F>
DEVICE void unrolled(F f) {
  if constexpr (I < N) {
    f(Constant<I>());
    unrolled<N, I + 1>(f);
  }
}

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

// Rows of an operand as the threads of a CTA fetch them: thread t has column t % COLUMNS, BYTES wide,
// of rows t / COLUMNS and every STEP further. Rows beyond the last are fetched as the last, for sums
// that nobody keeps.
template <int ROWS, int COLUMNS, int BYTES, int THREADS>
struct RowPointers {
  static constexpr int STEP = THREADS / COLUMNS;
  static constexpr int EACH = ROWS / STEP;
  static_assert(STEP % 8 == 0, "what a thread fetches is swizzled alike");

  const uint8_t* data;
  int pitch;
  int row[EACH];

  // `first` is where the strip's rows begin, `pitch` the bytes between two.
  DEVICE RowPointers(const uint8_t* first, int64_t pitch, int64_t rows)
      : data(first + threadIdx.x % COLUMNS * BYTES), pitch((int)pitch) {
    int last = rows < ROWS ? (int)rows - 1 : ROWS - 1;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      int there = threadIdx.x / COLUMNS + e * STEP;
      row[e] = there < last ? there : last;
    }
  }

  // Whether rows are near enough for an address to be one product of 32 bits away.
  static DEVICE bool near(int64_t pitch) { return pitch >= 0 && pitch <= INT32_MAX; }

  DEVICE const uint8_t* at(int e, int64_t offset) const { return rowAt(data + offset, row[e], pitch); }
};

// An operand whose elements are the tensor cores' own: copied as they are, asynchronously where
// rows begin at multiples of 16 bytes, else element by element.
template <int D, int ROWS, int THREADS>
struct DirectTile {
  static constexpr int SIZE = Format<D>::bits / 8;
  static constexpr int RUN = CHUNK / SIZE;
  static constexpr int DEPTH = ROW_BYTES / SIZE;

  typedef RowPointers<ROWS, CHUNKS, CHUNK, THREADS> Pointers;

  struct Registers {};

  const Strip& strip;
  Pointers pointers;
  bool aligned;
  bool near;

  DEVICE explicit DirectTile(const Strip& strip)
      : strip(strip),
        pointers((const uint8_t*)strip.view.data + strip.at * SIZE, strip.pitch * SIZE, strip.rows),
        aligned(runsAligned(strip.view, strip.at, strip.pitch, RUN, CHUNK)),
        near(Pointers::near(strip.pitch * SIZE)) {}

  DEVICE void fetch(Registers&, uint8_t* tile, int64_t k) const {
    int row = threadIdx.x / CHUNKS;
    uint8_t* to = chunkAt(tile, row, threadIdx.x % CHUNKS);
    if (aligned && near && k + DEPTH <= strip.depth) {
      uint32_t shared = sharedAddress(to);
      unrolled<Pointers::EACH>([&](auto e) {
        copyAsync16<e() * Pointers::STEP * ROW_BYTES>(shared, pointers.at(e(), k * SIZE));
      });
      return;
    }
    const uint8_t* data = (const uint8_t*)strip.view.data;
    int64_t from = k + threadIdx.x % CHUNKS * RUN;
#pragma unroll 1
    for (int e = 0; e < Pointers::EACH; e++) {
      int present = strip.present(row, from, RUN);
      int64_t at = strip.at + row * strip.pitch + from;
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
      row += Pointers::STEP;
      to += Pointers::STEP * ROW_BYTES;
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
  static constexpr bool FOLDS = D == F4_E2M1;
  // Whether some codes have no finite value, which decodeRun leaves out.
  static constexpr bool SPECIAL = BITS == 8 && !Format<D>::isInteger && !(D == F8_E5M2 && MMA == F16);

  typedef RowPointers<ROWS, RUNS, RUN * BITS / 8, THREADS> Pointers;
  typedef RowPointers<ROWS, RUNS, 1, THREADS> ScalePointers;

  struct Registers {
    Codes16<BITS> codes[Pointers::EACH];
    uint32_t scale[Pointers::EACH];
  };

  const Strip& strip;
  Pointers pointers;
  ScalePointers scales;
  bool folded;
  bool aligned;
  bool near;

  static DEVICE bool folds(const View& view) {
    return FOLDS && view.scaleKind == SCALES_E4M3_F32;
  }

  // Rows of scales lie side by side too: a block is one row high.
  static DEVICE int64_t scalePitch(const Strip& strip) {
    return folds(strip.view) ? strip.pitch / strip.view.grid.columns * strip.view.grid.gridColumns : 0;
  }

  static DEVICE const uint8_t* firstScale(const Strip& strip) {
    return folds(strip.view)
        ? (const uint8_t*)strip.view.scales + scaleIndex(strip.view.grid, strip.at) : nullptr;
  }

  DEVICE explicit DecodedTile(const Strip& strip)
      : strip(strip),
        pointers((const uint8_t*)strip.view.data + strip.at / 8 * BITS, strip.pitch / 8 * BITS,
                 strip.rows),
        scales(firstScale(strip), scalePitch(strip), strip.rows), folded(folds(strip.view)),
        aligned(Codes16<BITS>::aligned(strip.view, strip.at, strip.pitch)),
        near(Pointers::near(strip.pitch / 8 * BITS)) {}

  DEVICE void fetch(Registers& registers, uint8_t*, int64_t k) const {
    if (aligned && near && k + DEPTH <= strip.depth) {
#pragma unroll
      for (int e = 0; e < Pointers::EACH; e++) {
        registers.codes[e].load(pointers.at(e, k / 8 * BITS));
        if constexpr (FOLDS) {
          registers.scale[e] = folded ? *scales.at(e, k / RUN) : 0;
        }
      }
      return;
    }
    int64_t from = k + threadIdx.x % RUNS * RUN;
#pragma unroll
    for (int e = 0; e < Pointers::EACH; e++) {
      int row = threadIdx.x / RUNS + e * Pointers::STEP;
      int present = strip.present(row, from, RUN);
      int64_t at = strip.at + row * strip.pitch + from;
      registers.codes[e].load(strip.view.data, at, present, aligned);
      if constexpr (FOLDS) {
        registers.scale[e] = folded && present > 0
            ? loadCode<8>(strip.view.scales, scaleIndex(strip.view.grid, at)) : 0;
      }
    }
  }

  DEVICE void store(const Registers& registers, uint8_t* tile) const {
    uint8_t* to = tile + threadIdx.x / RUNS * ROW_BYTES;
    int run = threadIdx.x % RUNS * 2;
    int swizzle = threadIdx.x / RUNS & 7;
    bool special = false;
    if constexpr (SPECIAL) {
      uint32_t any = 0;
#pragma unroll
      for (int e = 0; e < Pointers::EACH; e++) {
#pragma unroll
        for (int w = 0; w < Codes16<BITS>::WORDS; w++) {
          any |= specials<D>(registers.codes[e].word[w]);
        }
      }
      special = (any & fourTimes(0x80)) != 0;
    }
#pragma unroll
    for (int e = 0; e < Pointers::EACH; e++) {
      uint32_t pairs[RUN / 2];
      decodeRun<D, MMA>(registers.codes[e], pairs);
      if constexpr (SPECIAL) {
        if (special) {
#pragma unroll
          for (int p = 0; p < RUN / 2; p++) {
            pairs[p] |= specialPair<D, MMA>(registers.codes[e].pair(p));
          }
        }
      }
      if constexpr (FOLDS) {
        if (folded) {
          uint32_t scale = decodePair<F8_E4M3, MMA>(both(registers.scale[e]));
#pragma unroll
          for (int p = 0; p < RUN / 2; p++) {
            pairs[p] = fmaPair<MMA>(pairs[p], scale, MINUS_ZEROS);
          }
        }
      }
      uint8_t* row = to + e * Pointers::STEP * ROW_BYTES;
      *(uint4*)(row + (run ^ swizzle) * CHUNK) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
      *(uint4*)(row + ((run + 1) ^ swizzle) * CHUNK) =
          make_uint4(pairs[4], pairs[5], pairs[6], pairs[7]);
    }
  }
};
