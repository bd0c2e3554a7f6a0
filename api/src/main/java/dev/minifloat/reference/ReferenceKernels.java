package dev.minifloat.reference;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.AttentionCall;
import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The kernels of {@link ReferenceBackend}: each operand is read as values, each result stored. */
final class ReferenceKernels implements Kernels {
  private static final double MIN_NORM = 1e-12;

  @Override
  public void copy(TensorView x, TensorView out) {
    HostStorage from = storage(x);
    HostStorage to = storage(out);
    for (long i = 0; i < x.shape().elements(); i++) {
      int code = PackedElements.get(x.dtype(), from.data(), x.storageIndex(i));
      PackedElements.set(x.dtype(), to.data(), i, code);
    }
    if (!x.isUnscaled()) {
      to.scales().copyFrom(from.scales());
      to.globalScale(from.globalScale());
    }
  }

  @Override
  public void convert(TensorView x, TensorView out, Rounding rounding, Overflow overflow) {
    withHost(
        x,
        (arena, host) ->
            fill(out, BlockQuantizer.convert(arena, host, out.dtype(), rounding, overflow)));
  }

  @Override
  public void quantize(TensorView x, TensorView out, QuantSpec spec) {
    withHost(x, (arena, host) -> fill(out, BlockQuantizer.quantize(arena, host, spec)));
  }

  @Override
  public void dequantize(TensorView x, TensorView out) {
    decoded(out, values(x));
  }

  @Override
  public float dot(TensorView a, TensorView b) {
    float[] left = values(a);
    float[] right = values(b);
    double sum = 0;
    for (int i = 0; i < left.length; i++) {
      sum += (double) left[i] * right[i];
    }
    return canonical((float) sum);
  }

  @Override
  public float amax(TensorView x) {
    return largest(values(x));
  }

  private static float largest(float[] values) {
    int bits = 0;
    for (float value : values) {
      bits = Math.max(bits, Float.floatToRawIntBits(value) & 0x7FFFFFFF);
    }
    float amax = Float.intBitsToFloat(bits);
    return Float.isNaN(amax) ? Float.NaN : amax;
  }

  @Override
  public void gemv(TensorView a, TensorView x, TensorView out) {
    float[] matrix = values(a);
    float[] vector = values(x);
    float[] result = new float[length(out)];
    for (int row = 0; row < result.length; row++) {
      double sum = 0;
      for (int k = 0; k < vector.length; k++) {
        sum += (double) matrix[row * vector.length + k] * vector[k];
      }
      result[row] = (float) sum;
    }
    store(out, result);
  }

  @Override
  public void gemm(GemmCall call) {
    if (call.out().shape().elements() == 0) {
      if (call.amax() != null) {
        store(call.amax(), new float[] {0});
      }
      return;
    }
    int rows = (int) call.out().shape().rows();
    int columns = (int) call.out().shape().columns();
    int inner = (int) call.a().shape().columns();
    float[] a = call.alpha() == 0 ? null : values(call.a());
    float[] b = call.alpha() == 0 ? null : values(call.b());
    float[] c = call.c() == null || call.beta() == 0 ? null : values(call.c());
    float[] bias = call.bias() == null ? null : values(call.bias());
    float[] d = new float[length(call.out())];
    double[] sums = new double[columns];
    for (int matrix = 0; matrix < call.out().shape().batch(); matrix++) {
      for (int row = 0; row < rows; row++) {
        java.util.Arrays.fill(sums, 0);
        if (a != null) {
          for (int k = 0; k < inner; k++) {
            double left = a[(matrix * rows + row) * inner + k];
            int from = (matrix * inner + k) * columns;
            for (int column = 0; column < columns; column++) {
              sums[column] += left * b[from + column];
            }
          }
        }
        int at = (matrix * rows + row) * columns;
        for (int column = 0; column < columns; column++) {
          float sum = a == null ? 0 : call.alpha() * (float) sums[column];
          if (c != null) {
            sum += call.beta() * c[at + column];
          }
          if (bias != null) {
            sum += bias[column];
          }
          d[at + column] = (float) apply(call.activation(), sum);
        }
      }
    }
    if (call.amax() != null) {
      store(call.amax(), new float[] {largest(d)});
    }
    store(call.out(), d);
  }

  @Override
  public void add(TensorView a, TensorView b, TensorView out) {
    float[] left = values(a);
    float[] right = values(b);
    for (int i = 0; i < left.length; i++) {
      left[i] += right[i % right.length];
    }
    store(out, left);
  }

  @Override
  public void activation(TensorView x, Activation activation, TensorView out) {
    float[] values = values(x);
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) apply(activation, values[i]);
    }
    store(out, values);
  }

  private static double apply(Activation activation, double x) {
    return switch (activation) {
      case NONE -> x;
      case RELU -> Math.max(x, 0);
      case GELU_ERF -> x == Double.NEGATIVE_INFINITY ? -0.0 : x * 0.5 * Erf.erfc(-x / Math.sqrt(2));
      case GELU_TANH -> {
        double inner = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x);
        // ½ (1 + tanh u) is the logistic function of 2u, which keeps its digits for u far below 0.
        yield x == Double.NEGATIVE_INFINITY ? -0.0 : x / (1 + Math.exp(-2 * inner));
      }
      case SILU -> x == Double.NEGATIVE_INFINITY ? -0.0 : x / (1 + Math.exp(-x));
    };
  }

  @Override
  public void softmax(
      TensorView x, float scale, TensorView lengths, boolean causal, TensorView out) {
    float[] values = values(x);
    int[] counts = lengths == null ? null : readInts(lengths);
    int columns = (int) x.shape().columns();
    int rows = (int) x.shape().rows();
    for (int row = 0; row * (long) columns < values.length; row++) {
      int seen = columns;
      if (counts != null) {
        int rowsOfEach = values.length / columns / counts.length;
        seen = Math.min(seen, counts[row / rowsOfEach]);
      }
      if (causal) {
        seen = Math.clamp(row % rows + 1L + columns - rows, 0, seen);
      }
      softmaxRow(values, row * columns, seen, columns, scale);
    }
    store(out, values);
  }

  private static void softmaxRow(float[] values, int from, int seen, int columns, float scale) {
    double max = Double.NEGATIVE_INFINITY;
    for (int i = from; i < from + seen; i++) {
      max = Math.max(max, (double) scale * values[i]);
    }
    double sum = 0;
    for (int i = from; i < from + seen; i++) {
      sum += Math.exp((double) scale * values[i] - max);
    }
    for (int i = from; i < from + columns; i++) {
      values[i] = i < from + seen ? (float) (Math.exp((double) scale * values[i] - max) / sum) : 0;
    }
  }

  @Override
  public void attention(AttentionCall call) {
    float[] q = values(call.q());
    float[] k = values(call.k());
    float[] v = values(call.v());
    int[] lengths = call.lengths() == null ? null : readInts(call.lengths());
    float[] result = new float[length(call.out())];
    int heads = (int) call.q().shape().dim(1);
    int queries = (int) call.q().shape().rows();
    int width = (int) call.q().shape().columns();
    int keyHeads = (int) call.k().shape().dim(1);
    int keys = (int) call.k().shape().rows();
    double[] scores = new double[keys];
    // A row of Q is that of batch b, head h and query i; all of a head's group read one key head.
    for (int row = 0; row * (long) width < q.length; row++) {
      int i = row % queries;
      int h = row / queries % heads;
      int b = row / queries / heads;
      int from = (b * keyHeads + h / (heads / keyHeads)) * keys;
      int seen = (int) call.seen(i, lengths == null ? keys : lengths[b]);
      for (int j = 0; j < seen; j++) {
        double sum = 0;
        for (int d = 0; d < width; d++) {
          sum += (double) q[row * width + d] * k[(from + j) * width + d];
        }
        scores[j] = call.scale() * sum;
      }
      weigh(scores, seen);
      for (int d = 0; d < width; d++) {
        double sum = 0;
        for (int j = 0; j < seen; j++) {
          sum += scores[j] * v[(from + j) * width + d];
        }
        result[((b * queries + i) * heads + h) * width + d] = (float) sum;
      }
    }
    store(call.out(), result);
  }

  /** Scores to weights: the softmax of the first {@code seen}. */
  private static void weigh(double[] scores, int seen) {
    double max = Double.NEGATIVE_INFINITY;
    for (int j = 0; j < seen; j++) {
      max = Math.max(max, scores[j]);
    }
    double sum = 0;
    for (int j = 0; j < seen; j++) {
      scores[j] = Math.exp(scores[j] - max);
      sum += scores[j];
    }
    for (int j = 0; j < seen; j++) {
      scores[j] /= sum;
    }
  }

  @Override
  public void layerNorm(
      TensorView x, TensorView gamma, TensorView beta, float epsilon, TensorView out) {
    float[] values = values(x);
    float[] scale = values(gamma);
    float[] shift = values(beta);
    int columns = scale.length;
    for (int from = 0; from < values.length; from += columns) {
      double mean = 0;
      for (int i = 0; i < columns; i++) {
        mean += values[from + i];
      }
      mean /= columns;
      double variance = 0;
      for (int i = 0; i < columns; i++) {
        double centred = values[from + i] - mean;
        variance += centred * centred;
      }
      double deviation = Math.sqrt(variance / columns + epsilon);
      for (int i = 0; i < columns; i++) {
        values[from + i] = (float) ((values[from + i] - mean) / deviation * scale[i] + shift[i]);
      }
    }
    store(out, values);
  }

  @Override
  public void rmsNorm(TensorView x, TensorView gamma, float epsilon, TensorView out) {
    float[] values = values(x);
    float[] scale = values(gamma);
    int columns = scale.length;
    for (int from = 0; from < values.length; from += columns) {
      double root = Math.sqrt(squares(values, from, columns) / columns + epsilon);
      for (int i = 0; i < columns; i++) {
        values[from + i] = (float) (values[from + i] / root * scale[i]);
      }
    }
    store(out, values);
  }

  private static double squares(float[] values, int from, int count) {
    double sum = 0;
    for (int i = from; i < from + count; i++) {
      sum += (double) values[i] * values[i];
    }
    return sum;
  }

  @Override
  public void rope(
      TensorView x,
      int dims,
      float base,
      boolean interleaved,
      TensorView positions,
      TensorView out) {
    float[] values = values(x);
    int width = (int) x.shape().columns();
    int sequence = (int) x.shape().rows();
    int[] at = positions == null ? null : readInts(positions);
    int half = dims / 2;
    for (int row = 0; row * (long) width < values.length; row++) {
      int place = row % sequence;
      double position = at == null ? place : at[place];
      for (int pair = 0; pair < half; pair++) {
        double angle = position * Math.pow(base, -2.0 * pair / dims);
        int first = row * width + (interleaved ? 2 * pair : pair);
        int second = interleaved ? first + 1 : first + half;
        double u = values[first];
        double v = values[second];
        values[first] = (float) (u * Math.cos(angle) - v * Math.sin(angle));
        values[second] = (float) (u * Math.sin(angle) + v * Math.cos(angle));
      }
    }
    store(out, values);
  }

  @Override
  public void embedding(TensorView table, TensorView ids, TensorView out) {
    int[] rows = readInts(ids);
    long width = table.shape().columns();
    HostTensor host = storage(table).asHostTensor();
    float[] gathered = new float[length(out)];
    for (int i = 0; i < gathered.length; i++) {
      gathered[i] = host.get(table.storageIndex(rows[(int) (i / width)] * width + i % width));
    }
    decoded(out, gathered);
  }

  @Override
  public void meanPool(TensorView x, TensorView lengths, TensorView out) {
    float[] values = values(x);
    int[] counts = lengths == null ? null : readInts(lengths);
    int sequence = (int) x.shape().dim(1);
    int width = (int) x.shape().dim(2);
    float[] means = new float[length(out)];
    for (int i = 0; i < means.length; i++) {
      int batch = i / width;
      int count = counts == null ? sequence : counts[batch];
      double sum = 0;
      for (int s = 0; s < count; s++) {
        sum += values[(batch * sequence + s) * width + i % width];
      }
      means[i] = (float) (sum / count);
    }
    store(out, means);
  }

  @Override
  public void l2Normalize(TensorView x, TensorView out) {
    float[] values = values(x);
    int columns = (int) x.shape().columns();
    for (int from = 0; from < values.length; from += columns) {
      double norm = Math.max(Math.sqrt(squares(values, from, columns)), MIN_NORM);
      for (int i = from; i < from + columns; i++) {
        values[i] = (float) (values[i] / norm);
      }
    }
    store(out, values);
  }

  @Override
  public int[] readInts(TensorView x) {
    int[] values = new int[length(x)];
    for (int i = 0; i < values.length; i++) {
      values[i] = PackedElements.get(DType.I32, storage(x).data(), x.storageIndex(i));
    }
    return values;
  }

  /** Number of elements, which this backend holds in an array. */
  private static int length(TensorView x) {
    long elements = x.shape().elements();
    if (elements > Integer.MAX_VALUE - 8) {
      throw new MinifloatException(
          "The reference backend computes in arrays, and %s has %d elements, more than one holds"
              .formatted(x, elements));
    }
    return (int) elements;
  }

  private static HostStorage storage(TensorView x) {
    return (HostStorage) x.storage();
  }

  /** The values of a view in row-major order, decoded and scaled. */
  private static float[] values(TensorView x) {
    HostTensor host = storage(x).asHostTensor();
    float[] values = new float[length(x)];
    for (int i = 0; i < values.length; i++) {
      values[i] = host.get(x.storageIndex(i));
    }
    return values;
  }

  /** Rounds results of arithmetic to the output's type, once; their NaNs are the canonical one. */
  private static void store(TensorView out, float[] values) {
    for (int i = 0; i < values.length; i++) {
      values[i] = canonical(values[i]);
    }
    decoded(out, values);
  }

  private static float canonical(float x) {
    return Float.isNaN(x) ? Float.NaN : x;
  }

  /** Rounds values to the output's type, once. */
  private static void decoded(TensorView out, float[] values) {
    MemorySegment data = storage(out).data();
    for (int i = 0; i < values.length; i++) {
      PackedElements.set(out.dtype(), data, i, Codec.encode(out.dtype(), values[i]));
    }
  }

  private interface HostWork {
    void on(Arena arena, HostTensor host);
  }

  /** Gives an unscaled view to {@code work} as a dense host tensor of its own shape. */
  private void withHost(TensorView x, HostWork work) {
    try (Arena arena = Arena.ofConfined()) {
      HostTensor dense = HostTensor.allocate(arena, x.dtype(), x.shape(), x.scaling());
      for (long i = 0; i < x.shape().elements(); i++) {
        int code = PackedElements.get(x.dtype(), storage(x).data(), x.storageIndex(i));
        PackedElements.set(x.dtype(), dense.data(), i, code);
      }
      work.on(arena, dense);
    }
  }

  private static void fill(TensorView out, HostTensor result) {
    storage(out).data().copyFrom(result.data());
    storage(out).scales().copyFrom(result.scales());
    storage(out).globalScale(result.globalScale());
  }
}
