package dev.minifloat.contract;

import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.contract.Formats.Format;

/**
 * Packed right operands: the same tensor to every operation, products within the bound, and the
 * same bits each time.
 */
final class PackChecks {
  private static final String GROUP = "pack";

  /** M, N, K. */
  private static final int[][] SHAPES = {
    {1, 1, 1},
    {3, 0, 4},
    {0, 3, 4},
    {3, 4, 0},
    {1, 17, 33},
    {6, 17, 300},
    {7, 65, 200},
    {40, 31, 1025}
  };

  private PackChecks() {}

  static void addTo(Collector to) {
    Backend backend = to.backend();
    for (Format format : Formats.all()) {
      boolean supported = to.supports(Op.GEMM, format.dtype(), format.scaling());
      to.addIf(supported, GROUP, format + " products", () -> products(backend, format));
      to.addIf(supported, GROUP, format + " is the same tensor", () -> same(backend, format));
    }
    boolean f32 = to.supports(Op.GEMM, DType.F32);
    to.addIf(f32, GROUP, "views", () -> views(backend));
    to.addIf(f32, GROUP, "ownership", () -> ownership(backend));
    to.addIf(f32, GROUP, "arguments", () -> arguments(backend));
  }

  private static void products(Backend backend, Format format) {
    for (int[] shape : SHAPES) {
      int m = shape[0];
      int n = shape[1];
      int k = shape[2];
      Operand a = Operand.random(1, DType.F32, Scaling.none(), m, k);
      product(backend, a, GemmChecks.random(2, format, k, n));
      product(backend, a, GemmChecks.random(3, format, n, k).transposed());
    }
  }

  private static void product(Backend backend, Operand a, Operand b) {
    try (Scope scope = backend.scope()) {
      Tensor left = a.on(scope);
      Tensor right = scope.pack(b.on(scope));
      String what = "gemm of " + a.label() + " and packed " + b.label();
      HostTensor got = scope.download(scope.gemm(Gemm.of(left, right)));
      Compare.equal(what + ": shape", GemmChecks.shapeOf(a, b), got.shape());
      ProductOracle.gemm(backend, a, b, ProductOracle.Epilogue.NONE).requireAdmits(what, got);
      Compare.sameBits(what + ", again", got, scope.download(scope.gemm(Gemm.of(left, right))));
    }
  }

  private static void same(Backend backend, Format format) {
    Operand weights = GemmChecks.random(4, format, 19, 37);
    try (Scope scope = backend.scope()) {
      Tensor w = weights.on(scope);
      Tensor packed = scope.pack(w);
      Compare.equal("dtype", w.dtype(), packed.dtype());
      Compare.equal("shape", w.shape(), packed.shape());
      Compare.equal("scaling", w.scaling(), packed.scaling());
      Compare.equal("isView", false, packed.isView());
      HostTensor host = scope.download(w);
      Compare.sameBits("download", host, scope.download(packed));
      Tensor turned = scope.pack(w.transposed());
      Compare.equal("shape", w.transposed().shape(), turned.shape());
      Compare.equal("isView", false, turned.isView());
      Compare.sameBits("download, turned back", host, scope.download(turned.transposed()));
      Compare.sameBits(
          "dequantize",
          scope.download(scope.dequantize(w.transposed())),
          scope.download(scope.dequantize(turned)));
      Tensor x = scope.upload(HostTensor.of(Data.numbers(5, 37), 37));
      Compare.sameBits(
          "gemv",
          scope.download(scope.gemv(w, x)),
          scope.download(scope.gemv(turned.transposed(), x)));
      Compare.sameBits(
          "packed again",
          scope.download(scope.dequantize(packed)),
          scope.download(scope.dequantize(scope.pack(packed))));
    }
  }

  /** Views of a packed tensor, and views packed. */
  private static void views(Backend backend) {
    Operand wide = Operand.random(6, DType.F32, Scaling.none(), 70, 40);
    Operand a = Operand.random(7, DType.F32, Scaling.none(), 5, 33);
    product(backend, a, wide.slice(0, 1, 34).slice(1, 2, 37));
    product(backend, a, wide.slice(1, 2, 35).transposed());
    // Few rows, and enough columns for kernels of long vectors.
    Operand oneRow = Operand.random(9, DType.F32, Scaling.none(), 1, 256);
    Operand cut = Operand.random(10, DType.F32, Scaling.none(), 70, 300);
    product(backend, oneRow, cut.slice(0, 3, 67).slice(1, 0, 256).transposed());
    try (Scope scope = backend.scope()) {
      Tensor left = a.on(scope);
      Tensor b = wide.on(scope);
      Tensor packed = scope.pack(b);
      Compare.sameBits(
          "a slice",
          scope.download(scope.gemm(Gemm.of(left, b.slice(0, 3, 36)))),
          scope.download(scope.gemm(Gemm.of(left, packed.slice(0, 3, 36)))));
      Compare.sameBits(
          "as the left operand",
          scope.download(scope.gemm(Gemm.of(b, b.transposed()))),
          scope.download(scope.gemm(Gemm.of(packed, packed.transposed()))));
    }
  }

  private static void ownership(Backend backend) {
    Tensor outlives;
    try (Scope scope = backend.scope()) {
      Tensor b = scope.upload(matrix());
      Tensor x = scope.upload(matrix());
      Tensor turned = scope.pack(b.transposed());
      b.close();
      Compare.equal("closed with its source", false, turned.isClosed());
      Tensor view = turned.transposed();
      scope.gemm(Gemm.of(x, turned));
      turned.close();
      Compare.equal("a view ends with it", true, view.isClosed());
      Expect.illegalState("gemm of a closed packed tensor", () -> scope.gemm(Gemm.of(x, turned)));
      Expect.illegalState("pack of a closed tensor", () -> scope.pack(b));
      outlives = scope.detach(scope.pack(x.transposed()));
    }
    Compare.equal("detached, closed with its scope", false, outlives.isClosed());
    outlives.close();
    Compare.equal("detached and closed", true, outlives.isClosed());
  }

  private static HostTensor matrix() {
    return HostTensor.of(Data.numbers(8, 12), 3, 4);
  }

  private static void arguments(Backend backend) {
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(matrix());
      Expect.illegalArgument("pack of a vector", "b", () -> scope.pack(x.reshape(12)));
      Expect.illegalArgument("pack of a stack", "b", () -> scope.pack(x.reshape(1, 3, 4)));
    }
  }
}
