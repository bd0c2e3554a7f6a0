package dev.minifloat.contract;

import dev.minifloat.Activation;
import dev.minifloat.Attention;
import dev.minifloat.Backend;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import java.util.ArrayList;
import java.util.List;

/** A little of everything, large enough to be split among threads; its results are compared. */
final class Workload {
  private final HostTensor a = HostTensor.of(Data.spread(1, 150 * 333, 4), 150, 333);
  private final HostTensor b = HostTensor.of(Data.spread(2, 333 * 170, 4), 333, 170);
  private final HostTensor gamma = HostTensor.of(Data.numbers(3, 333), 333);

  /** Whether a backend has all that {@link #run} uses. */
  static boolean supportedBy(Backend backend) {
    return backend.supports(Op.QUANTIZE, DType.F8_E4M3, Scaling.rows())
        && backend.supports(Op.QUANTIZE, DType.F4_E2M1, Scaling.nvfp4())
        && backend.supports(Op.GEMM, DType.F32, Scaling.none())
        && backend.supports(Op.GEMM, DType.F8_E4M3, Scaling.rows())
        && backend.supports(Op.GEMM, DType.F4_E2M1, Scaling.nvfp4())
        && backend.supports(Op.GEMV, DType.F32, Scaling.none())
        && backend.supports(Op.DOT, DType.F32, Scaling.none())
        && backend.supports(Op.SOFTMAX, DType.F32, Scaling.none())
        && backend.supports(Op.LAYER_NORM, DType.F32, Scaling.none());
  }

  /** Runs it in a scope of its own and gives every result. */
  List<HostTensor> run(Backend backend) {
    List<HostTensor> results = new ArrayList<>();
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(a);
      Tensor y = scope.upload(b);
      QuantSpec rows =
          QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()).rounding(Rounding.stochastic(9));
      Tensor small = scope.quantize(x, rows);
      Tensor tiny =
          scope.quantize(y.transposed(), QuantSpec.of(DType.F4_E2M1).scaling(Scaling.nvfp4()));
      Tensor product = scope.gemm(Gemm.of(x, y).activation(Activation.GELU_TANH));
      List<Tensor> made =
          List.of(
              small,
              tiny,
              product,
              scope.gemm(Gemm.of(small, tiny.transposed())),
              // The third product: one that alternates between two results can't hide in a run.
              scope.gemm(Gemm.of(x, y).output(DType.BF16)),
              scope.gemv(y.transposed(), gammaOn(scope)),
              scope.softmax(Softmax.of(product)),
              scope.layerNorm(x, gammaOn(scope), gammaOn(scope), 1e-5f),
              scope.activation(x, Activation.SILU));
      made.forEach(tensor -> results.add(scope.download(tensor)));
      if (backend.supports(Op.ATTENTION, DType.F32, Scaling.none())) {
        Tensor heads = x.reshape(150, 3, 111).transposed(0, 1);
        results.add(scope.download(scope.attention(Attention.of(heads, heads, heads))));
        Tensor last = heads.slice(1, 149, 150);
        results.add(scope.download(scope.attention(Attention.of(last, heads, heads))));
      }
      float dot = scope.dot(x.reshape(150 * 333L), x.reshape(150 * 333L));
      results.add(HostTensor.of(new float[] {dot}));
    }
    return results;
  }

  private Tensor gammaOn(Scope scope) {
    return scope.upload(gamma);
  }

  /** Throws unless two runs gave the same bits. */
  static void requireSame(String what, List<HostTensor> expected, List<HostTensor> actual) {
    for (int i = 0; i < expected.size(); i++) {
      Compare.sameBits(what + ", result " + i, expected.get(i), actual.get(i));
    }
  }
}
