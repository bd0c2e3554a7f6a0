package dev.minifloat.contract;

import dev.minifloat.Activation;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.BlockQuantizer;
import dev.minifloat.contract.Formats.Format;
import dev.minifloat.contract.ProductOracle.Epilogue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What follows a product: factors, C, bias, activation, output, amax; and what isn't a number. */
final class GemmEpilogueChecks {
  private static final String GROUP = GemmChecks.GROUP;
  private static final int M = 21;
  private static final int N = 35;
  private static final int K = 50;

  private GemmEpilogueChecks() {}

  static void addTo(Collector to) {
    Backend backend = to.backend();
    List<Format> formats =
        List.of(
            new Format(DType.F32, Scaling.none()),
            new Format(DType.F16, Scaling.none()),
            new Format(DType.BF16, Scaling.none()),
            new Format(DType.F8_E4M3, Scaling.rows()),
            new Format(DType.F4_E2M1, Scaling.nvfp4()));
    for (Format format : formats) {
      boolean supported = to.supports(Op.GEMM, format.dtype(), format.scaling());
      to.addIf(supported, GROUP, format + " alpha and beta", () -> factors(backend, format));
      to.addIf(supported, GROUP, format + " activations", () -> activations(backend, format));
      to.addIf(supported, GROUP, format + " amax of D", () -> amax(backend, format));
      to.addIf(supported, GROUP, format + " views of C and bias", () -> views(backend, format));
    }
    for (Format output : outputs()) {
      to.addIf(
          to.supports(Op.GEMM, output.dtype(), output.scaling())
              && to.supports(Op.QUANTIZE, output.dtype(), output.scaling())
              && to.supports(Op.GEMM, DType.F32),
          GROUP,
          "output " + output,
          () -> output(backend, output));
    }
    boolean f32 = to.supports(Op.GEMM, DType.F32);
    boolean f16 = to.supports(Op.GEMM, DType.F16);
    to.addIf(f32, GROUP, "NaN and infinities go where they belong", () -> nonFinite(backend));
    to.addIf(f32, GROUP, "alpha 0 reads neither A nor B", () -> alphaZero(backend));
    to.addIf(f32, GROUP, "beta 0 does not read C", () -> betaZero(backend));
    to.addIf(f32, GROUP, "K 0 leaves C and bias", () -> noInner(backend));
    to.addIf(f32, GROUP, "zero product keeps every bit of C", () -> keepsC(backend));
    to.addIf(f16, GROUP, "F16 partial sums beyond 65504", () -> largeSums(backend));
    to.addIf(f32, GROUP, "output beyond the largest value", () -> overflow(backend));
    to.addIf(f32, GROUP, "batches of several dimensions", () -> crossed(backend));
    to.addIf(f32 && f16, GROUP, "several products at once", () -> grouped(backend));
  }

  private static List<Format> outputs() {
    List<Format> outputs = new ArrayList<>();
    for (DType dtype : Data.FLOATS) {
      outputs.add(new Format(dtype, Scaling.none()));
    }
    for (DType dtype : List.of(DType.F8_E4M3, DType.F8_E5M2, DType.F6_E2M3, DType.I8)) {
      outputs.add(new Format(dtype, Scaling.rows()));
    }
    outputs.add(new Format(DType.F8_E4M3, Scaling.none()));
    outputs.add(new Format(DType.F8_E4M3, Scaling.tensor()));
    outputs.add(new Format(DType.F8_E4M3, Scaling.block(1, 128)));
    outputs.add(new Format(DType.F8_E4M3, Scaling.mx()));
    outputs.add(new Format(DType.F4_E2M1, Scaling.mx()));
    return outputs;
  }

  private static Operand floats(long seed, DType dtype, long... dims) {
    return Operand.random(seed, dtype, Scaling.none(), dims);
  }

  private static void factors(Backend backend, Format format) {
    Operand a = GemmChecks.random(1, format, M, K);
    Operand b = GemmChecks.random(2, format, K, N);
    float[][] factors = {{1, 1}, {0.7f, 0}, {-1.3f, 0.3f}, {0, 2}, {1, -1}, {1e-3f, 1e3f}};
    for (float[] factor : factors) {
      for (DType dtype : Data.FLOATS) {
        Operand c = floats(3, dtype, M, N);
        Operand bias = floats(4, dtype, N);
        verify(backend, a, b, factor[0], factor[1], c, bias, Activation.NONE, DType.F32);
        verify(backend, a, b, factor[0], factor[1], c, null, Activation.NONE, dtype);
      }
    }
  }

  private static void activations(Backend backend, Format format) {
    Operand a = GemmChecks.random(5, format, M, K);
    Operand b = GemmChecks.random(6, format, K, N);
    Operand bias = floats(7, DType.F32, N);
    for (Activation activation : Activation.values()) {
      for (DType output : Data.FLOATS) {
        verify(backend, a, b, 0.25f, 0, null, bias, activation, output);
      }
      verify(backend, a, b, 1, 0.5f, floats(8, DType.F32, M, N), bias, activation, DType.F32);
    }
  }

  private static void views(Backend backend, Format format) {
    Operand a = GemmChecks.random(9, format, M, K);
    Operand b = GemmChecks.random(10, format, K, N);
    Operand c = floats(11, DType.F32, N, M).transposed();
    Operand bias = floats(12, DType.BF16, N + 9).slice(0, 3, N + 3);
    verify(backend, a, b, 1, 1, c, bias, Activation.NONE, DType.F32);
    Operand cut = floats(13, DType.F16, M + 4, N + 5).slice(0, 3, M + 3).slice(1, 5, N + 5);
    verify(backend, a, b, 1, 1, cut, null, Activation.RELU, DType.F32);
    // A batch whose C differs for each product.
    Operand stack = GemmChecks.random(14, format, 3, M, K);
    verify(
        backend, stack, b, 1, 1, floats(15, DType.F32, 3, M, N), bias, Activation.NONE, DType.F32);
  }

  private static void verify(
      Backend backend,
      Operand a,
      Operand b,
      float alpha,
      float beta,
      Operand c,
      Operand bias,
      Activation activation,
      DType output) {
    Epilogue epilogue = new Epilogue(alpha, beta, c, bias, activation);
    try (Scope scope = backend.scope()) {
      Gemm gemm =
          Gemm.of(a.on(scope), b.on(scope)).alpha(alpha).activation(activation).output(output);
      if (c != null) {
        gemm = gemm.plus(beta, c.on(scope));
      }
      if (bias != null) {
        gemm = gemm.bias(bias.on(scope));
      }
      HostTensor got = scope.download(scope.gemm(gemm));
      String what =
          "gemm of %s and %s, alpha %s, beta %s, C %s, bias %s, %s, output %s"
              .formatted(
                  a.label(), b.label(), alpha, beta, label(c), label(bias), activation, output);
      Compare.equal(what + ": dtype", output, got.dtype());
      Compare.equal(what + ": shape", GemmChecks.shapeOf(a, b), got.shape());
      ProductOracle.gemm(backend, a, b, epilogue).requireAdmits(what, got);
    }
  }

  private static String label(Operand operand) {
    return operand == null ? "none" : operand.label();
  }

  /** The amax is of the F32 values: within the bound of the element that is the largest. */
  private static void amax(Backend backend, Format format) {
    Operand a = GemmChecks.random(16, format, M, K);
    Operand b = GemmChecks.random(17, format, K, N);
    Bounded oracle = ProductOracle.gemm(backend, a, b, Epilogue.NONE);
    double least = 0;
    double most = 0;
    for (int i = 0; i < oracle.exact().length; i++) {
      least = Math.max(least, Math.abs(oracle.exact()[i]) - oracle.error()[i]);
      most = Math.max(most, Math.abs(oracle.exact()[i]) + oracle.error()[i]);
    }
    for (DType output : Data.FLOATS) {
      try (Scope scope = backend.scope()) {
        Tensor amax = scope.upload(HostTensor.of(new float[] {-7}));
        Gemm gemm = Gemm.of(a.on(scope), b.on(scope)).output(output).amax(amax);
        HostTensor d = scope.download(scope.gemm(gemm));
        float got = scope.download(amax).get(0);
        if (got < least || got > most) {
          throw new ContractViolation(
              "amax of gemm of %s and %s, output %s: is %s, expected %s to %s"
                  .formatted(a.label(), b.label(), output, got, least, most));
        }
        if (output == DType.F32) {
          Compare.sameValue("amax of D in F32", BlockQuantizer.amax(d), got);
        }
      }
    }
  }

  private static void output(Backend backend, Format output) {
    Operand a = floats(18, DType.F32, M, K);
    Operand b = floats(19, DType.F32, K, 150);
    Operand bias = floats(20, DType.F32, 150);
    QuantSpec spec =
        output.scaling() instanceof Scaling.None
            ? ProductOracle.unscaled(output.dtype())
            : QuantSpec.of(output.dtype()).scaling(output.scaling());
    for (Activation activation : List.of(Activation.NONE, Activation.SILU)) {
      Bounded oracle =
          ProductOracle.gemm(backend, a, b, new Epilogue(1, 0, null, bias, activation));
      try (Scope scope = backend.scope()) {
        Gemm gemm =
            Gemm.of(a.on(scope), b.on(scope))
                .bias(bias.on(scope))
                .activation(activation)
                .output(spec);
        HostTensor got = scope.download(scope.gemm(gemm));
        String what = "gemm of " + a.label() + " and " + b.label() + ", output " + spec;
        Compare.equal(what + ": dtype", output.dtype(), got.dtype());
        Compare.equal(what + ": scaling", output.scaling(), got.scaling());
        Compare.equal(what + ": shape", Shape.of(M, 150), got.shape());
        if (output.scaling() instanceof Scaling.None) {
          oracle.requireAdmits(what, got);
        } else {
          oracle.requireAdmitsQuantized(what, got, spec);
        }
      }
    }
  }

  /** A NaN or Inf in A touches its row, one in B its column, and nothing else. */
  private static void nonFinite(Backend backend) {
    for (float special : new float[] {Float.NaN, Float.POSITIVE_INFINITY}) {
      for (int at : new int[] {0, 7, 16, K - 1}) {
        float[] left = ones(M * K);
        float[] right = ones(K * N);
        left[5 * K + at] = special;
        right[at * N + 3] = -special;
        try (Scope scope = backend.scope()) {
          Tensor a = scope.upload(HostTensor.of(left, M, K));
          Tensor b = scope.upload(HostTensor.of(right, K, N));
          HostTensor d = scope.download(scope.gemm(Gemm.of(a, b)));
          for (int i = 0; i < M * N; i++) {
            boolean row = i / N == 5;
            boolean column = i % N == 3;
            float expected = row ? column ? special * -special : special : column ? -special : K;
            Compare.sameValue(
                "gemm with %s at A[5, %d] and B[%d, 3]: element %d".formatted(special, at, at, i),
                expected,
                d.get(i));
          }
        }
      }
    }
  }

  private static float[] ones(int n) {
    return filled(n, 1);
  }

  private static float[] filled(int n, float value) {
    float[] values = new float[n];
    Arrays.fill(values, value);
    return values;
  }

  private static void alphaZero(Backend backend) {
    try (Scope scope = backend.scope()) {
      Tensor a = scope.upload(HostTensor.of(filled(M * K, Float.NaN), M, K));
      Tensor b = scope.upload(HostTensor.of(filled(K * N, Float.POSITIVE_INFINITY), K, N));
      Tensor c = scope.upload(HostTensor.of(filled(M * N, 3), M, N));
      expectAll("alpha 0", 6, scope.download(scope.gemm(Gemm.of(a, b).alpha(0).plus(2, c))));
      expectAll("alpha 0, no C", 0, scope.download(scope.gemm(Gemm.of(a, b).alpha(0))));
    }
  }

  private static void betaZero(Backend backend) {
    try (Scope scope = backend.scope()) {
      Tensor a = scope.upload(HostTensor.of(ones(M * K), M, K));
      Tensor b = scope.upload(HostTensor.of(ones(K * N), K, N));
      Tensor c = scope.upload(HostTensor.of(filled(M * N, Float.NaN), M, N));
      expectAll("beta 0", K, scope.download(scope.gemm(Gemm.of(a, b).plus(0, c))));
    }
  }

  private static void noInner(Backend backend) {
    try (Scope scope = backend.scope()) {
      Tensor a = scope.upload(HostTensor.of(new float[0], M, 0));
      Tensor b = scope.upload(HostTensor.of(new float[0], 0, N));
      Tensor c = scope.upload(HostTensor.of(filled(M * N, 3), M, N));
      Tensor bias = scope.upload(HostTensor.of(filled(N, 0.5f), N));
      Gemm gemm = Gemm.of(a, b).plus(2, c).bias(bias);
      expectAll("K 0", 6.5f, scope.download(scope.gemm(gemm)));
      expectAll("K 0, no C", 0, scope.download(scope.gemm(Gemm.of(a, b))));
    }
  }

  /** A narrower accumulator that begins with C would lose its last bits. */
  private static void keepsC(Backend backend) {
    float c = Float.intBitsToFloat(0x3F800200);
    try (Scope scope = backend.scope()) {
      Tensor a = scope.upload(HostTensor.of(new float[M * K], M, K));
      Tensor b = scope.upload(HostTensor.of(new float[K * N], K, N));
      Tensor addend = scope.upload(HostTensor.of(filled(M * N, c), M, N));
      expectAll("0 · 0 + C", c, scope.download(scope.gemm(Gemm.of(a, b).plus(1, addend))));
    }
  }

  private static void largeSums(Backend backend) {
    // 107 · (50 · 60) = 321000.
    try (Scope scope = backend.scope()) {
      Tensor a = scope.upload(Data.floats(DType.F16, filled(M * 107, 50), M, 107));
      Tensor b = scope.upload(Data.floats(DType.F16, filled(107 * N, 60), 107, N));
      expectAll("F16 sums", 321_000, scope.download(scope.gemm(Gemm.of(a, b))));
      Gemm scaled = Gemm.of(a, b).alpha(0.125f).output(DType.F16);
      expectAll("F16 sums · 1/8", 40_128, scope.download(scope.gemm(scaled)));
    }
  }

  private static void overflow(Backend backend) {
    try (Scope scope = backend.scope()) {
      Tensor a = scope.upload(HostTensor.of(filled(M * K, 1000), M, K));
      Tensor b = scope.upload(HostTensor.of(filled(K * N, 1000), K, N));
      Gemm gemm = Gemm.of(a, b);
      expectAll(
          "F16 output",
          Float.POSITIVE_INFINITY,
          scope.download(scope.gemm(gemm.output(DType.F16))));
      if (backend.supports(Op.GEMM, DType.F8_E4M3, Scaling.none())) {
        expectAll("E4M3 output", 448, scope.download(scope.gemm(gemm.output(DType.F8_E4M3))));
      }
    }
  }

  private static void expectAll(String what, float expected, HostTensor d) {
    for (long i = 0; i < d.shape().elements(); i++) {
      Compare.sameValue("gemm, " + what + ": element " + i + " of " + d, expected, d.get(i));
    }
  }

  /** [2, 1, …] and [1, 3, …] make [2, 3, …]. */
  private static void crossed(Backend backend) {
    Operand a = floats(21, DType.F32, 2, 1, 5, 33);
    Operand b = floats(22, DType.F32, 1, 3, 33, 6);
    try (Scope scope = backend.scope()) {
      Tensor d = scope.gemm(Gemm.of(a.on(scope), b.on(scope)));
      Compare.equal("crossed batches: shape", Shape.of(2, 3, 5, 6), d.shape());
      for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 3; j++) {
          HostTensor got = scope.download(d.slice(0, i, i + 1).slice(1, j, j + 1));
          ProductOracle.gemm(backend, a.slice(0, i, i + 1), b.slice(1, j, j + 1), Epilogue.NONE)
              .requireAdmits("crossed batches, product " + i + ", " + j, got);
        }
      }
    }
  }

  private static void grouped(Backend backend) {
    Operand a = floats(23, DType.F32, 4, 19);
    Operand b = floats(24, DType.F16, 19, 7);
    Operand c = floats(25, DType.F32, 31, 3);
    Operand d = floats(26, DType.F32, 3, 12);
    try (Scope scope = backend.scope()) {
      List<Tensor> results =
          scope.gemms(
              List.of(
                  Gemm.of(a.on(scope), b.on(scope)),
                  Gemm.of(c.on(scope), d.on(scope)).output(DType.BF16)));
      Compare.equal("gemms: results", 2, results.size());
      ProductOracle.gemm(backend, a, b, Epilogue.NONE)
          .requireAdmits("first of gemms", scope.download(results.get(0)));
      ProductOracle.gemm(backend, c, d, Epilogue.NONE)
          .requireAdmits("second of gemms", scope.download(results.get(1)));
      Compare.equal("gemms: second dtype", DType.BF16, results.get(1).dtype());
    }
  }
}
