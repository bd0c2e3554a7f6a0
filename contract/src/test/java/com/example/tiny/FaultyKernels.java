package com.example.tiny;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.Scaling;
import dev.minifloat.codec.Codec;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.spi.AttentionCall;
import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.HostStorage;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/** Sound kernels with one fault. */
final class FaultyKernels extends DelegatingKernels {
  private final Fault fault;
  private final AtomicInteger products = new AtomicInteger();

  FaultyKernels(Kernels sound, Fault fault) {
    super(sound);
    this.fault = fault;
  }

  private static MemorySegment data(TensorView x) {
    return ((HostStorage) x.storage()).data();
  }

  private static int code(TensorView x, long index) {
    return PackedElements.get(x.dtype(), data(x), x.storageIndex(index));
  }

  @Override
  public void convert(TensorView x, TensorView out, Rounding rounding, Overflow overflow) {
    super.convert(x, out, rounding, overflow);
    for (long i = 0; i < x.shape().elements(); i++) {
      double value = Codec.decodeDouble(x.dtype(), code(x, i));
      if (fault == Fault.STOCHASTIC_INDEX_OFF_BY_ONE && rounding instanceof Rounding.Stochastic) {
        int late = Codec.encode(out.dtype(), value, rounding, overflow, i + 1);
        PackedElements.set(out.dtype(), data(out), i, late);
      }
      if (fault == Fault.CONVERT_FLUSHES_SUBNORMALS
          && x.dtype() == DType.F16
          && Math.abs(value) < DType.F16.minNormal()) {
        PackedElements.set(out.dtype(), data(out), i, 0);
      }
    }
  }

  @Override
  public void quantize(TensorView x, TensorView out, QuantSpec spec) {
    super.quantize(x, out, spec);
    HostTensor result = ((HostStorage) out.storage()).asHostTensor();
    if (fault == Fault.QUANTIZE_MULTIPLIES_BY_RECIPROCAL) {
      for (long i = 0; i < x.shape().elements(); i++) {
        float value = Codec.decode(x.dtype(), code(x, i));
        float scaled = value * (1 / result.scale(i));
        if (Float.isFinite(scaled)) {
          int element = Codec.encode(spec.dtype(), scaled, spec.rounding(), spec.overflow(), i);
          PackedElements.set(spec.dtype(), result.data(), i, element);
        }
      }
    }
    if (fault == Fault.QUANTIZE_LOSES_NAN) {
      DType scales = spec.scaling().scaleDType();
      for (long i = 0; i < result.grid().scales(); i++) {
        if (Codec.isNaN(scales, PackedElements.get(scales, result.scales(), i))) {
          PackedElements.set(scales, result.scales(), i, 0);
        }
      }
    }
  }

  @Override
  public void dequantize(TensorView x, TensorView out) {
    super.dequantize(x, out);
    HostTensor source = ((HostStorage) x.storage()).asHostTensor();
    if (fault == Fault.DEQUANTIZE_MISPLACES_SCALES && !(x.scaling() instanceof Scaling.None)) {
      for (long i = 0; i < x.shape().elements(); i++) {
        float value = source.scale(i) * Codec.decode(x.dtype(), code(x, i));
        PackedElements.set(out.dtype(), data(out), i, Codec.encode(out.dtype(), value));
      }
    }
  }

  @Override
  public float dot(TensorView a, TensorView b) {
    long n = a.shape().columns();
    return fault == Fault.DOT_MISSES_LAST_ELEMENT && n > 1
        ? super.dot(a.slice(0, 0, n - 1), b.slice(0, 0, n - 1))
        : super.dot(a, b);
  }

  @Override
  public void gemm(GemmCall call) {
    TensorView a = call.a();
    TensorView b = call.b();
    if (fault == Fault.GEMM_DROPS_TAIL_OF_K) {
      long kept = a.shape().columns() / 16 * 16;
      a = a.slice(-1, 0, kept);
      b = b.slice(-2, 0, kept);
    }
    TensorView bias = fault == Fault.GEMM_FORGETS_BIAS ? null : call.bias();
    super.gemm(
        new GemmCall(
            a,
            b,
            call.c(),
            bias,
            call.alpha(),
            call.beta(),
            call.activation(),
            call.out(),
            call.amax()));
    DType dtype = call.out().dtype();
    MemorySegment d = data(call.out());
    if (fault == Fault.GEMM_ACCUMULATES_IN_BF16) {
      for (long i = 0; i < call.out().shape().elements(); i++) {
        float sum = Codec.decode(dtype, PackedElements.get(dtype, d, i));
        float narrow = Codec.decode(DType.BF16, Codec.encode(DType.BF16, sum));
        PackedElements.set(dtype, d, i, Codec.encode(dtype, narrow));
      }
    }
    if (fault == Fault.GEMM_WAVERS && products.incrementAndGet() % 2 == 0 && d.byteSize() > 0) {
      PackedElements.set(dtype, d, 0, PackedElements.get(dtype, d, 0) ^ 1);
    }
  }

  @Override
  public void softmax(
      TensorView x, float scale, TensorView lengths, boolean causal, TensorView out) {
    TensorView read = fault == Fault.SOFTMAX_IGNORES_LENGTHS ? null : lengths;
    super.softmax(x, scale, read, causal && fault != Fault.SOFTMAX_SEES_THE_FUTURE, out);
  }

  @Override
  public void attention(AttentionCall call) {
    TensorView q = call.q();
    TensorView k = call.k();
    TensorView v = call.v();
    long queries = q.shape().rows();
    if (fault == Fault.ATTENTION_ALIGNS_FIRST_KEYS && call.causal() && k.shape().rows() > queries) {
      k = k.slice(2, 0, queries);
      v = v.slice(2, 0, queries);
    }
    if (fault == Fault.ATTENTION_READS_ONE_KEY_HEAD && k.shape().dim(1) > 1) {
      k = k.slice(1, 0, 1);
      v = v.slice(1, 0, 1);
    }
    super.attention(
        new AttentionCall(
            q,
            k,
            v,
            fault == Fault.ATTENTION_FORGETS_SCALE ? 1 : call.scale(),
            call.causal(),
            fault == Fault.ATTENTION_IGNORES_LENGTHS ? null : call.lengths(),
            call.out()));
  }

  @Override
  public void layerNorm(
      TensorView x, TensorView gamma, TensorView beta, float epsilon, TensorView out) {
    float used = fault == Fault.LAYER_NORM_TENFOLD_EPSILON ? 10 * epsilon : epsilon;
    super.layerNorm(x, gamma, beta, used, out);
  }

  @Override
  public void rope(
      TensorView x,
      int dims,
      float base,
      boolean interleaved,
      TensorView positions,
      TensorView out) {
    if (fault == Fault.CLAIMS_TOO_MUCH && x.dtype() == DType.F16) {
      throw new UnsupportedOperationException("rope of F16");
    }
    super.rope(x, dims, base, interleaved ^ (fault == Fault.ROPE_SWAPS_PAIRS), positions, out);
  }

  @Override
  public void meanPool(TensorView x, TensorView lengths, TensorView out) {
    super.meanPool(x, fault == Fault.POOL_IGNORES_LENGTHS ? null : lengths, out);
  }
}
