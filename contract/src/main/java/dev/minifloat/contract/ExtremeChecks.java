package dev.minifloat.contract;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.Op;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rope;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Extents beyond an int around no elements, and factors at the ends of F32's range. */
final class ExtremeChecks {
  private static final String GROUP = "extremes";
  private static final long HUGE = 1L << 40;

  private ExtremeChecks() {}

  static void addTo(Collector to) {
    Backend backend = to.backend();
    to.addIf(
        to.supports(Op.SOFTMAX, DType.F32) && to.supports(Op.UPLOAD, DType.I32),
        GROUP,
        "softmax of no rows by lengths",
        () -> noRows(backend));
    to.addIf(
        to.supports(Op.SOFTMAX, DType.F32)
            && to.supports(Op.L2_NORMALIZE, DType.F32)
            && to.supports(Op.ROPE, DType.F32)
            && to.supports(Op.GEMM, DType.F32),
        GROUP,
        "no elements of huge extents",
        () -> noElements(backend));
    for (Scaling scaling : QuantizeChecks.SCALINGS) {
      DType dtype = scaling.isValidFor(DType.F8_E4M3) ? DType.F8_E4M3 : DType.F4_E2M1;
      to.addIf(
          to.supports(Op.QUANTIZE, DType.F32) && to.supports(Op.QUANTIZE, dtype, scaling),
          GROUP,
          "quantize no elements of huge extents by " + scaling,
          () -> quantizeNothing(backend, QuantSpec.of(dtype).scaling(scaling)));
    }
    to.addIf(
        to.supports(Op.UPLOAD, DType.F32) && to.supports(Op.GEMM, DType.F32),
        GROUP,
        "a result beyond all memory",
        () -> tooLarge(backend));
    to.addIf(
        to.supports(Op.SOFTMAX, DType.F32),
        GROUP,
        "softmax with huge factors",
        () -> softmax(backend));
    to.addIf(to.supports(Op.RMS_NORM, DType.F32), GROUP, "rmsNorm", () -> rms(backend));
  }

  private static Tensor nothing(Scope scope, long... dims) {
    return scope.upload(HostTensor.wrap(DType.F32, Shape.of(dims), MemorySegment.NULL));
  }

  private static void noRows(Backend backend) {
    try (Scope scope = backend.scope()) {
      Tensor lengths = scope.upload(Data.ints(new int[0], 0));
      for (Tensor x : List.of(nothing(scope, 0, 4), nothing(scope, 0, 3, 4))) {
        Tensor y = scope.softmax(Softmax.of(x).lengths(lengths));
        Compare.equal("shape of softmax", x.shape(), y.shape());
      }
    }
  }

  private static void noElements(Backend backend) {
    try (Scope scope = backend.scope()) {
      for (Tensor x : List.of(nothing(scope, 0, HUGE), nothing(scope, HUGE, 0))) {
        Compare.equal("softmax", x.shape(), scope.softmax(Softmax.of(x)).shape());
        Compare.equal("l2Normalize", x.shape(), scope.l2Normalize(x).shape());
        Compare.equal("rope", x.shape(), scope.rope(Rope.of(x).dims(0)).shape());
        Compare.equal("dequantize", x.shape(), scope.dequantize(x).shape());
        Compare.equal("amax", 0f, scope.amax(x));
      }
      Tensor wide = nothing(scope, 0, HUGE);
      Tensor none = scope.gemm(Gemm.of(wide, wide.transposed()));
      Compare.equal("gemm of no rows", Shape.of(0, 0), none.shape());
    }
  }

  /** The grid decides how many scales there are; where they are too many, memory is refused. */
  private static void quantizeNothing(Backend backend, QuantSpec spec) {
    try (Scope scope = backend.scope()) {
      for (Tensor x : List.of(nothing(scope, 0, HUGE), nothing(scope, HUGE, 0))) {
        boolean few = spec.scaling().grid(x.shape()).scales() < 2;
        try {
          Compare.equal("quantize", x.shape(), scope.quantize(x, spec).shape());
        } catch (MinifloatException e) {
          if (few) {
            throw e;
          }
        }
      }
    }
  }

  private static void tooLarge(Backend backend) {
    try (Scope scope = backend.scope()) {
      Tensor x = nothing(scope, HUGE, 0);
      try {
        scope.gemm(Gemm.of(x, x.transposed().slice(1, 0, 4)));
      } catch (MinifloatException e) {
        if (!e.getMessage().contains("allocate")) {
          throw new ContractViolation("a result of 16 TiB: \"" + e.getMessage() + '"', e);
        }
        return;
      }
      throw new ContractViolation("a result of 16 TiB was allocated");
    }
  }

  /** The products pass F32's range, or its digits: the largest still wins. */
  private static void softmax(Backend backend) {
    float most = Float.MAX_VALUE;
    for (float scale : new float[] {most, 3e38f, 1e30f, 1.1e10f, 0x1.234568p31f}) {
      softmax(backend, new float[] {2, 1, 0.7f, -3, 1.9f}, scale, 0);
      softmax(backend, new float[] {-0.3f, -0.7f, -0.1f, -2}, scale, 2);
      softmax(backend, new float[] {0.3f, 0.7f, 0.1f, -0.3f}, -scale, 3);
      softmax(backend, new float[] {most, -most, 0}, scale, 0);
    }
  }

  private static void softmax(Backend backend, float[] few, float scale, int largest) {
    int n = 41;
    float[] values = new float[n];
    for (int i = 0; i < n; i++) {
      values[i] = few[i < few.length ? i : (largest + 1) % few.length];
    }
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(HostTensor.of(values));
      HostTensor y = scope.download(scope.softmax(Softmax.of(x).scale(scale)));
      for (int i = 0; i < n; i++) {
        Compare.sameValue(
            "softmax of %s of %s …, scale %s".formatted(values[i], values[0], scale),
            i == largest ? 1 : 0,
            y.get(i));
      }
    }
  }

  /** What a small element loses to a large neighbour, a large gamma may bring back. */
  private static void rms(Backend backend) {
    float inf = Float.POSITIVE_INFINITY;
    for (float large : new float[] {1, 1e10f, 1e18f, 3e38f}) {
      for (float gamma : new float[] {1, 2, 3, 1e20f, 1e38f, Float.MAX_VALUE, inf, -inf}) {
        for (float epsilon : new float[] {Float.MIN_VALUE, 1e-5f, 1e30f}) {
          rms(backend, large, gamma, epsilon);
        }
      }
    }
  }

  private static void rms(Backend backend, float large, float gamma, float epsilon) {
    int n = 37;
    float[] x = new float[n];
    float[] factors = new float[n];
    for (int i = 0; i < n; i++) {
      x[i] = i % 5 == 0 ? large : (i % 2 == 0 ? 1 : -1) * Math.scalb(1.3f, -4 * i);
      factors[i] = i % 3 == 0 ? 1 : gamma;
    }
    double[] values = new double[n];
    double[] gammas = new double[n];
    for (int i = 0; i < n; i++) {
      values[i] = x[i];
      gammas[i] = factors[i];
    }
    double[] exact = new double[n];
    double[] error = new double[n];
    RowOracle.rmsNorm(values, 0, gammas, epsilon, exact, error);
    try (Scope scope = backend.scope()) {
      Tensor y =
          scope.rmsNorm(
              scope.upload(HostTensor.of(x)), scope.upload(HostTensor.of(factors)), epsilon);
      String what = "rmsNorm up to %s, gamma %s, epsilon %s".formatted(large, gamma, epsilon);
      new Bounded(exact, error).requireAdmits(what, scope.download(y));
    }
  }
}
