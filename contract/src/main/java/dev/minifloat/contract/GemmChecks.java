package dev.minifloat.contract;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.Tensor;
import dev.minifloat.contract.Formats.Format;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Matrix products: formats, transpositions, shapes and views, within the bound of FP32. */
final class GemmChecks {
  static final String GROUP = "gemm";

  /** M, N, K: what broke other kernels. */
  private static final int[][] SHAPES = {
    {1, 1, 1},
    {0, 3, 4},
    {3, 0, 4},
    {3, 4, 0},
    {1, 17, 33},
    {17, 1, 33},
    {63, 17, 200},
    {64, 64, 64},
    {65, 33, 15},
    {5, 129, 17},
    {13, 29, 257},
    {2, 3, 1025}
  };

  /** Matrices of a large batch: two more than a grid of CUDA's has layers. */
  private static final int MANY = 65_537;

  private GemmChecks() {}

  static void addTo(Collector to) {
    formats(to);
    Backend backend = to.backend();
    for (Format format : transposedFormats()) {
      boolean supported = to.supports(Op.GEMM, format.dtype(), format.scaling());
      to.addIf(supported, GROUP, format + " transpositions", () -> transpositions(backend, format));
      to.addIf(supported, GROUP, format + " shapes", () -> shapes(backend, format));
      to.addIf(supported, GROUP, format + " leading dimensions", () -> leading(backend, format));
      to.addIf(supported, GROUP, format + " batches", () -> batches(backend, format));
    }
    for (Format format : Formats.PARTNERS) {
      to.addIf(
          to.supports(Op.GEMM, format.dtype(), format.scaling()),
          GROUP,
          format + " long K",
          () -> {
            int k = to.full() ? 20_011 : 4_099;
            product(backend, random(1, format, 3, k), random(2, format, 5, k).transposed());
            product(backend, random(3, format, 33, 513), random(4, format, 513, 7));
          });
    }
    to.addIf(
        to.supports(Op.GEMM, DType.F32), GROUP, "65,537 matrices", () -> manyMatrices(backend));
    GemmEpilogueChecks.addTo(to);
  }

  private static List<Format> transposedFormats() {
    return List.of(
        new Format(DType.F32, Scaling.none()),
        new Format(DType.F16, Scaling.none()),
        new Format(DType.BF16, Scaling.none()),
        new Format(DType.F8_E4M3, Scaling.rows()),
        new Format(DType.F8_E5M2, Scaling.columns()),
        new Format(DType.F8_E4M3, Scaling.block(128, 128)),
        new Format(DType.F8_E4M3, Scaling.mx()),
        new Format(DType.F6_E2M3, Scaling.mx()),
        new Format(DType.F6_E3M2, Scaling.tensor()),
        new Format(DType.F4_E2M1, Scaling.mx()),
        new Format(DType.F4_E2M1, Scaling.nvfp4()),
        new Format(DType.I8, Scaling.rows()),
        new Format(DType.I4, Scaling.block(1, 32)));
  }

  /** Every format on either side; all pairs in a full run. */
  private static void formats(Collector to) {
    Set<List<Format>> pairs = new LinkedHashSet<>();
    for (Format format : Formats.all()) {
      for (Format partner : to.full() ? Formats.all() : Formats.PARTNERS) {
        pairs.add(List.of(format, partner));
        pairs.add(List.of(partner, format));
      }
    }
    for (List<Format> pair : pairs) {
      Format a = pair.get(0);
      Format b = pair.get(1);
      to.addIf(
          to.supports(Op.GEMM, a.dtype(), a.scaling())
              && to.supports(Op.GEMM, b.dtype(), b.scaling()),
          GROUP,
          a + " × " + b + " 19×17×200",
          () -> {
            product(to.backend(), random(1, a, 19, 200), random(2, b, 200, 17));
            // As weights lie: [out, in], transposed.
            product(to.backend(), random(3, a, 9, 200), random(4, b, 7, 200).transposed());
          });
    }
  }

  static Operand random(long seed, Format format, long... dims) {
    return Operand.random(seed, format.dtype(), format.scaling(), dims);
  }

  private static void transpositions(Backend backend, Format format) {
    int m = 35;
    int n = 18;
    int k = 67;
    Operand a = random(11, format, m, k);
    Operand b = random(12, format, k, n);
    Operand turnedA = random(13, format, k, m).transposed();
    Operand turnedB = random(14, format, n, k).transposed();
    product(backend, a, b);
    product(backend, a, turnedB);
    product(backend, turnedA, b);
    product(backend, turnedA, turnedB);
  }

  private static void shapes(Backend backend, Format format) {
    for (int[] shape : SHAPES) {
      Operand a = random(21, format, shape[0], shape[2]);
      Operand b = random(22, format, shape[2], shape[1]);
      product(backend, a, b);
      product(backend, a, random(23, format, shape[1], shape[2]).transposed());
    }
  }

  /** Leading dimensions beyond the columns, even, odd and prime, and starts inside a byte. */
  private static void leading(Backend backend, Format format) {
    Operand wide = random(31, format, 40, 101);
    Operand tall = random(32, format, 103, 44);
    for (int from : new int[] {0, 1, 2, 3, 7}) {
      Operand a = wide.slice(0, from, from + 21).slice(1, from, from + 67);
      Operand b = tall.slice(0, from + 1, from + 68).slice(1, from, from + 19);
      product(backend, a, b);
      product(backend, b.transposed(), a.transposed());
    }
  }

  private static void batches(Backend backend, Format format) {
    Operand three = random(41, format, 3, 9, 33);
    product(backend, three, random(42, format, 3, 33, 10));
    product(backend, three, random(43, format, 33, 10));
    product(backend, three, random(44, format, 1, 33, 10));
    product(backend, random(45, format, 9, 33), random(46, format, 3, 33, 10));
    product(backend, random(47, format, 2, 3, 4, 33), random(48, format, 2, 3, 5, 33).transposed());
    product(backend, random(49, format, 0, 4, 33), random(50, format, 33, 5));
    Operand heads = random(51, format, 6, 4, 33);
    product(backend, heads.slice(0, 1, 4), three.transposed());
  }

  private static void manyMatrices(Backend backend) {
    float[] a = new float[MANY];
    float[] b = new float[MANY];
    for (int i = 0; i < MANY; i++) {
      a[i] = i % 251 - 125;
      b[i] = i % 13 + 1;
    }
    try (Scope scope = backend.scope()) {
      Tensor left = scope.upload(HostTensor.of(a, MANY, 1, 1));
      Tensor right = scope.upload(HostTensor.of(b, MANY, 1, 1));
      HostTensor d = scope.download(scope.gemm(Gemm.of(left, right)));
      for (int i = 0; i < MANY; i++) {
        Compare.sameValue("gemm of many matrices, product " + i, a[i] * b[i], d.get(i));
      }
    }
  }

  /** A plain product, F32 output. */
  static void product(Backend backend, Operand a, Operand b) {
    try (Scope scope = backend.scope()) {
      HostTensor got = scope.download(scope.gemm(Gemm.of(a.on(scope), b.on(scope))));
      String what = "gemm of " + a.label() + " and " + b.label();
      Compare.equal(what + ": dtype", DType.F32, got.dtype());
      Compare.equal(what + ": shape", shapeOf(a, b), got.shape());
      ProductOracle.gemm(backend, a, b, ProductOracle.Epilogue.NONE).requireAdmits(what, got);
    }
  }

  static Shape shapeOf(Operand a, Operand b) {
    int rankA = a.shape().rank();
    int rankB = b.shape().rank();
    boolean asB = rankA < rankB || (rankA == rankB && a.shape().batch() == 1);
    Shape shape = asB ? b.shape() : a.shape();
    return shape.with(-2, a.shape().rows()).with(-1, b.shape().columns());
  }
}
