package dev.minifloat.contract;

import dev.minifloat.Activation;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.MxScaleRule;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.spi.BackendBase;
import dev.minifloat.spi.Kernels;

/** Products of matrices: the exact result, and the bound within which a backend must come. */
final class ProductOracle {
  private ProductOracle() {}

  /** What a product is followed by; C and bias are null for none. */
  record Epilogue(float alpha, float beta, Operand c, Operand bias, Activation activation) {
    static final Epilogue NONE = new Epilogue(1, 0, null, null, Activation.NONE);

    double addend(int at) {
      return c == null || beta == 0 ? 0 : (double) beta * c.values()[at];
    }

    double shift(int column) {
      return bias == null ? 0 : bias.values()[column];
    }

    boolean isPlain() {
      return alpha == 1 && (c == null || beta == 0) && bias == null;
    }
  }

  /** {@link #gemm(double, Operand, Operand, Epilogue)} of sums in F32. */
  static Bounded gemm(Operand a, Operand b, Epilogue epilogue) {
    return gemm(ErrorBounds.gamma(a.shape().columns() + 4), a, b, epilogue);
  }

  /** The same of sums as a backend's matrix products promise them. */
  static Bounded gemm(Backend backend, Operand a, Operand b, Epilogue epilogue) {
    return backend instanceof BackendBase
        ? gemm(
            Kernels.of(backend).gemmGamma(a.dtype(), b.dtype(), a.shape().columns()),
            a,
            b,
            epilogue)
        : gemm(a, b, epilogue);
  }

  /** D of two stacks of matrices whose batches are equal, or one where the other repeats it. */
  private static Bounded gemm(double gamma, Operand a, Operand b, Epilogue epilogue) {
    int m = (int) a.shape().rows();
    int k = (int) a.shape().columns();
    int n = (int) b.shape().columns();
    int batchA = (int) a.shape().batch();
    int batchB = (int) b.shape().batch();
    int batch = batchA == 1 ? batchB : batchA;
    double[] exact = new double[batch * m * n];
    double[] error = new double[exact.length];
    ExactSum sum = new ExactSum();
    for (int at = 0; at < exact.length; at++) {
      int column = at % n;
      int row = at / n % m;
      int matrix = at / n / m;
      int left = ((batchA == 1 ? 0 : matrix) * m + row) * k;
      int right = (batchB == 1 ? 0 : matrix) * k * n + column;
      sum.reset();
      if (epilogue.alpha != 0) {
        for (int i = 0; i < k; i++) {
          sum.add(a.values()[left + i], b.values()[right + i * n]);
        }
      }
      finish(
          epilogue,
          at,
          column,
          ErrorBounds.accumulation(gamma, k, sum.magnitude()),
          sum,
          exact,
          error);
    }
    return new Bounded(exact, error);
  }

  private static void finish(
      Epilogue epilogue,
      int at,
      int column,
      double bounded,
      ExactSum sum,
      double[] exact,
      double[] error) {
    double accumulation = epilogue.alpha == 0 ? 0 : bounded;
    double value = sum.value();
    double bound = accumulation;
    if (!epilogue.isPlain()) {
      double c = epilogue.addend(at);
      double bias = epilogue.shift(column);
      bound = ErrorBounds.epilogue(accumulation, Math.abs(value), epilogue.alpha, c, bias);
      value = epilogue.alpha * value + c + bias;
    }
    exact[at] = ScalarFunctions.activation(epilogue.activation, value);
    error[at] = ErrorBounds.activation(epilogue.activation, value, bound);
  }

  /** The specification of an unscaled output. */
  static QuantSpec unscaled(DType dtype) {
    return new QuantSpec(
        dtype,
        Scaling.none(),
        Rounding.NEAREST_EVEN,
        Overflow.defaultFor(dtype),
        MxScaleRule.FLOOR);
  }
}
