package dev.minifloat.bench;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.codec.Codec;
import dev.minifloat.contract.ErrorBounds;
import dev.minifloat.contract.RowOracle;
import dev.minifloat.contract.ScalarFunctions;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Says whether what a contestant computed is right, on a sample of rows that always has the first
 * and the last.
 *
 * <p>Products are compared with sums in double of the products of exact operands, within the
 * numerics contract's bound of FP32 accumulation; conversions and quantization with the codec, to
 * the bit; row functions within the bounds of the contract's suite. A contestant that computes with
 * other formats states its own tolerance, of the whole sample. Embeddings are compared with those
 * of the first contestant that made them.
 */
final class Oracle {
  private static final int SAMPLED_ROWS = 8;

  /** Rounding of the oracle's own sums in double, relative to Σ|a·b|. */
  private static final double DOUBLE_SUM = 1e-12;

  /** The least cosine between embeddings whose weights are both F32, and others. */
  private static final double SAME_WEIGHTS = 1 - 1e-6;

  private static final double OTHER_WEIGHTS = 0.99;

  private final Map<Integer, float[]> embeddings = new HashMap<>();

  /** What is wrong with the last run's result, or empty. */
  Optional<String> fault(Workload workload, Contestant contestant) {
    float[] result = contestant.result();
    return switch (workload) {
      case Workload.Dot w -> {
        double[][] a = operand(w.a(), w.type().vectorSpec(), new int[] {0}, contestant);
        double[][] b = operand(w.b(), w.type().vectorSpec(), new int[] {0}, contestant);
        Products products = new Products(contestant, w.n());
        products.add(a[0], b[0], result[0], "the product");
        yield products.fault();
      }
      case Workload.Gemv w -> gemv(w, contestant, result);
      case Workload.Gemm w -> gemm(w, contestant, result);
      case Workload.Quantize w -> quantized(w.x(), w.to(), result);
      case Workload.Dequantize w -> quantized(w.x(), w.from(), result);
      case Workload.Convert w -> converted(w, result);
      case Workload.Norm w -> rows(w, result);
      case Workload.Encode w -> embeddings(w, result);
      case Workload.FfmCall _ -> {
        float expected = Workload.FfmCall.CALLS * (Workload.FfmCall.CALLS - 1L) / 2;
        yield result[0] == expected
            ? Optional.empty()
            : Optional.of("the sum is " + result[0] + ", not " + expected);
      }
    };
  }

  private static int[] sample(int rows) {
    return IntStream.range(0, SAMPLED_ROWS)
        .map(i -> (int) ((long) i * (rows - 1) / (SAMPLED_ROWS - 1)))
        .distinct()
        .toArray();
  }

  /** Rows of an operand: exact in its format, or the F32 values for one who uses another format. */
  private static double[][] operand(
      Values values, QuantSpec spec, int[] rows, Contestant contestant) {
    float[] distinct = values.distinct();
    int columns = values.columns();
    float[] sampled = sampled(distinct, rows, columns);
    double[][] exact = new double[rows.length][columns];
    if (!contestant.isExact()) {
      for (int i = 0; i < exact.length; i++) {
        for (int k = 0; k < columns; k++) {
          exact[i][k] = sampled[i * columns + k];
        }
      }
      return exact;
    }
    try (Arena arena = Arena.ofConfined()) {
      HostTensor host = BlockQuantizer.quantize(arena, withAmax(sampled, distinct, columns), spec);
      boolean scaled = !(spec.scaling() instanceof Scaling.None);
      for (int i = 0; i < exact.length; i++) {
        for (int k = 0; k < columns; k++) {
          long at = (long) i * columns + k;
          double element = Codec.decodeDouble(spec.dtype(), host.code(at));
          exact[i][k] = scaled ? host.scale(at) * element : element;
        }
      }
    }
    return exact;
  }

  private static float[] sampled(float[] distinct, int[] rows, int columns) {
    float[] sampled = new float[rows.length * columns];
    for (int i = 0; i < rows.length; i++) {
      System.arraycopy(
          distinct, rows[i] % (distinct.length / columns) * columns, sampled, i * columns, columns);
    }
    return sampled;
  }

  /** The sample and one row more, that has the whole tensor's amax: NVFP4's scale follows it. */
  private static HostTensor withAmax(float[] sampled, float[] distinct, int columns) {
    float[] all = Arrays.copyOf(sampled, sampled.length + columns);
    for (float x : distinct) {
      all[sampled.length] = Math.max(all[sampled.length], Math.abs(x));
    }
    return HostTensor.of(all, all.length / columns, columns);
  }

  /** Compares products with their bounds, or all together with a tolerance. */
  private static final class Products {
    private final Contestant contestant;
    private final int k;
    private String first;
    private double squares;
    private double errors;

    Products(Contestant contestant, int k) {
      this.contestant = contestant;
      this.k = k;
    }

    void add(double[] a, double[] b, float actual, String what) {
      double exact = 0;
      double magnitude = 0;
      for (int i = 0; i < k; i++) {
        double product = a[i] * b[i];
        exact += product;
        magnitude += Math.abs(product);
      }
      double error = Math.abs(actual - exact);
      squares += exact * exact;
      errors += error * error;
      double bound = ErrorBounds.accumulation(k, magnitude) + DOUBLE_SUM * magnitude;
      if (first == null && !(error <= bound)) {
        first = what + " is " + actual + ", " + error + " from " + exact + "; bound " + bound;
      }
    }

    Optional<String> fault() {
      if (contestant.isExact()) {
        return Optional.ofNullable(first);
      }
      double relative = Math.sqrt(errors / squares);
      return relative <= contestant.tolerance()
          ? Optional.empty()
          : Optional.of("relative error " + relative + ", not " + contestant.tolerance());
    }
  }

  private static Optional<String> gemv(Workload.Gemv w, Contestant contestant, float[] result) {
    int period = w.w().period();
    int[] rows = sample(period);
    double[][] a = operand(w.w(), w.weights().spec(), rows, contestant);
    double[] x = operand(w.x(), Format.F32.spec(), new int[] {0}, contestant)[0];
    Products products = new Products(contestant, w.k());
    for (int i = 0; i < rows.length; i++) {
      products.add(a[i], x, result[rows[i]], "row " + rows[i]);
    }
    return products
        .fault()
        .or(() -> period == w.rows() ? Optional.empty() : repeats(result, period));
  }

  /** Equal rows give equal products, within the few ulp that threads of a peer may differ by. */
  private static Optional<String> repeats(float[] result, int period) {
    for (int i = period; i < result.length; i++) {
      float expected = result[i % period];
      if (!(Math.abs(result[i] - expected) <= 1e-3 * Math.max(1, Math.abs(expected)))) {
        return Optional.of(
            "row " + i + " is " + result[i] + ", row " + i % period + " " + expected);
      }
    }
    return Optional.empty();
  }

  private static Optional<String> gemm(Workload.Gemm w, Contestant contestant, float[] result) {
    int[] rows = sample(w.m());
    int[] columns = sample(w.n());
    double[][] a = operand(w.a(), w.type().spec(), rows, contestant);
    double[][] b = operand(w.b(), w.type().spec(), columns, contestant);
    Products products = new Products(contestant, w.k());
    for (int i = 0; i < rows.length; i++) {
      for (int j = 0; j < columns.length; j++) {
        float actual = result[rows[i] * w.n() + columns[j]];
        products.add(a[i], b[j], actual, "D[" + rows[i] + ", " + columns[j] + "]");
      }
    }
    return products.fault();
  }

  private static Optional<String> quantized(Values x, Format format, float[] result) {
    int[] rows = sample(x.rows());
    float[] distinct = x.distinct();
    float[] sampled = sampled(distinct, rows, x.columns());
    try (Arena arena = Arena.ofConfined()) {
      HostTensor expected =
          BlockQuantizer.quantize(arena, withAmax(sampled, distinct, x.columns()), format.spec());
      for (int i = 0; i < sampled.length; i++) {
        int at = rows[i / x.columns()] * x.columns() + i % x.columns();
        Optional<String> fault = sameBits(at, expected.get(i), result[at]);
        if (fault.isPresent()) {
          return fault;
        }
      }
    }
    return Optional.empty();
  }

  private static Optional<String> sameBits(int at, float expected, float actual) {
    return Float.floatToRawIntBits(expected) == Float.floatToRawIntBits(actual)
        ? Optional.empty()
        : Optional.of("element " + at + " is " + actual + ", not " + expected);
  }

  private static Optional<String> converted(Workload.Convert w, float[] result) {
    Values x = w.x();
    float[] distinct = x.distinct();
    Overflow toSource = Overflow.defaultFor(w.from());
    Overflow overflow = Overflow.defaultFor(w.to());
    for (int row : sample(x.rows())) {
      for (int at = row * x.columns(); at < (row + 1) * x.columns(); at++) {
        float value = distinct[at % distinct.length];
        int code = Codec.encode(w.from(), value, Rounding.NEAREST_EVEN, toSource, at);
        double exact = Codec.decodeDouble(w.from(), code);
        int expected = Codec.encode(w.to(), exact, w.rounding(), overflow, at);
        Optional<String> fault = sameBits(at, Codec.decode(w.to(), expected), result[at]);
        if (fault.isPresent()) {
          return fault;
        }
      }
    }
    return Optional.empty();
  }

  private static Optional<String> rows(Workload.Norm w, float[] result) {
    int[] rows = sample(w.rows());
    int columns = w.columns();
    double[] x = doubles(sampled(w.x().distinct(), rows, columns));
    double[] gamma = doubles(w.gamma().distinct());
    double[] beta = doubles(w.beta().distinct());
    double[] exact = new double[x.length];
    double[] error = new double[x.length];
    for (int from = 0; from < x.length; from += columns) {
      switch (w.function()) {
        case SOFTMAX -> RowOracle.softmax(x, from, columns, columns, 1, exact, error);
        case LAYER_NORM ->
            RowOracle.layerNorm(x, from, gamma, beta, Workload.Norm.EPSILON, exact, error);
        case RMS_NORM -> RowOracle.rmsNorm(x, from, gamma, Workload.Norm.EPSILON, exact, error);
        case GELU_ERF -> activation(Activation.GELU_ERF, x, from, columns, exact, error);
        case GELU_TANH -> activation(Activation.GELU_TANH, x, from, columns, exact, error);
        case SILU -> activation(Activation.SILU, x, from, columns, exact, error);
      }
    }
    for (int i = 0; i < x.length; i++) {
      int at = rows[i / columns] * columns + i % columns;
      if (!ErrorBounds.admits(DType.F32, exact[i], error[i], result[at])) {
        return Optional.of(
            "element " + at + " is " + result[at] + ", not " + exact[i] + " ± " + error[i]);
      }
    }
    return Optional.empty();
  }

  private static void activation(
      Activation activation, double[] x, int from, int count, double[] exact, double[] error) {
    for (int i = from; i < from + count; i++) {
      exact[i] = ScalarFunctions.activation(activation, x[i]);
      error[i] = ErrorBounds.activation(activation, x[i], 0);
    }
  }

  private static double[] doubles(float[] values) {
    return IntStream.range(0, values.length).mapToDouble(i -> values[i]).toArray();
  }

  private Optional<String> embeddings(Workload.Encode w, float[] result) {
    int key = Arrays.deepHashCode(w.ids());
    float[] expected = embeddings.putIfAbsent(key, result);
    if (expected == null) {
      // Unit vectors at least; later ones are compared with these.
      expected = result;
    }
    int width = result.length / w.batch();
    double least = w.weights() == Format.F32 ? SAME_WEIGHTS : OTHER_WEIGHTS;
    for (int text = 0; text < w.batch(); text++) {
      double cosine = 0;
      for (int i = text * width; i < (text + 1) * width; i++) {
        cosine += (double) expected[i] * result[i];
      }
      if (!(cosine >= least && cosine <= 1 + 1e-5)) {
        return Optional.of("text " + text + ": cosine " + cosine + " to the first result");
      }
    }
    return Optional.empty();
  }
}
