// Operations on the rows of a float view: softmax, norms; and means over sequences.
//
// A row belongs to a group of threads, a warp (THREADS = 32, four rows a CTA) or a CTA of 256 for
// long rows; each thread goes through the columns in steps of the group. The grid may be any: rows
// go round. Norms sum in F64, which can't overflow and costs less than reading the row; sums of a
// group are taken in a fixed order.
#include "math.cuh"
#include "store.cuh"
#include "warp.cuh"


template <int D>
DEVICE void put(void* out, int64_t i, float value) {
  if constexpr (D == F32) {
    ((uint32_t*)out)[i] = encodeFloat<D>(canonical(value));
  } else {
    ((uint16_t*)out)[i] = (uint16_t)encodeFloat<D>(canonical(value));
  }
}

// The rows of a view, as a group of THREADS goes through them.
template <int D, int THREADS>
struct Rows {
  static constexpr int GROUPS = THREADS == WARP ? 4 : 1;

  const View& x;
  int64_t rows;
  int64_t columns;
  int64_t stride;
  int thread;
  int64_t at;

  DEVICE Rows(const View& x, int64_t rows, int64_t columns)
      : x(x),
        rows(rows),
        columns(columns),
        stride(strideFromEnd(x, 1)),
        thread(threadIdx.x % THREADS),
        at(0) {}

  DEVICE int64_t first() const { return (int64_t)blockIdx.x * GROUPS + threadIdx.x / THREADS; }

  DEVICE int64_t step() const { return (int64_t)gridDim.x * GROUPS; }

  DEVICE void enter(int64_t row) { at = storageIndex(x, row, x.rank - 1); }

  DEVICE float load(int64_t column) const {
    return decode<D>(loadCode<Format<D>::bits>(x.data, at + column * stride));
  }
};

// e^(scale·x - m) / sum, with m the largest scale·x of the columns that count: the difference to
// the largest x is taken first, so that a huge scale can't overflow. `rowsOfLength` rows share an
// entry of lengths, whose data may be null.
template <int D, int THREADS>
DEVICE void softmax(float* scratch, const View& x, float scale, const View& lengths,
                    int64_t rowsOfLength, int causal, void* out, int64_t count, int64_t columns) {
  Rows<D, THREADS> rows(x, count, columns);
  int64_t matrixRows = extentFromEnd(x, 2);
  for (int64_t row = rows.first(); row < count; row += rows.step()) {
    rows.enter(row);
    int64_t seen = columns;
    if (lengths.data != nullptr) {
      int64_t which = (int64_t)quotient((uint64_t)row, (uint64_t)rowsOfLength);
      int64_t length = (int32_t)loadCode<32>(lengths.data, lengths.offset + which * lengths.stride[0]);
      seen = length < seen ? length : seen;
    }
    if (causal) {
      int64_t last = (int64_t)remainder((uint64_t)row, (uint64_t)matrixRows) + 1 + columns - matrixRows;
      seen = last < 0 ? 0 : last < seen ? last : seen;
    }
    // With a negative scale the smallest x is the largest product. NaNs show in the sum.
    float sign = scale < 0 ? -1.0f : 1.0f;
    float largest = asFloat(0xFF800000);
#pragma unroll 1
    for (int64_t c = rows.thread; c < seen; c += THREADS) {
      largest = Max()(sign * rows.load(c), largest);
    }
    largest = sign * blockReduce<THREADS>(scratch, largest, Max());
    float sum = 0;
#pragma unroll 1
    for (int64_t c = rows.thread; c < seen; c += THREADS) {
      sum += exponential(scale * (rows.load(c) - largest));
    }
    sum = blockReduce<THREADS>(scratch, sum, Sum());
#pragma unroll 1
    for (int64_t c = rows.thread; c < columns; c += THREADS) {
      float y = c < seen ? exponential(scale * (rows.load(c) - largest)) / sum : 0;
      put<D>(out, row * columns + c, y);
    }
  }
}

template <int D, int THREADS>
DEVICE double sumOfSquares(double* scratch, const Rows<D, THREADS>& rows, double mean) {
  double sum = 0;
#pragma unroll 1
  for (int64_t c = rows.thread; c < rows.columns; c += THREADS) {
    double centred = (double)rows.load(c) - mean;
    sum = fma(centred, centred, sum);
  }
  return blockReduce<THREADS>(scratch, sum, Sum());
}

template <int D, int THREADS>
DEVICE void layerNorm(double* scratch, const View& x, const View& gamma, const View& beta,
                      float epsilon, void* out, int64_t count, int64_t columns) {
  Rows<D, THREADS> rows(x, count, columns);
  for (int64_t row = rows.first(); row < count; row += rows.step()) {
    rows.enter(row);
    double mean = 0;
#pragma unroll 1
    for (int64_t c = rows.thread; c < columns; c += THREADS) {
      mean += (double)rows.load(c);
    }
    mean = blockReduce<THREADS>(scratch, mean, Sum()) / (double)columns;
    double variance = sumOfSquares(scratch, rows, mean) / (double)columns;
    double inverse = 1.0 / sqrt(variance + (double)epsilon);
#pragma unroll 1
    for (int64_t c = rows.thread; c < columns; c += THREADS) {
      double scale = (double)loadFloat(gamma, gamma.offset + c * gamma.stride[0]);
      double shift = (double)loadFloat(beta, beta.offset + c * beta.stride[0]);
      double y = ((double)rows.load(c) - mean) * inverse * scale + shift;
      put<D>(out, row * columns + c, (float)y);
    }
  }
}

template <int D, int THREADS>
DEVICE void rmsNorm(double* scratch, const View& x, const View& gamma, float epsilon, void* out,
                    int64_t count, int64_t columns) {
  Rows<D, THREADS> rows(x, count, columns);
  for (int64_t row = rows.first(); row < count; row += rows.step()) {
    rows.enter(row);
    double square = sumOfSquares(scratch, rows, 0.0) / (double)columns;
    double inverse = 1.0 / sqrt(square + (double)epsilon);
#pragma unroll 1
    for (int64_t c = rows.thread; c < columns; c += THREADS) {
      double scale = (double)loadFloat(gamma, gamma.offset + c * gamma.stride[0]);
      put<D>(out, row * columns + c, (float)((double)rows.load(c) * inverse * scale));
    }
  }
}

template <int D, int THREADS>
DEVICE void l2Normalize(double* scratch, const View& x, void* out, int64_t count,
                        int64_t columns) {
  Rows<D, THREADS> rows(x, count, columns);
  for (int64_t row = rows.first(); row < count; row += rows.step()) {
    rows.enter(row);
    double norm = sqrt(sumOfSquares(scratch, rows, 0.0));
    double inverse = 1.0 / (norm < 1e-12 ? 1e-12 : norm);
#pragma unroll 1
    for (int64_t c = rows.thread; c < columns; c += THREADS) {
      put<D>(out, row * columns + c, (float)((double)rows.load(c) * inverse));
    }
  }
}

#define ROWS(NAME, D, SIZE, THREADS, CTA)                                                      \
  extern "C" __global__ void __launch_bounds__(CTA, 2)                                           \
      softmax_##SIZE##_##NAME(const View x, float scale, const View lengths,                   \
                              int64_t rowsOfLength, int causal, void* out, int64_t rows,       \
                              int64_t columns) {                                               \
    __shared__ float scratch[CTA / WARP];                                                      \
    softmax<D, THREADS>(scratch, x, scale, lengths, rowsOfLength, causal, out, rows, columns); \
  }                                                                                            \
                                                                                               \
  extern "C" __global__ void __launch_bounds__(CTA, 2)                                           \
      layer_norm_##SIZE##_##NAME(const View x, const View gamma, const View beta,              \
                                 float epsilon, void* out, int64_t rows, int64_t columns) {    \
    __shared__ double scratch[CTA / WARP];                                                     \
    layerNorm<D, THREADS>(scratch, x, gamma, beta, epsilon, out, rows, columns);               \
  }                                                                                            \
                                                                                               \
  extern "C" __global__ void __launch_bounds__(CTA, 2)                                           \
      rms_norm_##SIZE##_##NAME(const View x, const View gamma, float epsilon, void* out,       \
                               int64_t rows, int64_t columns) {                                \
    __shared__ double scratch[CTA / WARP];                                                     \
    rmsNorm<D, THREADS>(scratch, x, gamma, epsilon, out, rows, columns);                       \
  }                                                                                            \
                                                                                               \
  extern "C" __global__ void __launch_bounds__(CTA, 2)                                           \
      l2_normalize_##SIZE##_##NAME(const View x, void* out, int64_t rows, int64_t columns) {   \
    __shared__ double scratch[CTA / WARP];                                                     \
    l2Normalize<D, THREADS>(scratch, x, out, rows, columns);                                   \
  }

#define ROWS_AND_MEANS(NAME, D)                                                               \
  ROWS(NAME, D, short, 32, 128)                                                               \
  ROWS(NAME, D, long, 256, 256)                                                               \
                                                                                              \
  /* Mean of the first lengths[b] vectors of x [batch, sequence, width]; one thread an output. */ \
  extern "C" __global__ void __launch_bounds__(FILL_THREADS, 4)                                  \
      mean_pool_##NAME(const View x, const View lengths, void* out, int64_t count) {          \
    int64_t width = x.extent[2];                                                              \
    int64_t step = (int64_t)gridDim.x * FILL_THREADS;                                         \
    int64_t first = (int64_t)blockIdx.x * FILL_THREADS + threadIdx.x;                         \
    for (int64_t i = first; i < count; i += step) {                                           \
      int64_t batch = (int64_t)quotient((uint64_t)i, (uint64_t)width);                        \
      int64_t at = x.offset + batch * x.stride[0] + (i - batch * width) * x.stride[2];        \
      int64_t length = x.extent[1];                                                           \
      if (lengths.data != nullptr) {                                                          \
        length = (int32_t)loadCode<32>(lengths.data, lengths.offset + batch * lengths.stride[0]); \
      }                                                                                       \
      double sum = 0;                                                                         \
      _Pragma("unroll 1") for (int64_t s = 0; s < length; s++) {                              \
        sum += (double)decode<D>(loadCode<Format<D>::bits>(x.data, at + s * x.stride[1]));    \
      }                                                                                       \
      put<D>(out, i, (float)(sum / (double)length));                                          \
    }                                                                                         \
  }

ROWS_AND_MEANS(f32, F32)
ROWS_AND_MEANS(f16, F16)
ROWS_AND_MEANS(bf16, BF16)
