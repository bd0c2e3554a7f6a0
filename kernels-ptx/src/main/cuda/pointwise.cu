// Sums and activations of float views, and rotary embeddings: one output element from one or two.
#include "math.cuh"
#include "store.cuh"

// The angle of a pair is position · base^(-2·pair/dims); log2Base is log2(base). positions is I32
// [sequence], or has null data for 0, 1, 2, ....
struct Rope {
  int64_t width;
  int64_t sequence;
  int64_t dims;
  double log2Base;
  int32_t interleaved;
  int32_t unused;
};

static_assert(sizeof(Rope) == 40 && offsetof(Rope, log2Base) == 24, "as ParameterType.ROPE");

// The element of `column`, rotated together with its partner.
DEVICE float rotated(const View& x, const View& positions, const Rope& rope, int64_t i) {
  int64_t row = (int64_t)quotient((uint64_t)i, (uint64_t)rope.width);
  int64_t column = i - row * rope.width;
  float own = loadFloat(x, storageIndex(x, i));
  if (column >= rope.dims) {
    return canonical(own);
  }
  int64_t half = rope.dims / 2;
  bool first = rope.interleaved ? column % 2 == 0 : column < half;
  int64_t pair = rope.interleaved ? column / 2 : first ? column : column - half;
  int64_t distance = rope.interleaved ? 1 : half;
  int64_t place = (int64_t)remainder((uint64_t)row, (uint64_t)rope.sequence);
  double position = positions.data == nullptr
                        ? (double)place
                        : (double)(int32_t)loadCode<32>(positions.data, positions.offset + place * positions.stride[0]);
  double exponent = -2.0 * (double)pair / (double)rope.dims * rope.log2Base;
  SinCos turn = sinCos(position * exp2Double(exponent));
  float other = loadFloat(x, storageIndex(x, first ? i + distance : i - distance));
  return canonical(first ? fmaf(own, turn.cosine, -(other * turn.sine))
                         : fmaf(other, turn.sine, own * turn.cosine));
}

#define POINTWISE(NAME, D)                                                                    \
  /* b has a's extents; a row is repeated with stride 0. */                                   \
  extern "C" __global__ void __launch_bounds__(FILL_THREADS, 4)                                  \
      add_##NAME(const View a, const View b, void* out, int64_t count) {                      \
    fill<Format<D>::bits>(out, count, [&](int64_t i) {                                        \
      float left = decode<D>(loadCode<Format<D>::bits>(a.data, storageIndex(a, i)));          \
      float right = decode<D>(loadCode<Format<D>::bits>(b.data, storageIndex(b, i)));         \
      return encodeFloat<D>(canonical(left + right));                                         \
    });                                                                                       \
  }                                                                                           \
                                                                                              \
  extern "C" __global__ void __launch_bounds__(FILL_THREADS, 4)                                  \
      activation_##NAME(const View x, int activation, void* out, int64_t count) {             \
    fill<Format<D>::bits>(out, count, [&](int64_t i) {                                        \
      float value = decode<D>(loadCode<Format<D>::bits>(x.data, storageIndex(x, i)));         \
      return encodeFloat<D>(canonical(activate(activation, value)));                          \
    });                                                                                       \
  }                                                                                           \
                                                                                              \
  extern "C" __global__ void __launch_bounds__(FILL_THREADS, 4)                                  \
      rope_##NAME(const View x, const View positions, const Rope rope, void* out,             \
                  int64_t count) {                                                            \
    fill<Format<D>::bits>(                                                                    \
        out, count, [&](int64_t i) { return encodeFloat<D>(rotated(x, positions, rope, i)); }); \
  }

POINTWISE(f32, F32)
POINTWISE(f16, F16)
POINTWISE(bf16, BF16)
