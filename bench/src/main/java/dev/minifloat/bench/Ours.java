package dev.minifloat.bench;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Shape;
import dev.minifloat.cpu.VectorBackend;
import dev.minifloat.encoder.EncoderOptions;
import dev.minifloat.encoder.KnownModel;
import dev.minifloat.encoder.SentenceEncoder;
import dev.minifloat.encoder.WeightFormat;
import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Our own backend. The dot product is called as users call it; everything else at the level of
 * {@link Kernels} with the output given, so that what is timed is the kernel, and not the
 * allocation of a result that a user would reuse anyhow.
 */
public final class Ours implements Peer {
  /** What tables call it. */
  public static final String NAME = "minifloat";

  private final Path models;
  private final Map<Integer, VectorBackend> backends = new TreeMap<>();

  /**
   * Opens nothing yet.
   *
   * @param models the folder of the encoder's model; where it isn't there, nothing is encoded
   */
  public Ours(Path models) {
    this.models = models;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String variant() {
    return backend(1).vectorBits() + " bits";
  }

  private VectorBackend backend(int threads) {
    return backends.computeIfAbsent(threads, VectorBackend::threads);
  }

  @Override
  public Optional<Contestant> prepare(Workload workload) {
    VectorBackend backend = backend(workload.threads());
    return switch (workload) {
      case Workload.Dot dot -> Optional.of(new DotProduct(backend, dot));
      case Workload.Gemv gemv -> Optional.of(new MatrixVector(backend, gemv));
      case Workload.Gemm gemm -> Optional.of(new MatrixProduct(backend, gemm));
      case Workload.Quantize quantize -> Optional.of(new Quantization(backend, quantize));
      case Workload.Dequantize dequantize -> Optional.of(new Dequantization(backend, dequantize));
      case Workload.Convert convert -> Optional.of(new Conversion(backend, convert));
      case Workload.Norm norm -> Optional.of(new RowFunction(backend, norm));
      case Workload.Encode encode ->
          Files.isRegularFile(models.resolve(KnownModel.MINILM.jarName()))
              ? Optional.of(new Encoding(backend, encode, models))
              : Optional.empty();
      case Workload.FfmCall call -> Optional.of(new ForeignCalls(call.kind()));
    };
  }

  @Override
  public void close() {
    backends.values().forEach(VectorBackend::close);
    backends.clear();
  }

  /** What owns its operands and has one output. */
  private abstract static class Kernel implements Contestant {
    final VectorBackend backend;
    final Kernels kernels;
    private final Scope scope;
    TensorView out;

    Kernel(VectorBackend backend) {
      this.backend = backend;
      this.kernels = Kernels.of(backend);
      this.scope = backend.scope();
    }

    @Override
    public String name() {
      return NAME;
    }

    final TensorView upload(Values values, QuantSpec spec) {
      try (Arena arena = Arena.ofShared()) {
        return (TensorView) scope.upload(Inputs.host(backend, values, spec, arena));
      }
    }

    final TensorView floats(Values values) {
      return upload(values, QuantSpec.of(DType.F32));
    }

    final TensorView output(DType dtype, Scaling scaling, long... dims) {
      try (Arena arena = Arena.ofShared()) {
        HostTensor zeros = HostTensor.allocate(arena, dtype, Shape.of(dims), scaling);
        return (TensorView) scope.upload(zeros);
      }
    }

    @Override
    public float[] result() {
      try (Arena arena = Arena.ofShared()) {
        return Inputs.floats(backend.download(out, arena));
      }
    }

    @Override
    public void close() {
      scope.close();
    }
  }

  private static final class DotProduct extends Kernel {
    private final TensorView a;
    private final TensorView b;
    private float product;

    DotProduct(VectorBackend backend, Workload.Dot work) {
      super(backend);
      a = upload(work.a(), work.type().vectorSpec());
      b = upload(work.b(), work.type().vectorSpec());
    }

    @Override
    public void run() {
      product = backend.dot(a, b);
    }

    @Override
    public float[] result() {
      return new float[] {product};
    }
  }

  private static final class MatrixVector extends Kernel {
    private final TensorView w;
    private final TensorView x;

    MatrixVector(VectorBackend backend, Workload.Gemv work) {
      super(backend);
      w = upload(work.w(), work.weights().spec());
      x = floats(work.x());
      out = output(DType.F32, Scaling.none(), work.rows());
    }

    @Override
    public void run() {
      kernels.gemv(w, x, out);
    }
  }

  private static final class MatrixProduct extends Kernel {
    private final GemmCall call;

    MatrixProduct(VectorBackend backend, Workload.Gemm work) {
      super(backend);
      TensorView a = upload(work.a(), work.type().spec());
      TensorView b = upload(work.b(), work.type().spec());
      if (work.m() == 1) {
        a = a.reshape(1, work.k());
      }
      if (work.n() == 1) {
        b = b.reshape(1, work.k());
      }
      out = output(DType.F32, Scaling.none(), work.m(), work.n());
      call = new GemmCall(a, b.transposed(), null, null, 1, 0, Activation.NONE, out, null);
    }

    @Override
    public void run() {
      kernels.gemm(call);
    }
  }

  private static final class Quantization extends Kernel {
    private final TensorView x;
    private final QuantSpec spec;

    Quantization(VectorBackend backend, Workload.Quantize work) {
      super(backend);
      x = floats(work.x());
      spec = work.to().spec();
      out = output(spec.dtype(), spec.scaling(), x.shape().dims());
    }

    @Override
    public void run() {
      kernels.quantize(x, out, spec);
    }
  }

  private static final class Dequantization extends Kernel {
    private final TensorView x;

    Dequantization(VectorBackend backend, Workload.Dequantize work) {
      super(backend);
      x = upload(work.x(), work.from().spec());
      out = output(DType.F32, Scaling.none(), x.shape().dims());
    }

    @Override
    public void run() {
      kernels.dequantize(x, out);
    }
  }

  private static final class Conversion extends Kernel {
    private final TensorView x;
    private final Workload.Convert work;
    private final Overflow overflow;

    Conversion(VectorBackend backend, Workload.Convert work) {
      super(backend);
      this.work = work;
      overflow = Overflow.defaultFor(work.to());
      x = upload(work.x(), QuantSpec.of(work.from()).scaling(Scaling.none()));
      out = output(work.to(), Scaling.none(), x.shape().dims());
    }

    @Override
    public void run() {
      kernels.convert(x, out, work.rounding(), overflow);
    }
  }

  private static final class RowFunction extends Kernel {
    private final TensorView x;
    private final TensorView gamma;
    private final TensorView beta;
    private final Workload.Function function;

    RowFunction(VectorBackend backend, Workload.Norm work) {
      super(backend);
      function = work.function();
      x = floats(work.x());
      gamma = floats(work.gamma());
      beta = floats(work.beta());
      out = output(DType.F32, Scaling.none(), x.shape().dims());
    }

    @Override
    public void run() {
      switch (function) {
        case SOFTMAX -> kernels.softmax(x, 1, null, false, out);
        case LAYER_NORM -> kernels.layerNorm(x, gamma, beta, Workload.Norm.EPSILON, out);
        case RMS_NORM -> kernels.rmsNorm(x, gamma, Workload.Norm.EPSILON, out);
        case GELU_ERF -> kernels.activation(x, Activation.GELU_ERF, out);
        case GELU_TANH -> kernels.activation(x, Activation.GELU_TANH, out);
        case SILU -> kernels.activation(x, Activation.SILU, out);
      }
    }
  }

  private static final class Encoding implements Contestant {
    private final SentenceEncoder encoder;
    private final int[][] ids;
    private List<float[]> vectors;

    Encoding(VectorBackend backend, Workload.Encode work, Path models) {
      WeightFormat format =
          new WeightFormat(work.format(), work.weights().spec(), QuantSpec.of(DType.F32));
      EncoderOptions options = EncoderOptions.of(KnownModel.MINILM).weights(format);
      encoder = SentenceEncoder.open(backend, KnownModel.MINILM, models, options);
      ids = work.ids();
    }

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public void run() {
      vectors = encoder.embedTokens(ids);
    }

    @Override
    public float[] result() {
      int width = vectors.getFirst().length;
      float[] all = new float[vectors.size() * width];
      for (int i = 0; i < vectors.size(); i++) {
        System.arraycopy(vectors.get(i), 0, all, i * width, width);
      }
      return all;
    }

    @Override
    public void close() {
      encoder.close();
    }
  }
}
