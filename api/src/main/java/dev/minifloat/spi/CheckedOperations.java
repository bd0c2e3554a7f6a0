package dev.minifloat.spi;

import dev.minifloat.Activation;
import dev.minifloat.Attention;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Op;
import dev.minifloat.Operations;
import dev.minifloat.Overflow;
import dev.minifloat.Pooling;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rope;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import java.lang.foreign.Arena;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * The argument checks and the bookkeeping of every operation, once for all backends: a backend adds
 * {@link Kernels}, an owner adds {@link #adopt}.
 */
abstract class CheckedOperations implements Operations {
  /** Whose kernels and storage are used. */
  abstract BackendBase base();

  /** Makes the owner responsible for a result, or throws if the owner is closed. */
  abstract TensorView adopt(TensorView result);

  /** Throws if the owner is closed, before any work is done. */
  abstract void requireOpen();

  private Kernels kernels() {
    return base().kernels();
  }

  @Override
  public final Tensor upload(HostTensor host) {
    Objects.requireNonNull(host, "host");
    Checks checks = checks(Op.UPLOAD).supported(host.dtype(), host.scaling());
    Checks.requireReadable("host", host);
    return checks.fill(
        host.dtype(), host.shape(), host.scaling(), out -> base().copyIn(host, out.storage()));
  }

  @Override
  public final HostTensor download(Tensor x, Arena arena) {
    Objects.requireNonNull(arena, "arena");
    Checks.requireOpen("arena", arena.scope());
    Checks checks = checks(Op.DOWNLOAD);
    TensorView view = checks.operand("x", x);
    requireUncut("x", view);
    if (view.isWhole()) {
      return checks.run(
          () -> {
            HostTensor host = base().download(view.storage(), arena);
            return view.isUnscaled()
                ? HostTensor.wrap(host.dtype(), view.shape(), host.data())
                : host;
          });
    }
    try (Tensor whole = base().copy(x)) {
      return download(whole, arena);
    }
  }

  private static boolean isUncut(TensorView x) {
    return x.isWhole() && x.shape().equals(x.storage().shape());
  }

  /** Whether an unscaled matrix is the transpose of one whose rows are dense. */
  private static boolean hasRunsInColumns(TensorView x) {
    return x.isUnscaled() && x.stride(0) == 1 && x.stride(1) != 1;
  }

  private static void requireUncut(String name, TensorView x) {
    if (!x.isUnscaled() && !isUncut(x)) {
      throw new IllegalArgumentException(
          ("%s: a view %s of the scaled tensor %s %s has no scales of its own;"
                  + " dequantize the view instead")
              .formatted(name, x.shape(), x.dtype(), x.storage().shape()));
    }
  }

  @Override
  public final Tensor copy(Tensor x) {
    Checks checks = checks(Op.COPY);
    TensorView view = checks.operand("x", x);
    requireUncut("x", view);
    return checks.fill(
        view.dtype(), view.shape(), view.scaling(), out -> kernels().copy(view, out));
  }

  @Override
  public final Tensor convert(Tensor x, DType to, Rounding rounding, Overflow overflow) {
    Objects.requireNonNull(to, "to");
    Objects.requireNonNull(rounding, "rounding");
    Objects.requireNonNull(overflow, "overflow");
    Checks checks = checks(Op.CONVERT).supported(to, Scaling.none());
    TensorView view = checks.operand("x", x);
    return checks.fill(
        to,
        view.shape(),
        Scaling.none(),
        out -> {
          if (view.dtype() == to) {
            kernels().copy(view, out);
          } else {
            kernels().convert(view, out, rounding, overflow);
          }
        });
  }

  @Override
  public final Tensor quantize(Tensor x, QuantSpec spec) {
    Objects.requireNonNull(spec, "spec");
    Checks checks = checks(Op.QUANTIZE).supported(spec.dtype(), spec.scaling());
    TensorView view = checks.floats("x", x);
    if (spec.scaling() instanceof Scaling.None) {
      return convert(x, spec.dtype(), spec.rounding(), spec.overflow());
    }
    return checks.fill(
        spec.dtype(), view.shape(), spec.scaling(), out -> kernels().quantize(view, out, spec));
  }

  @Override
  public final Tensor dequantize(Tensor x, DType to) {
    Checks checks = checks(Op.DEQUANTIZE);
    TensorView view = checks.operand("x", x);
    Checks.requireFloatType("to", to);
    return checks.fill(to, view.shape(), Scaling.none(), out -> kernels().dequantize(view, out));
  }

  /**
   * Written out, since a product of two short vectors takes less time than {@link Checks} would:
   * nothing is allocated, and where {@link Kernels#dotRunsUnheld} allows, nothing counted.
   */
  @Override
  public final float dot(Tensor a, Tensor b) {
    requireOpen();
    BackendBase base = base();
    TensorView left = Checks.view("a", a, base);
    Checks.requireSupport(base, Op.DOT, left.storage());
    TensorView right = Checks.view("b", b, base);
    Checks.requireSupport(base, Op.DOT, right.storage());
    Checks.requireVectors(left, right);
    return base.kernels().dotRunsUnheld() ? unheldDot(left, right) : heldDot(left, right);
  }

  /**
   * A product that may find its operands' memory taken back and used again, be it before it begins.
   * What it read counts if both are still open behind it: a storage is closed before its memory is
   * given back.
   */
  private float unheldDot(TensorView a, TensorView b) {
    float sum;
    try {
      sum = kernels().dot(a, b);
    } catch (IllegalStateException e) {
      a.storage().requireOpen();
      b.storage().requireOpen();
      throw e;
    }
    // No read of an element may come after those of the states.
    VarHandle.loadLoadFence();
    a.storage().requireOpen();
    b.storage().requireOpen();
    return sum;
  }

  private float heldDot(TensorView a, TensorView b) {
    base().enter();
    try {
      a.storage().acquire();
      try {
        b.storage().acquire();
        try {
          return kernels().dot(a, b);
        } finally {
          b.storage().release();
        }
      } finally {
        a.storage().release();
      }
    } finally {
      base().exit();
    }
  }

  @Override
  public final float amax(Tensor x) {
    Checks checks = checks(Op.AMAX);
    TensorView view = checks.operand("x", x);
    return checks.run(() -> kernels().amax(view));
  }

  @Override
  public final Tensor gemv(Tensor a, Tensor x) {
    Checks checks = checks(Op.GEMV);
    TensorView matrix = checks.operand("a", a);
    TensorView vector = checks.operand("x", x);
    Checks.requireRank("a", matrix, 2);
    Checks.requireShape("x", vector, Shape.of(matrix.shape().columns()));
    return checks.fill(
        DType.F32,
        Shape.of(matrix.shape().rows()),
        Scaling.none(),
        out -> kernels().gemv(matrix, vector, out));
  }

  @Override
  public final Tensor pack(Tensor b) {
    Checks checks = checks(Op.GEMM);
    TensorView view = checks.operand("b", b);
    Checks.requireRank("b", view, 2);
    // Weights [N, K] keep their layout, so that blocks stay whole and products by rows stay fast.
    boolean turned = !isUncut(view) && (isUncut(view.transposed()) || hasRunsInColumns(view));
    TensorView source = turned ? view.transposed() : view;
    requireUncut("b", source);
    TensorView out =
        checks.run(
            () ->
                base()
                    .filled(
                        source.dtype(),
                        source.shape(),
                        source.scaling(),
                        packed -> kernels().pack(source, packed, turned)));
    return adopt(turned ? out.turned() : out);
  }

  @Override
  public final Tensor gemm(Gemm gemm) {
    Objects.requireNonNull(gemm, "gemm");
    Checks checks = checks(Op.GEMM);
    QuantSpec output = gemm.output();
    checks.supported(output.dtype(), output.scaling());
    TensorView a = checks.operand("a", gemm.a());
    TensorView b = checks.operand("b", gemm.b());
    Checks.requireRankAtLeast("a", a, 2);
    Checks.requireRankAtLeast("b", b, 2);
    if (a.shape().columns() != b.shape().rows()) {
      throw new IllegalArgumentException(
          "b: a product of %s and %s: K is %d in a and %d in b"
              .formatted(a.shape(), b.shape(), a.shape().columns(), b.shape().rows()));
    }
    long[] batch = Checks.batchDims(a.shape(), b.shape());
    Shape shape = Checks.matrices(batch, a.shape().rows(), b.shape().columns());
    TensorView c = null;
    if (gemm.c() != null) {
      c = checks.floats("c", gemm.c());
      Checks.requireShape("c", c, shape);
    } else if (gemm.beta() != 0) {
      throw new IllegalArgumentException("c: beta is " + gemm.beta() + " and there is no C");
    }
    TensorView bias = null;
    if (gemm.bias() != null) {
      bias = checks.floats("bias", gemm.bias());
      Checks.requireShape("bias", bias, Shape.of(shape.columns()));
    }
    TensorView amax = null;
    if (gemm.amax() != null) {
      amax = checks.floats("amax", gemm.amax());
      if (amax.dtype() != DType.F32 || !amax.isWhole() || amax.shape().elements() != 1) {
        throw new IllegalArgumentException(
            "amax: " + amax + " is not a whole F32 tensor of one element");
      }
      checks.requireOtherStorage("amax", amax);
    }
    TensorView left = a.broadcast(batch);
    TensorView right = b.broadcast(batch);
    boolean direct =
        output.scaling() instanceof Scaling.None
            && isDefaultRounding(output)
            && (Checks.isFloatType(output.dtype()) || kernels().gemmRoundsTo(output.dtype()));
    TensorView addend = c;
    TensorView columns = bias;
    TensorView largest = amax;
    Consumer<TensorView> product =
        out ->
            kernels()
                .gemm(
                    new GemmCall(
                        left,
                        right,
                        addend,
                        columns,
                        gemm.alpha(),
                        gemm.beta(),
                        gemm.activation(),
                        out,
                        largest));
    if (direct) {
      return checks.fill(output.dtype(), shape, Scaling.none(), product);
    }
    try (TensorView exact = checks.temporary(DType.F32, shape, product)) {
      return quantize(exact, output);
    }
  }

  private static boolean isDefaultRounding(QuantSpec spec) {
    return spec.rounding() instanceof Rounding.Mode mode
        && mode == Rounding.Mode.NEAREST_EVEN
        && spec.overflow() == Overflow.defaultFor(spec.dtype());
  }

  @Override
  public final List<Tensor> gemms(List<Gemm> gemms) {
    Objects.requireNonNull(gemms, "gemms");
    gemms.forEach(gemm -> Objects.requireNonNull(gemm, "gemms"));
    List<Tensor> results = new ArrayList<>(gemms.size());
    try {
      gemms.forEach(gemm -> results.add(gemm(gemm)));
    } finally {
      if (results.size() < gemms.size()) {
        results.forEach(Tensor::close);
      }
    }
    return List.copyOf(results);
  }

  @Override
  public final Tensor add(Tensor a, Tensor b) {
    Checks checks = checks(Op.ADD);
    TensorView left = checks.supportedFloats("a", a);
    TensorView right = checks.floats("b", b);
    Checks.requireType("b", right, left.dtype());
    if (!right.shape().equals(left.shape())) {
      Checks.requireShape("b", right, Shape.of(left.shape().columns()));
    }
    return checks.fillLike(left, out -> kernels().add(left, right, out));
  }

  @Override
  public final Tensor activation(Tensor x, Activation activation) {
    Objects.requireNonNull(activation, "activation");
    Checks checks = checks(Op.ACTIVATION);
    TensorView view = checks.supportedFloats("x", x);
    return checks.fillLike(view, out -> kernels().activation(view, activation, out));
  }

  @Override
  public final Tensor softmax(Softmax softmax) {
    Objects.requireNonNull(softmax, "softmax");
    Checks checks = checks(Op.SOFTMAX);
    TensorView x = checks.supportedFloats("x", softmax.x());
    TensorView lengths = null;
    if (softmax.lengths() != null) {
      Checks.requireRankAtLeast("x", x, 2);
      lengths = checks.indices("lengths", softmax.lengths(), Shape.of(x.shape().dim(0)));
      checks.requireRange("lengths", lengths, 0, x.shape().columns());
    }
    TensorView counted = lengths;
    return checks.fillLike(
        x, out -> kernels().softmax(x, softmax.scale(), counted, softmax.causal(), out));
  }

  @Override
  public final Tensor attention(Attention attention) {
    Objects.requireNonNull(attention, "attention");
    Checks checks = checks(Op.ATTENTION);
    TensorView q = checks.floats("q", attention.q());
    TensorView k = checks.operand("k", attention.k());
    TensorView v = checks.operand("v", attention.v());
    Checks.requireType("v", v, k.dtype());
    if (Checks.isFloatType(k.dtype())) {
      Checks.requireType("k", k, q.dtype());
    }
    Checks.requireFloatType("output", attention.output());
    Checks.requireHeads(q, k, v);
    TensorView lengths = null;
    if (attention.lengths() != null) {
      Checks.requireRank("q", q, 4);
      lengths = checks.indices("lengths", attention.lengths(), Shape.of(q.shape().dim(0)));
      checks.requireRange("lengths", lengths, 0, k.shape().rows());
    }
    TensorView counted = lengths;
    TensorView queries = batched(q);
    TensorView keys = batched(k);
    TensorView values = batched(v);
    Shape byQuery = queries.transposed(1, 2).shape();
    TensorView out =
        checks.run(
            () ->
                base()
                    .filled(
                        attention.output(),
                        byQuery,
                        Scaling.none(),
                        made ->
                            kernels()
                                .attention(
                                    new AttentionCall(
                                        queries,
                                        keys,
                                        values,
                                        attention.scale(),
                                        attention.causal(),
                                        counted,
                                        made))));
    return adopt(out.byHeads(q.shape()));
  }

  /** A stack of heads with a batch dimension, of 1 if there is none. */
  private static TensorView batched(TensorView x) {
    return x.shape().rank() == 4 ? x : x.broadcast(new long[] {1, x.shape().dim(0)});
  }

  @Override
  public final Tensor layerNorm(Tensor x, Tensor gamma, Tensor beta, float epsilon) {
    Checks checks = checks(Op.LAYER_NORM);
    TensorView view = checks.supportedFloats("x", x);
    TensorView scale = checks.rowOf("gamma", gamma, view);
    TensorView shift = checks.rowOf("beta", beta, view);
    Checks.requireEpsilon(epsilon);
    return checks.fillLike(view, out -> kernels().layerNorm(view, scale, shift, epsilon, out));
  }

  @Override
  public final Tensor rmsNorm(Tensor x, Tensor gamma, float epsilon) {
    Checks checks = checks(Op.RMS_NORM);
    TensorView view = checks.supportedFloats("x", x);
    TensorView scale = checks.rowOf("gamma", gamma, view);
    Checks.requireEpsilon(epsilon);
    return checks.fillLike(view, out -> kernels().rmsNorm(view, scale, epsilon, out));
  }

  @Override
  public final Tensor rope(Rope rope) {
    Objects.requireNonNull(rope, "rope");
    Checks checks = checks(Op.ROPE);
    TensorView x = checks.supportedFloats("x", rope.x());
    Checks.requireRankAtLeast("x", x, 2);
    TensorView positions =
        rope.positions() == null
            ? null
            : checks.indices("positions", rope.positions(), Shape.of(x.shape().rows()));
    return checks.fillLike(
        x, out -> kernels().rope(x, rope.dims(), rope.base(), rope.interleaved(), positions, out));
  }

  @Override
  public final Tensor embedding(Tensor table, Tensor ids, DType to) {
    Checks checks = checks(Op.EMBEDDING);
    TensorView rows = checks.operand("table", table);
    Checks.requireRank("table", rows, 2);
    TensorView which = checks.indices("ids", ids);
    Checks.requireFloatType("to", to);
    checks.requireRange("ids", which, 0, rows.shape().rows() - 1);
    long[] dims = ids.shape().dims();
    long[] gathered = java.util.Arrays.copyOf(dims, dims.length + 1);
    gathered[dims.length] = rows.shape().columns();
    return checks.fill(
        to, Shape.of(gathered), Scaling.none(), out -> kernels().embedding(rows, which, out));
  }

  @Override
  public final Tensor pool(Tensor x, Pooling pooling, Tensor lengths) {
    Objects.requireNonNull(pooling, "pooling");
    Checks checks = checks(Op.POOL);
    TensorView view = checks.supportedFloats("x", x);
    Checks.requireRank("x", view, 3);
    long batch = view.shape().dim(0);
    if (view.shape().dim(1) == 0 && batch != 0) {
      throw new IllegalArgumentException(
          "x: sequences of shape " + view.shape() + " have no vector to pool");
    }
    TensorView counted = null;
    if (lengths != null && pooling == Pooling.MEAN) {
      counted = checks.indices("lengths", lengths, Shape.of(batch));
      checks.requireRange("lengths", counted, 1, view.shape().dim(1));
    }
    TensorView read = counted;
    return checks.fill(
        view.dtype(),
        Shape.of(batch, view.shape().dim(2)),
        Scaling.none(),
        out -> {
          switch (pooling) {
            case MEAN -> kernels().meanPool(view, read, out);
            case FIRST -> kernels().copy(view.slice(1, 0, Math.min(1, view.shape().dim(1))), out);
          }
        });
  }

  @Override
  public final Tensor l2Normalize(Tensor x) {
    Checks checks = checks(Op.L2_NORMALIZE);
    TensorView view = checks.supportedFloats("x", x);
    return checks.fillLike(view, out -> kernels().l2Normalize(view, out));
  }

  private Checks checks(Op op) {
    requireOpen();
    return new Checks(this, op);
  }
}
