package dev.minifloat.contract;

import dev.minifloat.Activation;
import dev.minifloat.Attention;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Operations;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rope;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import dev.minifloat.reference.ReferenceBackend;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** Ownership, use after close, and tensors of another backend. */
final class LifecycleChecks {
  private static final String GROUP = "lifecycle";

  private LifecycleChecks() {}

  /** An operation on one matrix. */
  private interface Use {
    Object of(Operations on, Tensor matrix);
  }

  static void addTo(Collector to) {
    Backend backend = to.backend();
    boolean f32 = to.supports(Op.UPLOAD, DType.F32) && to.supports(Op.CONVERT, DType.F32);
    Supplier<Backend> fresh = to.fresh();
    uses(backend)
        .forEach(
            (name, use) -> {
              to.add(GROUP, name + " after close", () -> afterClose(backend, name, use));
              to.add(GROUP, name + " of another backend", () -> foreign(backend, name, use));
            });
    to.addIf(f32, GROUP, "closing twice is fine", () -> twice(backend));
    to.addIf(f32, GROUP, "a scope closes what it made", () -> scopes(backend));
    to.addIf(f32, GROUP, "a detached tensor outlives its scope", () -> detached(backend));
    to.addIf(f32, GROUP, "a view ends with its source", () -> views(backend));
    to.addIf(f32 && fresh != null, GROUP, "a backend closes its tensors", () -> backends(fresh));
  }

  /** What takes one F32 matrix and is supported. */
  private static Map<String, Use> uses(Backend backend) {
    Map<String, Use> uses = new LinkedHashMap<>();
    for (Op op : Op.values()) {
      Use use = use(op);
      boolean quantizes = op == Op.QUANTIZE;
      DType dtype = quantizes ? DType.BF16 : DType.F32;
      if (use != null && backend.supports(op, dtype, Scaling.none())) {
        uses.put(op.name(), use);
      }
    }
    return uses;
  }

  private static Use use(Op op) {
    return switch (op) {
      case UPLOAD, EMBEDDING -> null;
      case DOWNLOAD -> (on, x) -> on.download(x);
      case COPY -> (on, x) -> on.copy(x);
      case CONVERT -> (on, x) -> on.convert(x, DType.BF16);
      case QUANTIZE -> (on, x) -> on.quantize(x, QuantSpec.of(DType.BF16).scaling(Scaling.none()));
      case DEQUANTIZE -> (on, x) -> on.dequantize(x);
      case DOT -> (on, x) -> on.dot(x.reshape(12), x.reshape(12));
      case GEMV -> (on, x) -> on.gemv(x.transposed(), x.reshape(12).slice(0, 0, 3));
      case GEMM -> (on, x) -> on.gemm(Gemm.of(x, x.transposed()));
      case ADD -> (on, x) -> on.add(x, x);
      case ACTIVATION -> (on, x) -> on.activation(x, Activation.RELU);
      case SOFTMAX -> (on, x) -> on.softmax(Softmax.of(x));
      case ATTENTION ->
          (on, x) -> {
            Tensor heads = x.reshape(1, 3, 4);
            return on.attention(Attention.of(heads, heads, heads));
          };
      case LAYER_NORM -> (on, x) -> on.layerNorm(x, row(x), row(x), 1e-5f);
      case RMS_NORM -> (on, x) -> on.rmsNorm(x, row(x), 1e-5f);
      case ROPE -> (on, x) -> on.rope(Rope.of(x));
      case POOL -> (on, x) -> on.pool(x.reshape(1, 3, 4), Pooling.MEAN, null);
      case L2_NORMALIZE -> (on, x) -> on.l2Normalize(x);
      case AMAX -> (on, x) -> on.amax(x);
    };
  }

  private static Tensor row(Tensor x) {
    return x.reshape(12).slice(0, 0, 4);
  }

  private static HostTensor matrix() {
    return HostTensor.of(Data.numbers(1, 12), 3, 4);
  }

  private static void afterClose(Backend backend, String name, Use use) {
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(matrix());
      use.of(scope, x);
      x.close();
      Expect.illegalState(name + " of a closed tensor", () -> use.of(scope, x));
    }
    Tensor y = backend.upload(matrix());
    Scope closed = backend.scope();
    closed.close();
    try (y) {
      Expect.illegalState(name + " in a closed scope", () -> use.of(closed, y));
    }
  }

  private static void foreign(Backend backend, String name, Use use) {
    try (Backend other = new ReferenceBackend();
        Scope there = other.scope();
        Scope here = backend.scope()) {
      Tensor x = there.upload(matrix());
      Expect.illegalArgument(name + " of another backend's tensor", "", () -> use.of(here, x));
    }
  }

  private static void twice(Backend backend) {
    Scope scope = backend.scope();
    Tensor x = scope.upload(matrix());
    x.close();
    x.close();
    Compare.equal("isClosed", true, x.isClosed());
    scope.close();
    scope.close();
  }

  private static void scopes(Backend backend) {
    Tensor x;
    Tensor y;
    try (Scope scope = backend.scope()) {
      Compare.equal("the scope's backend", backend, scope.backend());
      x = scope.upload(matrix());
      y = scope.convert(x, DType.F16);
      Compare.equal("the tensor's backend", backend, x.backend());
      Compare.equal("isClosed in its scope", false, y.isClosed());
      Expect.illegalState("upload to a closed scope", () -> scopeThatCloses(backend));
    }
    Compare.equal("isClosed after the scope", true, x.isClosed() && y.isClosed());
  }

  private static void scopeThatCloses(Backend backend) {
    Scope inner = backend.scope();
    inner.close();
    inner.upload(matrix());
  }

  private static void detached(Backend backend) {
    Tensor kept;
    try (Scope scope = backend.scope()) {
      kept = scope.detach(scope.upload(matrix()));
      Expect.illegalArgument("detaching twice", "tensor", () -> scope.detach(kept));
    }
    try (kept) {
      Compare.sameBits("a detached tensor", matrix(), backend.download(kept));
    }
  }

  private static void views(Backend backend) {
    Tensor x = backend.upload(matrix());
    Tensor view = x.transposed().slice(0, 1, 3);
    view.close();
    Compare.equal("a source whose view was closed", false, x.isClosed());
    x.close();
    Compare.equal("a view whose source was closed", true, view.isClosed());
    Expect.illegalState("download of a view of a closed tensor", () -> backend.download(view));
  }

  private static void backends(Supplier<Backend> fresh) {
    Backend backend = fresh.get();
    Tensor x = backend.upload(matrix());
    Scope scope = backend.scope();
    Tensor y = scope.upload(matrix());
    backend.close();
    backend.close();
    Compare.equal("tensors of a closed backend are closed", true, x.isClosed() && y.isClosed());
    Expect.illegalState("download from a closed backend", () -> backend.download(x));
    Expect.illegalState("upload to a closed backend", () -> backend.upload(matrix()));
    Expect.illegalState("a scope of a closed backend", () -> backend.scope().upload(matrix()));
    Expect.illegalState("synchronize of a closed backend", backend::synchronize);
    scope.close();
    x.close();
  }
}
