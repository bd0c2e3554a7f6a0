package dev.minifloat.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Activation;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Operations;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rope;
import dev.minifloat.Scope;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import dev.minifloat.reference.ReferenceBackend;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The FP32 functions against the reference, at awkward sizes and values. */
class FunctionsTest {
  private static final DType[] FLOATS = {DType.F32, DType.F16, DType.BF16};
  private static final int[] WIDTHS = {1, 2, 3, 7, 8, 15, 16, 17, 31, 35, 64, 131, 5000};

  private static VectorBackend backend;
  private static Backend reference;

  @BeforeAll
  static void open() {
    backend = VectorBackend.threads(2);
    reference = new ReferenceBackend();
  }

  @AfterAll
  static void close() {
    backend.close();
    reference.close();
  }

  private static HostTensor host(long seed, long... dims) {
    int count = 1;
    for (long dim : dims) {
      count *= (int) dim;
    }
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) (random.nextGaussian() * 3);
    }
    return HostTensor.of(values, dims);
  }

  /** Runs an operation of one float type on both backends and compares within ulps of it. */
  private static void compare(
      DType dtype,
      HostTensor x,
      double relative,
      double absolute,
      BiFunction<Operations, Tensor, Tensor> operation) {
    float[] expected;
    float[] actual;
    try (Scope scope = reference.scope()) {
      Tensor in = scope.convert(scope.upload(x), dtype);
      expected = scope.download(operation.apply(scope, in)).toFloats();
    }
    try (Scope scope = backend.scope()) {
      Tensor in = scope.convert(scope.upload(x), dtype);
      actual = scope.download(operation.apply(scope, in)).toFloats();
    }
    assertEquals(expected.length, actual.length);
    double least = dtype == DType.F32 ? 0 : dtype.minSubnormal();
    double half = dtype == DType.F32 ? 0 : dtype.epsilon();
    for (int i = 0; i < expected.length; i++) {
      if (Float.compare(expected[i], actual[i]) == 0) {
        continue;
      }
      double bound = Math.abs(expected[i]) * (relative + half) + absolute + least;
      int at = i;
      assertTrue(
          Math.abs((double) expected[i] - actual[i]) <= bound,
          () ->
              "%s of %s, element %d: %s, not %s; off by %.3g of %.3g"
                  .formatted(
                      dtype,
                      x,
                      at,
                      actual[at],
                      expected[at],
                      Math.abs((double) expected[at] - actual[at]),
                      bound));
    }
  }

  @ParameterizedTest
  @EnumSource
  void activationsStayWithinTheirBounds(Activation activation) {
    float[] values = new float[40_000];
    for (int i = 0; i < values.length; i++) {
      values[i] = (i - 20_000) / 1000f;
    }
    HostTensor x = HostTensor.of(values);
    // Relative to the result, but for the tails of GELU; subnormals are rounded twice.
    double tail =
        switch (activation) {
          case NONE, RELU, SILU -> 0x1p-145;
          case GELU_ERF -> 6 * 5.6 * 0x1p-24;
          case GELU_TANH -> 0x1p-22;
        };
    for (DType dtype : FLOATS) {
      compare(dtype, x, 0x1p-21, tail, (ops, in) -> ops.activation(in, activation));
    }
  }

  @ParameterizedTest
  @EnumSource
  void activationsOfSpecialValuesAreTheReferences(Activation activation) {
    HostTensor x =
        HostTensor.of(
            new float[] {
              0f,
              -0f,
              Float.NaN,
              Float.POSITIVE_INFINITY,
              Float.NEGATIVE_INFINITY,
              Float.MAX_VALUE,
              -Float.MAX_VALUE,
              Float.MIN_VALUE,
              -Float.MIN_VALUE,
              1e-30f,
              -1e-30f,
              200f,
              -200f,
              33f
            });
    compare(DType.F32, x, 0x1p-22, 0x1p-149, (ops, in) -> ops.activation(in, activation));
  }

  @Test
  void anElementsBitsDoNotDependOnItsPlace() {
    float[] values = new float[77];
    Arrays.fill(values, -1.2345f);
    for (Activation activation : Activation.values()) {
      try (Scope scope = backend.scope()) {
        Tensor y = scope.activation(scope.upload(HostTensor.of(values)), activation);
        float[] results = scope.download(y).toFloats();
        for (float result : results) {
          assertEquals(results[0], result);
        }
      }
    }
  }

  @Test
  void sumsAreRoundedOnce() {
    for (DType dtype : FLOATS) {
      for (int width : WIDTHS) {
        HostTensor x = host(1, 3, width);
        HostTensor same = host(2, 3, width);
        HostTensor row = host(3, width);
        compare(dtype, x, 0, 0, (ops, in) -> ops.add(in, cast(ops, same, dtype)));
        compare(dtype, x, 0, 0, (ops, in) -> ops.add(in, cast(ops, row, dtype)));
      }
    }
  }

  private static Tensor cast(Operations ops, HostTensor host, DType dtype) {
    return ops.convert(ops.upload(host), dtype);
  }

  @Test
  void normsStayWithinTheirBounds() {
    for (DType dtype : FLOATS) {
      for (int width : WIDTHS) {
        HostTensor x = host(4, 2, 3, width);
        HostTensor gamma = host(5, width);
        HostTensor beta = host(6, width);
        compare(
            dtype,
            x,
            0x1p-19,
            0x1p-19,
            (ops, in) -> ops.layerNorm(in, ops.upload(gamma), cast(ops, beta, dtype), 1e-5f));
        compare(dtype, x, 0x1p-20, 0, (ops, in) -> ops.rmsNorm(in, ops.upload(gamma), 1e-6f));
        compare(dtype, x, 0x1p-20, 0, (ops, in) -> ops.l2Normalize(in));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(floats = {1e-40f, 1e-30f, 1e30f, Float.POSITIVE_INFINITY, Float.NaN, 0})
  void normsOfExtremeRowsAreTheReferences(float factor) {
    float[] values = host(7, 2, 19).toFloats();
    for (int i = 0; i < values.length; i++) {
      values[i] *= factor;
    }
    HostTensor x = HostTensor.of(values, 2, 19);
    HostTensor ones = host(8, 19);
    compare(
        DType.F32,
        x,
        0x1p-20,
        0x1p-20,
        (ops, in) -> ops.layerNorm(in, ops.upload(ones), ops.upload(ones), 1e-12f));
    compare(DType.F32, x, 0x1p-20, 0, (ops, in) -> ops.rmsNorm(in, ops.upload(ones), 1e-12f));
    compare(DType.F32, x, 0x1p-20, 0, (ops, in) -> ops.l2Normalize(in));
  }

  @Test
  void layerNormOfALargeMeanKeepsTheDifferences() {
    float[] values = host(9, 1, 384).toFloats();
    for (int i = 0; i < values.length; i++) {
      values[i] = 10_000 + values[i] / 4;
    }
    HostTensor ones = host(10, 384);
    compare(
        DType.F32,
        HostTensor.of(values, 1, 384),
        0x1p-18,
        0x1p-18,
        (ops, in) -> ops.layerNorm(in, ops.upload(ones), ops.upload(ones), 1e-12f));
  }

  @Test
  void softmaxStaysWithinItsBound() {
    for (DType dtype : FLOATS) {
      for (int width : WIDTHS) {
        HostTensor x = host(11, 2, 3, width);
        HostTensor lengths = HostTensor.of(new int[] {width / 2, width});
        for (boolean causal : new boolean[] {false, true}) {
          compare(
              dtype,
              x,
              0x1p-18,
              0x1p-149,
              (ops, in) -> ops.softmax(Softmax.of(in).scale(0.7f).causal(causal)));
          compare(
              dtype,
              x,
              0x1p-18,
              0x1p-149,
              (ops, in) ->
                  ops.softmax(
                      Softmax.of(in).scale(-2).causal(causal).lengths(ops.upload(lengths))));
        }
      }
    }
  }

  @Test
  void softmaxOfSpecialRowsIsTheReferences() {
    float inf = Float.POSITIVE_INFINITY;
    float[] values = {
      1, 2, Float.NaN, 3, 1, inf, 2, 3, -inf, 1, 2, -inf, -inf, -inf, -inf, -inf, 3e38f, 1, 2, 3e38f
    };
    for (float scale : new float[] {1, -1, 3}) {
      compare(
          DType.F32,
          HostTensor.of(values, 5, 4),
          0x1p-20,
          0x1p-149,
          (ops, in) -> ops.softmax(Softmax.of(in).scale(scale)));
    }
  }

  @Test
  void ropeRotatesBothKindsOfPairs() {
    for (DType dtype : FLOATS) {
      for (int width : new int[] {1, 2, 7, 32, 35, 70}) {
        for (boolean interleaved : new boolean[] {false, true}) {
          HostTensor x = host(12, 2, 5, width);
          HostTensor positions = HostTensor.of(new int[] {3, 0, 100_000, 7, 1});
          compare(
              dtype,
              x,
              0x1p-21,
              0x1p-20,
              (ops, in) -> ops.rope(Rope.of(in).interleaved(interleaved)));
          compare(
              dtype,
              x,
              0x1p-21,
              0x1p-20,
              (ops, in) ->
                  ops.rope(
                      Rope.of(in)
                          .dims(width / 4 * 2)
                          .interleaved(interleaved)
                          .positions(ops.upload(positions))));
        }
      }
    }
  }

  @Test
  void embeddingGathersRowsOfAnyFormat() {
    HostTensor table = host(13, 9, 70);
    HostTensor ids = HostTensor.of(new int[] {8, 0, 3, 3, 7, 1}, 2, 3);
    for (DType dtype : DType.values()) {
      if (dtype == DType.I32 || dtype == DType.F8_E8M0) {
        continue;
      }
      for (DType to : FLOATS) {
        compare(
            DType.F32,
            table,
            0,
            0,
            (ops, in) -> ops.embedding(ops.quantize(in, QuantSpec.of(dtype)), ops.upload(ids), to));
      }
    }
  }

  @Test
  void poolingTakesTheMeanOrTheFirst() {
    for (DType dtype : FLOATS) {
      for (int width : WIDTHS) {
        HostTensor x = host(14, 2, 5, width);
        HostTensor lengths = HostTensor.of(new int[] {5, 2});
        compare(
            dtype,
            x,
            0x1p-20,
            0x1p-20,
            (ops, in) -> ops.pool(in, Pooling.MEAN, ops.upload(lengths)));
        compare(dtype, x, 0x1p-20, 0x1p-20, (ops, in) -> ops.pool(in, Pooling.MEAN, null));
        compare(dtype, x, 0, 0, (ops, in) -> ops.pool(in, Pooling.FIRST, null));
      }
    }
  }

  @Test
  void operandsMayBeTurnedViews() {
    HostTensor x = host(15, 4, 33, 35);
    HostTensor row = host(16, 33);
    for (DType dtype : FLOATS) {
      compare(dtype, x, 0x1p-20, 0, (ops, in) -> ops.l2Normalize(in.transposed()));
      compare(dtype, x, 0x1p-20, 0, (ops, in) -> ops.l2Normalize(in.slice(2, 3, 30)));
      compare(dtype, x, 0, 0, (ops, in) -> ops.add(in.transposed(), cast(ops, row, dtype)));
      compare(
          dtype,
          x,
          0x1p-18,
          0x1p-149,
          (ops, in) -> ops.softmax(Softmax.of(in.transposed(0, 1).slice(0, 2, 9))));
    }
  }
}
