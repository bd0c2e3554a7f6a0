// Attention of any views in one pass over the keys: softmax(scale · q·k) · v in F32.
//
// q [batch, heads, queries, width], k and v [batch, key heads, keys, width], of F32, F16 or BF16, and
// k and v also FP8 with F32 scales; the width is at most 256. The result is [batch, queries, heads,
// width], whole.
//
// A CTA of 4 warps has 16 queries of one head, a warp 4 of them. It goes through the keys 32 at a
// time: K decoded to shared memory, a key's scores for the lane that has it, and V decoded to the
// same place, whose columns lane, lane + 32, … a lane sums. Sums are relative to the largest score
// so far, and shrink when a larger one comes. Grid: (ceil(queries / 16), 1, min(batch · heads,
// 65535)).
#include "math.cuh"
#include "view.cuh"
#include "warp.cuh"

constexpr int WARPS = 4;
constexpr int QUERIES = 4;
constexpr int CTA_QUERIES = WARPS * QUERIES;
constexpr int KEYS = WARP;
constexpr int MAX_WIDTH = 256;
constexpr int PARTS = MAX_WIDTH / WARP;

struct Shared {
  float q[CTA_QUERIES][MAX_WIDTH];
  // Of row j, columns 4·g to 4·g + 3 lie at 4·(g ^ j % 8): so lanes that read the same columns of
  // different rows, and those that read a row, hit different banks.
  float tile[KEYS][MAX_WIDTH];
};

DEVICE int swizzled(int row, int column) { return column ^ (row & 7) << 2; }

DEVICE float minusInfinity() { return asFloat(0xFF800000); }

// The scaled value of one of the types that attention takes.
DEVICE float load(const View& view, int64_t at) {
  float element;
  switch (view.dtype) {
    case F8_E4M3: element = decode<F8_E4M3>(loadCode<8>(view.data, at)); break;
    case F8_E5M2: element = decode<F8_E5M2>(loadCode<8>(view.data, at)); break;
    default: element = loadFloat(view, at);
  }
  if (view.scaleKind == UNSCALED) {
    return element;
  }
  return canonical(decode<F32>(loadCode<32>(view.scales, scaleIndex(view.grid, at))) * element);
}

// Fills ROWS rows of shared memory by rows of a view, a warp each, from storage index `at` on; with
// 0 from row `rows` on, and behind the last column up to a multiple of the warp's lanes.
template <int ROWS, bool SWIZZLED>
DEVICE void fill(float (*to)[MAX_WIDTH], const View& view, int64_t at, int64_t rows, int width) {
#pragma unroll 1
  for (int row = threadIdx.x / WARP; row < ROWS; row += WARPS) {
#pragma unroll 1
    for (int c = threadIdx.x % WARP; c < (width + WARP - 1) / WARP * WARP; c += WARP) {
      bool inside = row < rows && c < width;
      float x = inside ? load(view, at + row * view.stride[2] + c * view.stride[3]) : 0;
      to[row][SWIZZLED ? swizzled(row, c) : c] = x;
    }
  }
}

// A warp's queries: what has been summed so far of their softmax times V.
struct Attended {
  float largest[QUERIES];
  // This lane's share: of the keys that were its own.
  float weights[QUERIES];
  // This lane's columns.
  float values[QUERIES][PARTS];

  DEVICE Attended() : values{} {
#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
      largest[i] = minusInfinity();
      weights[i] = 0;
    }
  }

  // Scores of the key in this lane's row of the tile.
  static DEVICE void multiply(float (&scores)[QUERIES], const Shared& shared, int width) {
    int lane = threadIdx.x % WARP;
    const float* q = shared.q[threadIdx.x / WARP * QUERIES];
#pragma unroll 1
    for (int c = 0; c < width; c += 4) {
      float4 y = *(const float4*)&shared.tile[lane][swizzled(lane, c)];
#pragma unroll
      for (int i = 0; i < QUERIES; i++) {
        float4 x = *(const float4*)(q + i * MAX_WIDTH + c);
        scores[i] = fmaf(x.x, y.x, scores[i]);
        scores[i] = fmaf(x.y, y.y, scores[i]);
        scores[i] = fmaf(x.z, y.z, scores[i]);
        scores[i] = fmaf(x.w, y.w, scores[i]);
      }
    }
  }

  // Scores to weights, and what was summed before to the new largest score.
  DEVICE void weigh(float (&scores)[QUERIES], bool (&sees)[QUERIES], float scale) {
#pragma unroll
    for (int i = 0; i < QUERIES; i++) {
      float score = sees[i] ? scores[i] * scale : minusInfinity();
      // Max takes its second operand if the first is NaN: NaNs show in the weights.
      float next = Max()(warpReduce(Max()(score, minusInfinity()), Max()), largest[i]);
      // -Inf - -Inf would be NaN where no score has been larger yet.
      float base = next == minusInfinity() ? 0 : next;
      float factor = exponential(largest[i] - base);
      float weight = exponential(score - base);
      largest[i] = next;
      weights[i] = fmaf(weights[i], factor, weight);
      scores[i] = weight;
#pragma unroll
      for (int part = 0; part < PARTS; part++) {
        values[i][part] *= factor;
      }
    }
  }

  // Adds the products of the first `keys` rows of the tile.
  DEVICE void add(const float (&weight)[QUERIES], const Shared& shared, int keys, int width) {
#pragma unroll 1
    for (int j = 0; j < keys; j++) {
      float p[QUERIES];
#pragma unroll
      for (int i = 0; i < QUERIES; i++) {
        p[i] = __shfl_sync(ALL_LANES, weight[i], j);
      }
      const float* v = &shared.tile[j][swizzled(j, threadIdx.x % WARP)];
#pragma unroll
      for (int part = 0; part < PARTS; part++) {
        if (part * WARP < width) {
          float y = v[part * WARP];
#pragma unroll
          for (int i = 0; i < QUERIES; i++) {
            values[i][part] = fmaf(p[i], y, values[i][part]);
          }
        }
      }
    }
  }
};

DEVICE void put(int dtype, void* out, int64_t at, float value) {
  value = canonical(value);
  switch (dtype) {
    case F16: ((uint16_t*)out)[at] = (uint16_t)encodeFloat<F16>(value); break;
    case BF16: ((uint16_t*)out)[at] = (uint16_t)encodeFloat<BF16>(value); break;
    default: ((uint32_t*)out)[at] = encodeFloat<F32>(value);
  }
}

// How many leading keys a query sees, of the `length` ones that count.
DEVICE int64_t seen(int64_t query, int64_t queries, int64_t keys, int64_t length, int causal) {
  int64_t last = causal ? query + 1 + keys - queries : length;
  return last < 0 ? 0 : last < length ? last : length;
}

DEVICE void attend(Shared& shared, const View& q, const View& k, const View& v, float scale,
                   int64_t length, int causal, int dtype, void* out, int64_t entry, int64_t head) {
  int64_t heads = q.extent[1];
  int64_t queries = q.extent[2];
  int64_t keys = k.extent[2];
  int width = (int)q.extent[3];
  int lane = threadIdx.x % WARP;
  int64_t block = (int64_t)blockIdx.x * CTA_QUERIES;
  int64_t first = block + threadIdx.x / WARP * QUERIES;
  int64_t keyHead = (int64_t)quotient((uint64_t)(head * k.extent[1]), (uint64_t)heads);
  int64_t keysAt = k.offset + entry * k.stride[0] + keyHead * k.stride[1];
  int64_t valuesAt = v.offset + entry * v.stride[0] + keyHead * v.stride[1];
  int64_t last = block + CTA_QUERIES < queries ? block + CTA_QUERIES : queries;
  int64_t end = seen(last - 1, queries, keys, length, causal);
  fill<CTA_QUERIES, false>(
      shared.q, q, q.offset + entry * q.stride[0] + head * q.stride[1] + block * q.stride[2],
      queries - block, width);
  __syncthreads();
  Attended attended;
#pragma unroll 1
  for (int64_t key = 0; key < end; key += KEYS) {
    fill<KEYS, true>(shared.tile, k, keysAt + key * k.stride[2], end - key, width);
    __syncthreads();
    float scores[QUERIES] = {};
    if (first < queries) {
      bool sees[QUERIES];
#pragma unroll
      for (int i = 0; i < QUERIES; i++) {
        sees[i] = key + lane < seen(first + i, queries, keys, length, causal);
      }
      Attended::multiply(scores, shared, width);
      attended.weigh(scores, sees, scale);
    }
    __syncthreads();
    fill<KEYS, true>(shared.tile, v, valuesAt + key * v.stride[2], end - key, width);
    __syncthreads();
    if (first < queries) {
      attended.add(scores, shared, (int)(end - key < KEYS ? end - key : KEYS), width);
    }
    __syncthreads();
  }
  // The quotients go where the warp's queries were, each lane's columns for itself: to encode them
  // takes much text.
  float* own = shared.q[threadIdx.x / WARP * QUERIES] + lane;
#pragma unroll
  for (int i = 0; i < QUERIES; i++) {
    float sum = warpReduce(attended.weights[i], Sum());
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
      if (part * WARP < width) {
        own[i * MAX_WIDTH + part * WARP] = attended.values[i][part] / sum;
      }
    }
  }
#pragma unroll 1
  for (int i = 0; i < QUERIES && first + i < queries; i++) {
    // Without a key that counts the result is 0; with scores of -Inf alone it is 0 / 0.
    bool none = seen(first + i, queries, keys, length, causal) == 0;
    int64_t at = ((entry * queries + first + i) * heads + head) * width + lane;
#pragma unroll 1
    for (int column = 0; column + lane < width; column += WARP) {
      put(dtype, out, at + column, none ? 0 : own[i * MAX_WIDTH + column]);
    }
  }
  // The next head's queries come into the same memory.
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(WARPS* WARP, 4)
    attention_any(const View q, const View k, const View v, float scale, const View lengths,
                  int causal, int dtype, void* out) {
  __shared__ Shared shared;
  uint64_t heads = (uint64_t)q.extent[1];
  int64_t pairs = q.extent[0] * q.extent[1];
  for (int64_t pair = blockIdx.z; pair < pairs; pair += gridDim.z) {
    int64_t entry = (int64_t)quotient((uint64_t)pair, heads);
    int64_t length = k.extent[2];
    if (lengths.data != nullptr) {
      length = (int32_t)loadCode<32>(lengths.data, lengths.offset + entry * lengths.stride[0]);
    }
    int64_t head = pair - entry * (int64_t)heads;
    attend(shared, q, k, v, scale, length, causal, dtype, out, entry, head);
  }
}
