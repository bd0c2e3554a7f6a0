package dev.minifloat.cli.trace;

import dev.minifloat.Activation;
import dev.minifloat.Attention;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Operations;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rope;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import dev.minifloat.kernels.KernelEntry;
import dev.minifloat.kernels.Operation;
import dev.minifloat.reference.ReferenceBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * Small uses of the backend, for each kernel some of which launch it: the kernel is then seen as
 * programs launch it, with the parameters that the backend gives it.
 */
public final class Workloads {
  /** Columns from which on row operations have a whole block for a row. */
  private static final int LONG_ROW = 1100;

  /** Rows and columns of what isn't cut into tiles. */
  private static final int SIDE = 64;

  private final KernelEntry kernel;
  private final int m;
  private final int n;
  private final int k;
  private int made;

  /**
   * Uses of a kernel.
   *
   * @param shape extents M, N, K of a product; empty for one tile
   */
  public Workloads(KernelEntry kernel, List<Integer> shape) {
    this.kernel = kernel;
    m = shape.isEmpty() ? defaultRows(kernel) : shape.get(0);
    n = shape.isEmpty() ? defaultColumns(kernel) : shape.get(1);
    k = shape.isEmpty() ? 128 : shape.get(2);
  }

  private static int defaultRows(KernelEntry kernel) {
    boolean isSkinny = kernel.entry().startsWith("skinny_");
    if (isSkinny) {
      return kernel.tile().isEmpty() ? 1 : kernel.tile().getFirst();
    }
    return kernel.operation() == Operation.GEMM ? kernel.tile().getFirst() : SIDE;
  }

  private static int defaultColumns(KernelEntry kernel) {
    return kernel.operation() == Operation.GEMM ? kernel.tile().get(1) : SIDE;
  }

  /** What to do on a simulated device, until the kernel has been launched. */
  public List<Consumer<Scope>> uses() {
    DType a = first(kernel.a());
    DType out = first(kernel.out());
    return switch (kernel.operation()) {
      case COPY -> List.of(on -> on.copy(tensor(on, a, m, n).slice(1, 2, n - 2)));
      case TRANSPOSE ->
          List.of(
              on -> turnedProduct(on, DType.F8_E4M3, Scaling.tensor()),
              on -> turnedProduct(on, DType.F16, Scaling.none()),
              on -> turnedProduct(on, DType.F8_E4M3, Scaling.block(32, 32)));
      case CONVERT ->
          // From F32 to F32 would be a copy.
          List.of(
              on -> on.convert(tensor(on, out == DType.F32 ? DType.BF16 : DType.F32, m, n), out));
      case AMAX, SCALES, QUANTIZE -> quantizations();
      case DEQUANTIZE ->
          List.of(on -> on.dequantize(quantized(on, DType.F8_E4M3, Scaling.rows(), m, n), out));
      case EMBEDDING ->
          List.of(
              on ->
                  on.embedding(
                      floats(on, m, n), on.upload(HostTensor.of(new int[] {3, 0, 1}, 3)), out));
      case ADD -> List.of(on -> on.add(tensor(on, a, m, n), tensor(on, a, n)));
      case ACTIVATION -> List.of(on -> on.activation(tensor(on, a, m, n), Activation.GELU_TANH));
      case ROPE -> List.of(on -> on.rope(Rope.of(tensor(on, a, m, n))));
      case SOFTMAX -> rows(a, (on, x) -> on.softmax(Softmax.of(x).causal(false)));
      case LAYER_NORM -> rows(a, (on, x) -> on.layerNorm(x, row(on, a, x), row(on, a, x), 1e-5f));
      case RMS_NORM -> rows(a, (on, x) -> on.rmsNorm(x, row(on, a, x), 1e-5f));
      case L2_NORMALIZE -> rows(a, Operations::l2Normalize);
      case MEAN_POOL -> List.of(on -> on.pool(tensor(on, a, 2, m, n), Pooling.MEAN, null));
      case ATTENTION ->
          List.of(
              on -> {
                Tensor q = tensor(on, a, 1, m, n);
                on.attention(Attention.of(q, q, q));
              });
      case DOT, DOT_SUM -> List.of(on -> on.dot(floats(on, m * n), floats(on, m * n)));
      case GEMV ->
          // No kernel for few rows takes scales of columns, nor columns that aren't side by side.
          List.of(
              on -> on.gemv(floats(on, k, m).transposed(), floats(on, k)),
              on -> on.gemv(quantized(on, DType.F8_E4M3, Scaling.columns(), m, k), floats(on, k)));
      case SKINNY, SKINNY_SUM, GEMM -> products(a);
    };
  }

  /** The first of the types that a kernel takes; F32 where it takes none, as those for scales. */
  private static DType first(List<String> types) {
    return types.isEmpty() ? DType.F32 : DType.valueOf(types.getFirst());
  }

  private interface RowUse {
    Tensor of(Scope on, Tensor x);
  }

  private List<Consumer<Scope>> rows(DType dtype, RowUse use) {
    return List.of(
        on -> use.of(on, tensor(on, dtype, 4, n)),
        on -> use.of(on, tensor(on, dtype, 2, LONG_ROW)));
  }

  private Tensor row(Operations on, DType dtype, Tensor x) {
    return tensor(on, dtype, Math.toIntExact(x.shape().columns()));
  }

  private List<Consumer<Scope>> quantizations() {
    List<Consumer<Scope>> uses = new ArrayList<>();
    for (String name : kernel.out()) {
      DType dtype = DType.valueOf(name);
      for (Scaling scaling : List.of(Scaling.nvfp4(), Scaling.mx(), Scaling.rows())) {
        if (scaling.isValidFor(dtype)) {
          uses.add(on -> on.quantize(floats(on, m, n), QuantSpec.of(dtype).scaling(scaling)));
        }
      }
    }
    uses.add(on -> on.quantize(floats(on, m, n), QuantSpec.of(DType.F8_E4M3)));
    uses.add(
        on -> on.quantize(floats(on, m, n), QuantSpec.of(DType.F8_E4M3).scaling(Scaling.mx())));
    uses.add(
        on -> on.quantize(floats(on, m, n), QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4())));
    return uses;
  }

  private List<Consumer<Scope>> products(DType a) {
    List<Consumer<Scope>> uses = new ArrayList<>();
    for (Scaling scaling : List.of(Scaling.mx(), Scaling.nvfp4())) {
      if (multipliesBlocks(scaling)) {
        DType other = DType.valueOf(kernel.b().getFirst());
        uses.add(
            on -> {
              Tensor x = quantized(on, a, scaling, m, k);
              on.gemm(Gemm.of(x, quantized(on, other, scaling, n, k).transposed()));
            });
      }
    }
    String b = kernel.b().isEmpty() ? "F16" : kernel.b().getFirst();
    DType left = kernel.b().isEmpty() ? DType.F16 : a;
    DType right = DType.valueOf(b);
    uses.add(on -> on.gemm(Gemm.of(tensor(on, left, m, k), tensor(on, right, n, k).transposed())));
    // What no other kernel takes: columns that aren't side by side, and too few to be turned.
    uses.add(on -> on.gemm(Gemm.of(tensor(on, DType.F16, 32, 32), tensor(on, DType.F16, 32, 32))));
    return uses;
  }

  /** Whether the tensor cores that the kernel is made for scale such blocks themselves. */
  private boolean multipliesBlocks(Scaling scaling) {
    String name = scaling instanceof Scaling.Mx ? "mx" : "nvfp4";
    return kernel.file().target().capability() >= 100
        && kernel.operation() == Operation.GEMM
        && kernel.scalings().contains(name);
  }

  private void turnedProduct(Scope on, DType dtype, Scaling scaling) {
    Tensor x = quantized(on, dtype, scaling, 96, 96);
    on.gemm(Gemm.of(x, x));
  }

  private Tensor floats(Operations on, int... dims) {
    return tensor(on, DType.F32, dims);
  }

  private Tensor tensor(Operations on, DType dtype, int... dims) {
    return quantized(on, dtype, Scaling.none(), dims);
  }

  /** Small random numbers; made by the reference, so that the device launches nothing for it. */
  private Tensor quantized(Operations on, DType dtype, Scaling scaling, int... dims) {
    long[] extents = new long[dims.length];
    int count = 1;
    for (int i = 0; i < dims.length; i++) {
      extents[i] = dims[i];
      count *= dims[i];
    }
    SplittableRandom random = new SplittableRandom(++made);
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = random.nextInt(-8, 9) / 4f;
    }
    try (ReferenceBackend reference = new ReferenceBackend();
        Scope scope = reference.scope()) {
      Tensor x = scope.upload(HostTensor.of(values, extents));
      Tensor made =
          scaling.equals(Scaling.none())
              ? scope.convert(x, dtype)
              : scope.quantize(x, QuantSpec.of(dtype).scaling(scaling));
      return on.upload(scope.download(made));
    }
  }
}
