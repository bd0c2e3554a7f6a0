package dev.minifloat.cpu;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Overflow;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.TensorView;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * One small call of each kernel for given formats, in a scope of its own: what warm-up and
 * self-check repeat. The results of the first calls are the outputs of the others, where an
 * operation has any.
 */
final class KernelRuns {
  /** Elements of each operand: enough that garbage of vectors stands out. */
  static final int ROWS = 16;

  private static final int COLUMNS = 384;
  static final int ELEMENTS = ROWS * COLUMNS;

  private static final Set<DType> FLOATS = Set.of(DType.F32, DType.F16, DType.BF16);

  private static final List<Scaling> SCALINGS =
      List.of(Scaling.none(), Scaling.rows(), Scaling.block(1, 128), Scaling.mx(), Scaling.nvfp4());

  /** A kernel's name and a call of it. */
  record Run(String kernel, Runnable call) {}

  private final VectorBackend backend;
  private final Kernels kernels;
  private final Scope scope;
  private final List<Run> runs = new ArrayList<>();

  private KernelRuns(VectorBackend backend, Scope scope) {
    this.backend = backend;
    this.kernels = backend.kernels();
    this.scope = scope;
  }

  /** Runs of the formats' kernels; the scope owns their operands. */
  static List<Run> of(VectorBackend backend, Scope scope, Set<DType> dtypes) {
    KernelRuns all = new KernelRuns(backend, scope);
    Tensor values = scope.upload(values());
    for (DType dtype : dtypes) {
      if (FLOATS.contains(dtype)) {
        all.floats(dtype, scope.convert(values, dtype));
      }
      for (Scaling scaling : SCALINGS) {
        if (backend.supports(Op.QUANTIZE, dtype, scaling)) {
          all.quantized(dtype, scaling, values);
        }
      }
    }
    return all.runs;
  }

  private static HostTensor values() {
    float[] values = new float[ELEMENTS];
    for (int i = 0; i < values.length; i++) {
      values[i] = (i * 37 % 1001 - 500) / 128f;
    }
    return HostTensor.of(values, ROWS, COLUMNS);
  }

  private void add(String name, DType dtype, Runnable call) {
    runs.add(new Run(name + " " + dtype, call));
  }

  private static TensorView view(Tensor tensor) {
    return (TensorView) tensor;
  }

  private void floats(DType dtype, Tensor values) {
    TensorView x = view(values);
    TensorView out = view(scope.copy(values));
    TensorView row = view(scope.copy(values.slice(0, 0, 1).reshape(COLUMNS)));
    for (Activation activation : Activation.values()) {
      add(activation.name(), dtype, () -> kernels.activation(x, activation, out));
    }
    add("add", dtype, () -> kernels.add(x, x, out));
    add("softmax", dtype, () -> kernels.softmax(x, 0.5f, null, false, out));
    add("layerNorm", dtype, () -> kernels.layerNorm(x, row, row, 1e-5f, out));
    add("rmsNorm", dtype, () -> kernels.rmsNorm(x, row, 1e-5f, out));
    add("l2Normalize", dtype, () -> kernels.l2Normalize(x, out));
    add("rope", dtype, () -> kernels.rope(x, COLUMNS, 10_000, false, null, out));
    TensorView batch = x.reshape(1, ROWS, COLUMNS);
    TensorView mean = view(scope.pool(batch, Pooling.MEAN, null));
    add("meanPool", dtype, () -> kernels.meanPool(batch, null, mean));
  }

  private void quantized(DType dtype, Scaling scaling, Tensor values) {
    String suffix = scaling instanceof Scaling.None ? "" : ", " + scaling;
    Tensor tensor = scope.quantize(values, QuantSpec.of(dtype).scaling(scaling));
    TensorView q = view(tensor);
    TensorView x = view(values);
    if (scaling instanceof Scaling.None) {
      if (dtype != DType.F32 && backend.supports(Op.CONVERT, dtype, scaling)) {
        Overflow overflow = Overflow.defaultFor(dtype);
        add("convert to", dtype, () -> kernels.convert(x, q, Rounding.NEAREST_EVEN, overflow));
      }
    } else {
      QuantSpec spec = QuantSpec.of(dtype).scaling(scaling);
      add("quantize to" + suffix, dtype, () -> kernels.quantize(x, q, spec));
      TensorView decoded = view(scope.dequantize(tensor));
      add("dequantize" + suffix, dtype, () -> kernels.dequantize(q, decoded));
    }
    if (backend.supports(Op.DOT, dtype, scaling) && scaling instanceof Scaling.None) {
      TensorView vector = q.reshape(ELEMENTS);
      add("dot", dtype, () -> sink(kernels.dot(vector, vector)));
    }
    if (backend.supports(Op.GEMV, dtype, scaling)) {
      TensorView first = x.slice(0, 0, 1).reshape(COLUMNS);
      TensorView y = view(scope.gemv(tensor, first));
      add("gemv" + suffix, dtype, () -> kernels.gemv(q, first, y));
    }
    if (backend.supports(Op.GEMM, dtype, scaling)) {
      Gemm gemm = Gemm.of(values, tensor.transposed());
      add("gemm" + suffix, dtype, () -> scope.gemm(gemm).close());
    }
  }

  /** Uses a result, so that its computation is not left out. */
  private static void sink(float result) {
    if (result == 0x1.234568p100f) {
      throw new IllegalStateException("a sum that no operand gives: " + result);
    }
  }
}
