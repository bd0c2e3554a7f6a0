package dev.minifloat.cuda;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rope;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/** Each kind of operation, on small operands. */
final class Uses {
  private static final int ROWS = 6;
  private static final int COLUMNS = 40;

  private Uses() {}

  /** An operation of a matrix [{@value #ROWS}, {@value #COLUMNS}] of F32. */
  interface Use {
    Tensor of(Scope on, Tensor x);
  }

  static HostTensor matrix() {
    SplittableRandom random = new SplittableRandom(7);
    float[] values = new float[ROWS * COLUMNS];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return HostTensor.of(values, ROWS, COLUMNS);
  }

  private static Tensor row(Tensor x) {
    return x.slice(0, 1, 2).reshape(COLUMNS);
  }

  private static Tensor quantized(Scope on, Tensor x, DType dtype, Scaling scaling) {
    return on.quantize(x, QuantSpec.of(dtype).scaling(scaling));
  }

  /** What needs nothing of the host: its work is the device's alone. */
  static Map<String, Use> onTheDevice() {
    Map<String, Use> uses = new LinkedHashMap<>();
    uses.put("copy", (on, x) -> on.copy(x));
    uses.put("copy of a slice", (on, x) -> on.copy(x.slice(1, 3, 20)));
    uses.put("copy transposed", (on, x) -> on.copy(x.transposed()));
    uses.put("convert", (on, x) -> on.convert(x, DType.F6_E2M3));
    for (Scaling scaling :
        new Scaling[] {
          Scaling.tensor(), Scaling.rows(), Scaling.columns(), Scaling.block(3, 16), Scaling.mx()
        }) {
      uses.put("quantize, " + scaling, (on, x) -> quantized(on, x, DType.F8_E4M3, scaling));
    }
    uses.put("quantize, nvfp4", (on, x) -> quantized(on, x, DType.F4_E2M1, Scaling.nvfp4()));
    uses.put(
        "quantize, stochastic",
        (on, x) -> on.quantize(x, QuantSpec.of(DType.I8).rounding(Rounding.stochastic(11))));
    uses.put(
        "dequantize",
        (on, x) -> on.dequantize(quantized(on, x, DType.F4_E2M1, Scaling.nvfp4()), DType.BF16));
    uses.put("add", (on, x) -> on.add(x, row(x)));
    uses.put("activation", (on, x) -> on.activation(x, Activation.GELU_ERF));
    uses.put("softmax", (on, x) -> on.softmax(Softmax.of(x).causal(true)));
    uses.put("layer norm", (on, x) -> on.layerNorm(x, row(x), row(x), 1e-5f));
    uses.put("RMS norm", (on, x) -> on.rmsNorm(x, row(x), 1e-5f));
    uses.put("L2 norm", (on, x) -> on.l2Normalize(x));
    uses.put("rope", (on, x) -> on.rope(Rope.of(x)));
    uses.put("pool", (on, x) -> on.pool(x.reshape(2, 3, COLUMNS), Pooling.MEAN, null));
    uses.put("gemv", (on, x) -> on.gemv(x, row(x)));
    uses.put("gemv transposed", (on, x) -> on.gemv(x.transposed(), row(x).slice(0, 0, ROWS)));
    uses.put(
        "gemm, few rows",
        (on, x) -> on.gemm(Gemm.of(x, x.transposed()).bias(row(x).slice(0, 0, ROWS))));
    uses.put(
        "gemm, FP8",
        (on, x) -> {
          Tensor a = quantized(on, x.reshape(24, 10), DType.F8_E4M3, Scaling.tensor());
          return on.gemm(Gemm.of(a, a.transposed()).output(DType.BF16));
        });
    uses.put(
        "gemm, any views",
        (on, x) -> on.gemm(Gemm.of(x.transposed(), x).activation(Activation.SILU)));
    return uses;
  }

  /** What looks at indices on the host, or gives a number to it. */
  static Map<String, Use> withTheHost() {
    Map<String, Use> uses = new LinkedHashMap<>();
    uses.put(
        "embedding",
        (on, x) -> on.embedding(x, on.upload(HostTensor.of(new int[] {5, 0}, 2)), DType.F16));
    uses.put(
        "softmax with lengths",
        (on, x) ->
            on.softmax(
                Softmax.of(x.reshape(2, 3, COLUMNS))
                    .lengths(on.upload(HostTensor.of(new int[] {40, 7}, 2)))));
    uses.put("dot", (on, x) -> number(on, on.dot(x.reshape(240), x.reshape(240))));
    uses.put("amax", (on, x) -> number(on, on.amax(x)));
    return uses;
  }

  private static Tensor number(Scope on, float value) {
    return on.upload(HostTensor.of(new float[] {value}));
  }
}
