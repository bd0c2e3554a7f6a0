// Tiles of an operand whose blocks are scaled by the tensor cores: elements and scales on their way
// to shared memory, both asynchronously where they lie at multiples of a copy's bytes.
#pragma once

#include "blocks_ptx.cuh"
#include "tiles.cuh"

// Elements, 8 chunks of 16 bytes a row as tiles.cuh has them: as they are; or SPREAD, 16 of 4 or 6
// bits to a chunk, in its first 8 or 12 bytes, for loadSpreadMatrices.
template <int D, bool SPREAD, int ROWS, int THREADS>
struct BlockTile {
  static constexpr int BITS = Format<D>::bits;
  static constexpr int BYTES = SPREAD ? CHUNK * BITS / 8 : CHUNK;
  // Of one copy: 12 bytes are copied word by word.
  static constexpr int COPY = BYTES == 12 ? 4 : BYTES;
  static constexpr int RUN = BYTES * 8 / BITS;
  static constexpr int EACH = ROWS * CHUNKS / THREADS;
  static constexpr int DEPTH = RUN * CHUNKS;
  static_assert(SPREAD ? BITS == 4 || BITS == 6 : BITS == 4 || BITS == 8, "bits of an element");

  // A thread's chunks are at one place of rows that are STEP apart.
  static constexpr int STEP = THREADS / CHUNKS;
  static_assert(STEP % 8 == 0, "chunks of a thread are swizzled alike");

  const Strip& strip;
  int row;
  int column;
  int64_t at;
  bool aligned;

  DEVICE explicit BlockTile(const Strip& strip)
      : strip(strip), row(threadIdx.x / CHUNKS), column(threadIdx.x % CHUNKS * RUN),
        at(strip.at + row * strip.pitch + column),
        aligned(runsAligned(strip.view, strip.at, strip.pitch, RUN, COPY)) {}

  DEVICE void fetch(uint8_t* tile, int64_t k) const {
    const uint8_t* data = (const uint8_t*)strip.view.data;
    int64_t left = strip.depth - k - column;
    int present = left >= RUN ? RUN : left > 0 ? (int)left : 0;
    uint8_t* to = chunkAt(tile, row, column / RUN);
    // Half a byte can't be copied alone, and what follows a row's last element is not zero.
    if (aligned && present * BITS % 8 == 0) {
      const uint8_t* from = data + (at + k) * BITS / 8;
      int64_t step = STEP * strip.pitch * BITS / 8;
#pragma unroll
      for (int e = 0; e < EACH; e++) {
        bool any = present > 0 && row + e * STEP < strip.rows;
        copy(to + e * STEP * ROW_BYTES, any ? from + e * step : data,
             any ? present * BITS / 8 : 0);
      }
    } else {
#pragma unroll 1
      for (int e = 0; e < EACH; e++) {
        gather(to + e * STEP * ROW_BYTES, at + k + e * STEP * strip.pitch,
               row + e * STEP < strip.rows ? present : 0);
      }
    }
  }

  static DEVICE void copy(uint8_t* to, const uint8_t* from, int bytes) {
    if constexpr (COPY == CHUNK) {
      copyAsync16(to, from, bytes);
    } else {
#pragma unroll
      for (int at = 0; at < BYTES; at += COPY) {
        int left = bytes - at;
        int part = left > COPY ? COPY : left > 0 ? left : 0;
        copyAsync<COPY>(to + at, part > 0 ? from + at : from, part);
      }
    }
  }

  DEVICE void gather(uint8_t* to, int64_t from, int present) const {
#pragma unroll 1
    for (int word = 0; word < BYTES / 4; word++) {
      uint32_t value = 0;
      // Elements of 6 bits lie across the ends of words.
#pragma unroll 1
      for (int i = word * 32 / BITS; i < present && i * BITS < word * 32 + 32; i++) {
        uint32_t code = loadCode<BITS>(strip.view.data, from + i);
        int shift = i * BITS - word * 32;
        value |= shift < 0 ? code >> -shift : code << shift;
      }
      ((uint32_t*)to)[word] = value;
    }
  }
};

// The scales of one row of an operand, which one thread fetches: WORDS times four bytes for a tile.
// A row that has no block scales of KIND has one factor for all of K instead; blocks then count once.
template <int KIND, int WORDS>
struct ScaleRow {
  static constexpr int BYTES = WORDS * 4;
  static constexpr int BLOCK = KIND == SCALES_E8M0 ? 32 : 16;
  static constexpr uint32_t ONES = KIND == SCALES_E8M0 ? 0x7F7F7F7F : 0x38383838;

  const uint8_t* scales;
  int64_t blocks;
  bool scaled;
  float factor;

  DEVICE ScaleRow(const Strip& strip, int row)
      : scales((const uint8_t*)strip.view.scales), blocks(0), factor(1) {
    const View& view = strip.view;
    scaled = view.scaleKind == KIND;
    if (row < strip.rows && strip.depth > 0) {
      int64_t index =
          view.scaleKind == UNSCALED ? 0 : scaleIndex(view.grid, strip.at + row * strip.pitch);
      if (scaled) {
        scales += index;
        blocks = (strip.depth + BLOCK - 1) / BLOCK;
      }
      if (view.scaleKind == SCALES_F32) {
        factor = scaleAt(view, index);
      } else if (view.scaleKind == SCALES_E4M3_F32) {
        factor = *view.global;
      }
    }
  }

  // The scales of a tile that begins with element k, beyond K zeros.
  DEVICE void fetch(uint8_t* to, int64_t k) const {
    if (!scaled) {
#pragma unroll
      for (int w = 0; w < WORDS; w++) {
        ((uint32_t*)to)[w] = ONES;
      }
      return;
    }
    int present;
    const uint8_t* from = at(k, present);
    if ((uint64_t)from % BYTES == 0) {
      if constexpr (BYTES == CHUNK) {
        copyAsync16(to, from, present);
      } else {
        copyAsync<BYTES>(to, from, present);
      }
    } else {
#pragma unroll 1
      for (int w = 0; w < WORDS; w++) {
        ((uint32_t*)to)[w] = gather(from, w, present);
      }
    }
  }

  // The same, into registers.
  DEVICE void load(uint32_t (&words)[WORDS], int64_t k) const {
    int present = 0;
    const uint8_t* from = scaled ? at(k, present) : nullptr;
    bool whole = present == BYTES && (uint64_t)from % 4 == 0;
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
      words[w] = !scaled ? ONES : whole ? ((const uint32_t*)from)[w] : gather(from, w, present);
    }
  }

  // Where the scales of a tile that begins with element k are, and how many.
  DEVICE const uint8_t* at(int64_t k, int& present) const {
    int64_t first = k / BLOCK;
    int64_t left = blocks - first;
    present = left >= BYTES ? BYTES : left > 0 ? (int)left : 0;
    return scales + (present > 0 ? first : 0);
  }

  static DEVICE uint32_t gather(const uint8_t* from, int w, int present) {
    uint32_t word = 0;
#pragma unroll 1
    for (int b = 0; b < 4; b++) {
      word |= w * 4 + b < present ? (uint32_t)from[w * 4 + b] << b * 8 : 0;
    }
    return word;
  }
};
