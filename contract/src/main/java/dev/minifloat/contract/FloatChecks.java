package dev.minifloat.contract;

import dev.minifloat.Activation;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Rope;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import java.util.Arrays;
import java.util.List;

/** Activation, softmax, norms and rotary embedding of floats, within {@link RowOracle}'s bounds. */
final class FloatChecks {
  private static final List<Shape> SHAPES =
      List.of(
          Shape.of(1, 1),
          Shape.of(0, 4),
          Shape.of(3, 5),
          Shape.of(2, 3, 17),
          Shape.of(5, 33),
          Shape.of(4, 64),
          Shape.of(2, 2, 3, 131),
          Shape.of(2, 1000));

  private FloatChecks() {}

  /** The operation, and the bound of its result for given values. */
  private interface Operation {
    Tensor run(Scope scope, Tensor x);
  }

  private interface Oracle {
    void fill(HostTensor x, double[] values, double[] exact, double[] error);
  }

  static void addTo(Collector to) {
    Backend backend = to.backend();
    for (DType dtype : Data.FLOATS) {
      for (Activation activation : Activation.values()) {
        to.addIf(
            to.supports(Op.ACTIVATION, dtype),
            "activation",
            dtype + " " + activation,
            () -> activation(backend, dtype, activation));
      }
      boolean softmax = to.supports(Op.SOFTMAX, dtype);
      to.addIf(softmax, "softmax", dtype + " plain", () -> softmax(backend, dtype));
      to.addIf(softmax, "softmax", dtype + " lengths", () -> lengths(backend, dtype));
      to.addIf(softmax, "softmax", dtype + " causal", () -> causal(backend, dtype));
      to.addIf(softmax, "softmax", dtype + " specials", () -> specials(backend, dtype));
      to.addIf(
          to.supports(Op.LAYER_NORM, dtype), "layerNorm", dtype.name(), () -> norm(backend, dtype));
      to.addIf(to.supports(Op.RMS_NORM, dtype), "rmsNorm", dtype.name(), () -> rms(backend, dtype));
      to.addIf(
          to.supports(Op.L2_NORMALIZE, dtype),
          "l2Normalize",
          dtype.name(),
          () -> l2(backend, dtype));
      to.addIf(to.supports(Op.ROPE, dtype), "rope", dtype.name(), () -> rope(backend, dtype));
    }
  }

  /** Runs an operation on a tensor and on views of it, and compares. */
  private static void verify(
      Backend backend, String what, HostTensor host, Operation operation, Oracle oracle) {
    try (Scope scope = backend.scope()) {
      verify(scope, what, host, operation.run(scope, scope.upload(host)), oracle);
    }
  }

  private static void verify(Scope scope, String what, HostTensor x, Tensor result, Oracle oracle) {
    HostTensor actual = scope.download(result);
    Compare.equal(what + " of " + x + ": dtype", x.dtype(), actual.dtype());
    Compare.equal(what + " of " + x + ": shape", x.shape(), actual.shape());
    double[] values = RowOracle.values(x);
    double[] exact = new double[values.length];
    double[] error = new double[values.length];
    oracle.fill(x, values, exact, error);
    new Bounded(exact, error).requireAdmits(what + " of " + x, actual);
  }

  /** Each shape, then a slice and a transposed view. */
  private static void everywhere(
      Backend backend, String what, DType dtype, Operation operation, Oracle oracle) {
    for (Shape shape : SHAPES) {
      float[] values = Data.spread(shape.elements() + 3, shape.elements(), 2);
      verify(backend, what, Data.floats(dtype, values, shape.dims()), operation, oracle);
    }
    HostTensor wide = Data.floats(dtype, Data.spread(77, 2 * 9 * 35, 2), 2, 9, 35);
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(wide);
      for (Tensor view : List.of(x.transposed(), x.slice(2, 3, 28).slice(1, 1, 8))) {
        String viewed = what + (view.isContiguous() ? "" : " (a view)");
        verify(scope, viewed, scope.download(view), operation.run(scope, view), oracle);
      }
    }
  }

  private static void activation(Backend backend, DType dtype, Activation activation) {
    Oracle oracle =
        (_, x, exact, error) -> {
          for (int i = 0; i < x.length; i++) {
            exact[i] = ScalarFunctions.activation(activation, x[i]);
            error[i] = ErrorBounds.activation(activation, x[i], 0);
          }
        };
    Operation operation = (scope, x) -> scope.activation(x, activation);
    everywhere(backend, activation.name(), dtype, operation, oracle);
    float[] sweep = new float[4001];
    for (int i = 0; i < sweep.length; i++) {
      sweep[i] = (i - 2000) * 0.01f;
    }
    verify(backend, activation.name(), Data.floats(dtype, sweep, 4001), operation, oracle);
    float[] far = {
      0, 100, -100, 1e4f, -1e4f, 1e-30f, -1e-30f, Float.POSITIVE_INFINITY, Float.NaN, 3e38f, -3e38f
    };
    verify(backend, activation.name(), Data.floats(dtype, far, far.length), operation, oracle);
    // −∞ makes 0 (or NONE, −∞): a product with the factor would be NaN.
    float[] low = {Float.NEGATIVE_INFINITY};
    verify(backend, activation.name(), Data.floats(dtype, low, 1), operation, oracle);
  }

  private static void softmax(Backend backend, DType dtype) {
    for (float scale : new float[] {1, 0.125f, -2}) {
      everywhere(
          backend,
          "softmax, scale " + scale,
          dtype,
          (scope, x) -> scope.softmax(Softmax.of(x).scale(scale)),
          (x, values, exact, error) -> softmax(x, values, scale, null, false, exact, error));
    }
    float[] far = Data.spread(5, 3 * 70, 9);
    verify(
        backend,
        "softmax of large values",
        Data.floats(dtype, far, 3, 70),
        (scope, x) -> scope.softmax(Softmax.of(x)),
        (x, values, exact, error) -> softmax(x, values, 1, null, false, exact, error));
  }

  private static void lengths(Backend backend, DType dtype) {
    int[][] all = {{0, 1, 67, 33}, {16, 17, 15, 64}};
    for (int[] lengths : all) {
      for (Shape shape : List.of(Shape.of(4, 67), Shape.of(4, 3, 67), Shape.of(4, 2, 3, 67))) {
        for (boolean causal : new boolean[] {false, true}) {
          HostTensor host = Data.floats(dtype, Data.spread(8, shape.elements(), 2), shape.dims());
          verify(
              backend,
              "softmax, lengths " + Arrays.toString(lengths) + (causal ? ", causal" : ""),
              host,
              (scope, x) ->
                  scope.softmax(
                      Softmax.of(x)
                          .scale(0.5f)
                          .lengths(scope.upload(Data.ints(lengths, 4)))
                          .causal(causal)),
              (x, values, exact, error) -> softmax(x, values, 0.5f, lengths, causal, exact, error));
        }
      }
    }
  }

  /** More columns than rows, as with a cache of keys, and more rows than columns. */
  private static void causal(Backend backend, DType dtype) {
    for (Shape shape : List.of(Shape.of(2, 9, 9), Shape.of(3, 5, 37), Shape.of(2, 37, 5))) {
      verify(
          backend,
          "softmax, causal",
          Data.floats(dtype, Data.spread(9, shape.elements(), 2), shape.dims()),
          (scope, x) -> scope.softmax(Softmax.of(x).causal(true)),
          (x, values, exact, error) -> softmax(x, values, 1, null, true, exact, error));
    }
  }

  private static void softmax(
      HostTensor host,
      double[] x,
      float scale,
      int[] lengths,
      boolean causal,
      double[] exact,
      double[] error) {
    int columns = (int) host.shape().columns();
    int rows = (int) host.shape().rows();
    for (int from = 0; from < x.length; from += columns) {
      int row = from / columns;
      int seen = columns;
      if (lengths != null) {
        seen = lengths[row / (x.length / columns / lengths.length)];
      }
      if (causal) {
        seen = Math.clamp(row % rows + 1L + columns - rows, 0, seen);
      }
      RowOracle.softmax(x, from, seen, columns, scale, exact, error);
    }
  }

  private static void specials(Backend backend, DType dtype) {
    float inf = Float.POSITIVE_INFINITY;
    float nan = Float.NaN;
    int width = 37;
    for (int at : new int[] {0, 5, 16, 36}) {
      expectRow(backend, dtype, row(width, 1, at, nan), nan, nan, at);
      expectRow(backend, dtype, row(width, 1, at, inf), nan, nan, at);
      expectRow(backend, dtype, row(width, -inf, at, 3), 0, 1, at);
      expectRow(backend, dtype, row(width, -inf, at, -inf), nan, nan, at);
    }
    // What is masked may be anything.
    try (Scope scope = backend.scope()) {
      float[] values = row(width, 2, 4, 2);
      Arrays.fill(values, 4, width, nan);
      Tensor x = scope.upload(Data.floats(dtype, values, 1, width));
      Tensor length = scope.upload(Data.ints(new int[] {4}, 1));
      HostTensor y = scope.download(scope.softmax(Softmax.of(x).lengths(length)));
      for (int i = 0; i < width; i++) {
        Compare.sameValue(
            dtype + " softmax with NaN behind its length: element " + i,
            i < 4 ? 0.25f : 0,
            y.get(i));
      }
    }
  }

  private static float[] row(int width, float value, int at, float special) {
    float[] row = new float[width];
    Arrays.fill(row, value);
    row[at] = special;
    return row;
  }

  private static void expectRow(
      Backend backend, DType dtype, float[] values, float others, float special, int at) {
    try (Scope scope = backend.scope()) {
      HostTensor x = Data.floats(dtype, values, values.length);
      HostTensor y = scope.download(scope.softmax(Softmax.of(scope.upload(x))));
      for (int i = 0; i < values.length; i++) {
        Compare.sameValue(
            "%s softmax, %s at %d among %s: element %d"
                .formatted(dtype, values[at], at, values[at == 0 ? 1 : 0], i),
            i == at ? special : others,
            y.get(i));
      }
    }
  }

  private static HostTensor vector(DType dtype, long seed, HostTensor x) {
    long columns = x.shape().columns();
    return Data.floats(dtype, Data.numbers(seed, columns), columns);
  }

  private static void norm(Backend backend, DType dtype) {
    for (float epsilon : new float[] {1e-12f, 1e-5f, 1}) {
      everywhere(
          backend,
          "layerNorm, epsilon " + epsilon,
          dtype,
          (scope, x) -> {
            HostTensor shape = HostTensor.of(new float[(int) x.shape().columns()]);
            Tensor gamma = scope.upload(vector(dtype, 1, shape));
            Tensor beta = scope.upload(vector(DType.F32, 2, shape));
            return scope.layerNorm(x, gamma, beta, epsilon);
          },
          (x, values, exact, error) -> {
            double[] gamma = RowOracle.values(vector(dtype, 1, x));
            double[] beta = RowOracle.values(vector(DType.F32, 2, x));
            for (int from = 0; from < values.length; from += gamma.length) {
              RowOracle.layerNorm(values, from, gamma, beta, epsilon, exact, error);
            }
          });
    }
  }

  private static void rms(Backend backend, DType dtype) {
    for (float epsilon : new float[] {1e-6f, 1}) {
      everywhere(
          backend,
          "rmsNorm, epsilon " + epsilon,
          dtype,
          (scope, x) -> {
            HostTensor shape = HostTensor.of(new float[(int) x.shape().columns()]);
            return scope.rmsNorm(x, scope.upload(vector(dtype, 3, shape)), epsilon);
          },
          (x, values, exact, error) -> {
            double[] gamma = RowOracle.values(vector(dtype, 3, x));
            for (int from = 0; from < values.length; from += gamma.length) {
              RowOracle.rmsNorm(values, from, gamma, epsilon, exact, error);
            }
          });
    }
  }

  private static void l2(Backend backend, DType dtype) {
    Operation operation = Scope::l2Normalize;
    Oracle oracle =
        (x, values, exact, error) -> {
          int columns = (int) x.shape().columns();
          for (int from = 0; from < values.length; from += columns) {
            RowOracle.l2Normalize(values, from, columns, exact, error);
          }
        };
    everywhere(backend, "l2Normalize", dtype, operation, oracle);
    // Below 1e-12 the norm counts as 1e-12: zeros stay zeros.
    HostTensor zeros = Data.floats(dtype, new float[40], 2, 20);
    verify(backend, "l2Normalize of zeros", zeros, operation, oracle);
    float[] small = Data.spread(4, 40, 2);
    for (int i = 0; i < small.length; i++) {
      small[i] *= i < 20 ? 1e-13f : 1e-10f;
    }
    verify(backend, "l2Normalize of 1e-13", Data.floats(dtype, small, 2, 20), operation, oracle);
  }

  private static void rope(Backend backend, DType dtype) {
    int[] positions = {0, 7, 511, 3, 100};
    for (boolean interleaved : new boolean[] {false, true}) {
      for (int[] at : new int[][] {null, positions}) {
        for (int dims : new int[] {0, 2, 22, 34}) {
          for (Shape shape : List.of(Shape.of(5, 35), Shape.of(3, 2, 5, 35))) {
            HostTensor host = Data.floats(dtype, Data.spread(6, shape.elements(), 2), shape.dims());
            verify(
                backend,
                "rope, dims %d, interleaved %s, positions %s"
                    .formatted(dims, interleaved, Arrays.toString(at)),
                host,
                (scope, x) ->
                    scope.rope(
                        Rope.of(x)
                            .dims(dims)
                            .interleaved(interleaved)
                            .positions(at == null ? null : scope.upload(Data.ints(at, 5)))),
                (x, values, exact, error) -> rope(x, values, dims, interleaved, at, exact, error));
          }
        }
      }
    }
  }

  private static void rope(
      HostTensor x,
      double[] values,
      int dims,
      boolean interleaved,
      int[] at,
      double[] exact,
      double[] error) {
    int width = (int) x.shape().columns();
    int sequence = (int) x.shape().rows();
    System.arraycopy(values, 0, exact, 0, values.length);
    for (int from = 0; from < values.length; from += width) {
      int place = from / width % sequence;
      double position = at == null ? place : at[place];
      for (int pair = 0; pair < dims / 2; pair++) {
        double angle = position * Math.pow(10000, -2.0 * pair / dims);
        int first = from + (interleaved ? 2 * pair : pair);
        int second = first + (interleaved ? 1 : dims / 2);
        RowOracle.rotate(values[first], values[second], angle, first, second, exact, error);
      }
    }
  }
}
