package dev.minifloat.contract;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Overflow;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.codec.BlockQuantizer;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;

/** Dot products and matrix-vector products, within the bound of FP32 accumulation. */
final class DotChecks {
  private static final String DOT = "dot";
  private static final String GEMV = "gemv";
  private static final int[] LENGTHS = {
    0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 131, 200, 259, 1000, 4099
  };

  private DotChecks() {}

  static void addTo(Collector to) {
    Backend backend = to.backend();
    for (DType a : Data.PRODUCT_TYPES) {
      for (DType b : Data.PRODUCT_TYPES) {
        to.addIf(
            to.supports(Op.DOT, a) && to.supports(Op.DOT, b),
            DOT,
            a + " · " + b,
            () -> unscaled(backend, a, b));
      }
      for (Scaling scaling : Formats.scalings(a)) {
        for (DType b : List.of(DType.F32, DType.BF16, DType.F8_E4M3)) {
          Scaling other = b == DType.F8_E4M3 ? Scaling.block(1, 128) : Scaling.none();
          to.addIf(
              to.supports(Op.DOT, a, scaling) && to.supports(Op.DOT, b, other),
              DOT,
              a + " " + scaling + " · " + b + " " + other,
              () -> scaled(backend, a, scaling, b, other));
        }
        to.addIf(
            to.supports(Op.DOT, a, scaling),
            DOT,
            a + " " + scaling + " with itself",
            () -> scaled(backend, a, scaling, a, scaling));
      }
    }
    specials(to);
    gemv(to);
  }

  private static void unscaled(Backend backend, DType a, DType b) {
    for (int n : LENGTHS) {
      pair(
          backend,
          Operand.random(n, a, Scaling.none(), n),
          Operand.random(n + 1L, b, Scaling.none(), n));
    }
    slices(backend, a, Scaling.none(), b, Scaling.none());
  }

  private static void scaled(Backend backend, DType a, Scaling as, DType b, Scaling bs) {
    for (int n : LENGTHS) {
      pair(backend, Operand.random(n, a, as, n), Operand.random(n + 1L, b, bs, n));
    }
    slices(backend, a, as, b, bs);
  }

  /** Views that begin at any element, in the middle of a byte too, rows and columns of matrices. */
  private static void slices(Backend backend, DType a, Scaling as, DType b, Scaling bs) {
    Operand x = Operand.random(101, a, as, 300);
    Operand y = Operand.random(102, b, bs, 300);
    for (int from : new int[] {1, 2, 3, 5, 33}) {
      pair(backend, x.slice(0, from, from + 129), y.slice(0, from + 2, from + 131));
    }
    Operand rows = Operand.random(103, a, as, 35, 67);
    for (int row : new int[] {0, 1, 34}) {
      pair(backend, rows.slice(0, row, row + 1), row, y.slice(0, 7, 74));
    }
    Operand column = rows.transposed().slice(0, 11, 12);
    pair(backend, column, 11, y.slice(0, 7, 42));
  }

  private static void pair(Backend backend, Operand a, Operand b) {
    try (Scope scope = backend.scope()) {
      check(a, b, scope.dot(a.on(scope), b.on(scope)));
    }
  }

  /** A matrix of one row as a vector: a slice of a contiguous matrix may be reshaped. */
  private static void pair(Backend backend, Operand a, int row, Operand b) {
    try (Scope scope = backend.scope()) {
      Tensor matrix = a.on(scope);
      if (matrix.isContiguous()) {
        Tensor vector = matrix.reshape(a.shape().columns());
        check(a, b, scope.dot(vector, b.on(scope)));
      } else {
        Tensor y = b.on(scope);
        HostTensor got = scope.download(scope.gemv(matrix, y));
        check(a, b, got.get(0));
      }
    } catch (ContractViolation e) {
      throw new ContractViolation("row " + row + ": " + e.getMessage(), e);
    }
  }

  private static void check(Operand a, Operand b, float actual) {
    int n = (int) b.shape().elements();
    Operand left = a.as(1, n);
    Operand right = b.as(n, 1);
    ProductOracle.gemm(left, right, ProductOracle.Epilogue.NONE)
        .requireAdmits("dot of " + a.label() + " and " + b.label(), actual);
  }

  private static void specials(Collector to) {
    Backend backend = to.backend();
    for (DType dtype : Data.FLOATS) {
      to.addIf(
          to.supports(Op.DOT, dtype),
          DOT,
          dtype + " NaN and infinities anywhere",
          () -> nonFinite(backend, dtype));
    }
    to.addIf(
        to.supports(Op.DOT, DType.F8_E5M2),
        DOT,
        "F8_E5M2 NaN and infinities anywhere",
        () -> nonFinite(backend, DType.F8_E5M2));
    to.addIf(
        to.supports(Op.DOT, DType.F16),
        DOT,
        "F16 partial sums beyond 65504",
        () -> {
          // 107 · (50 · 60) = 321000: far above F16's largest, exact in F32.
          Operand a = Operand.of(Data.floats(DType.F16, filled(107, 50), 107));
          Operand b = Operand.of(Data.floats(DType.F16, filled(107, 60), 107));
          pair(backend, a, b);
        });
    to.addIf(
        to.supports(Op.DOT, DType.F16),
        DOT,
        "F16 subnormals",
        () -> {
          int[] codes = new int[259];
          for (int i = 0; i < codes.length; i++) {
            codes[i] = (i * 37 % 0x3FF + 1) | (i % 3 == 0 ? 0x8000 : 0);
          }
          Operand a = Operand.of(Data.codes(DType.F16, codes, codes.length));
          pair(backend, a, Operand.random(5, DType.F32, Scaling.none(), codes.length));
          pair(backend, a, a);
        });
  }

  private static float[] filled(int n, float value) {
    float[] values = new float[n];
    Arrays.fill(values, value);
    return values;
  }

  private static void nonFinite(Backend backend, DType dtype) {
    for (int n : new int[] {1, 5, 16, 67, 131}) {
      for (int at = 0; at < n; at += Math.max(1, n / 9)) {
        float[] ones = filled(n, 1);
        float[] values = filled(n, 1);
        values[at] = Float.POSITIVE_INFINITY;
        expect(backend, dtype, values, ones, Float.POSITIVE_INFINITY, at);
        values[at] = Float.NaN;
        expect(backend, dtype, values, ones, Float.NaN, at);
        values[at] = Float.NEGATIVE_INFINITY;
        expect(backend, dtype, values, ones, Float.NEGATIVE_INFINITY, at);
        ones[at] = 0;
        expect(backend, dtype, values, ones, Float.NaN, at);
      }
    }
  }

  private static void expect(
      Backend backend, DType dtype, float[] a, float[] b, float expected, int at) {
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(ieee(dtype, a));
      Tensor y = scope.upload(ieee(dtype, b));
      String what = "%s [%d], %s at %d".formatted(dtype, a.length, a[at], at);
      Compare.sameValue("dot of " + what, expected, scope.dot(x, y));
      Compare.sameValue("dot, turned, of " + what, expected, scope.dot(y, x));
      Tensor product = scope.gemv(x.reshape(1, a.length), y);
      Compare.sameValue("gemv of " + what, expected, scope.download(product).get(0));
    }
  }

  private static HostTensor ieee(DType dtype, float[] values) {
    return BlockQuantizer.convert(
        Arena.ofAuto(), HostTensor.of(values), dtype, Rounding.NEAREST_EVEN, Overflow.IEEE);
  }

  private static void gemv(Collector to) {
    Backend backend = to.backend();
    for (DType a : Data.PRODUCT_TYPES) {
      for (Scaling scaling : Formats.scalingsAndNone(a)) {
        for (DType x : List.of(DType.F32, DType.BF16, DType.F8_E4M3)) {
          to.addIf(
              to.supports(Op.GEMV, a, scaling) && to.supports(Op.GEMV, x),
              GEMV,
              a + " " + scaling + " × " + x,
              () -> gemv(backend, a, scaling, x));
        }
      }
    }
  }

  private static void gemv(Backend backend, DType a, Scaling scaling, DType x) {
    int[][] shapes = {
      {1, 1}, {0, 3}, {3, 0}, {1, 200}, {63, 17}, {5, 131}, {17, 259}, {2, 1025}, {130, 15}
    };
    for (int[] shape : shapes) {
      Operand matrix = Operand.random(7, a, scaling, shape[0], shape[1]);
      gemv(backend, matrix, Operand.random(8, x, Scaling.none(), shape[1]));
      gemv(backend, matrix.transposed(), Operand.random(9, x, Scaling.none(), shape[0]));
    }
    Operand wide = Operand.random(10, a, scaling, 40, 150);
    Operand vector = Operand.random(11, x, Scaling.none(), 150);
    gemv(backend, wide.slice(0, 3, 34).slice(1, 5, 136), vector.slice(0, 7, 138));
  }

  private static void gemv(Backend backend, Operand a, Operand x) {
    Operand column = x.as(x.shape().elements(), 1);
    try (Scope scope = backend.scope()) {
      HostTensor got = scope.download(scope.gemv(a.on(scope), x.on(scope)));
      String what = "gemv of " + a.label() + " and " + x.label();
      Compare.equal(what + ": dtype", DType.F32, got.dtype());
      Compare.equal(what + ": shape", Shape.of(a.shape().rows()), got.shape());
      ProductOracle.gemm(a, column, ProductOracle.Epilogue.NONE).requireAdmits(what, got);
    }
  }
}
