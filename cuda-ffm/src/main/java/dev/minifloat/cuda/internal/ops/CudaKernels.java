package dev.minifloat.cuda.internal.ops;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.cuda.internal.driver.DeviceMemory;
import dev.minifloat.cuda.internal.plan.DeviceStorage;
import dev.minifloat.cuda.internal.plan.KernelSet;
import dev.minifloat.spi.AttentionCall;
import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.TensorView;
import java.lang.foreign.MemorySegment;

/** The operations of the backend, each in the class of its kind. */
public final class CudaKernels implements Kernels {
  private final CommandQueue queue;
  private final KernelSet kernels;
  private final Copies copies;
  private final Conversions conversions;
  private final Quantizer quantizer;
  private final Pointwise pointwise;
  private final Rows rows;
  private final Attentions attentions;
  private final Products products;

  /** Operations on a device's queue. */
  public CudaKernels(CommandQueue queue, KernelSet kernels) {
    this.queue = queue;
    this.kernels = kernels;
    copies = new Copies(queue, kernels);
    conversions = new Conversions(queue, kernels);
    quantizer = new Quantizer(queue, kernels);
    pointwise = new Pointwise(queue, kernels);
    rows = new Rows(queue, kernels);
    attentions = new Attentions(queue, kernels);
    products = new Products(queue, kernels, copies);
  }

  @Override
  public void copy(TensorView x, TensorView out) {
    copies.copy(x, out);
  }

  @Override
  public void convert(TensorView x, TensorView out, Rounding rounding, Overflow overflow) {
    conversions.convert(x, out, rounding, overflow);
  }

  @Override
  public void quantize(TensorView x, TensorView out, QuantSpec spec) {
    quantizer.quantize(x, out, spec);
  }

  @Override
  public void dequantize(TensorView x, TensorView out) {
    conversions.dequantize(x, out);
  }

  @Override
  public float dot(TensorView a, TensorView b) {
    return products.dot(a, b);
  }

  @Override
  public float amax(TensorView x) {
    return quantizer.amax(x);
  }

  @Override
  public void gemv(TensorView a, TensorView x, TensorView out) {
    products.gemv(a, x, out);
  }

  @Override
  public void gemm(GemmCall call) {
    products.gemm(call);
  }

  @Override
  public boolean gemmRoundsTo(DType output) {
    return kernels.multipliesTo(output);
  }

  @Override
  public double gemmGamma(DType a, DType b, long k) {
    return kernels.gamma(a, b, k);
  }

  @Override
  public void add(TensorView a, TensorView b, TensorView out) {
    pointwise.add(a, b, out);
  }

  @Override
  public void activation(TensorView x, Activation activation, TensorView out) {
    pointwise.activation(x, activation, out);
  }

  @Override
  public void softmax(
      TensorView x, float scale, TensorView lengths, boolean causal, TensorView out) {
    rows.softmax(x, scale, lengths, causal, out);
  }

  @Override
  public void attention(AttentionCall call) {
    attentions.attention(call);
  }

  @Override
  public void layerNorm(
      TensorView x, TensorView gamma, TensorView beta, float epsilon, TensorView out) {
    rows.layerNorm(x, gamma, beta, epsilon, out);
  }

  @Override
  public void rmsNorm(TensorView x, TensorView gamma, float epsilon, TensorView out) {
    rows.rmsNorm(x, gamma, epsilon, out);
  }

  @Override
  public void rope(
      TensorView x,
      int dims,
      float base,
      boolean interleaved,
      TensorView positions,
      TensorView out) {
    pointwise.rope(x, dims, base, interleaved, positions, out);
  }

  @Override
  public void embedding(TensorView table, TensorView ids, TensorView out) {
    conversions.embedding(table, ids, out);
  }

  @Override
  public void meanPool(TensorView x, TensorView lengths, TensorView out) {
    rows.meanPool(x, lengths, out);
  }

  @Override
  public void l2Normalize(TensorView x, TensorView out) {
    rows.l2Normalize(x, out);
  }

  @Override
  public int[] readInts(TensorView x) {
    int[] values = new int[Math.toIntExact(x.shape().elements())];
    if (values.length == 0) {
      return values;
    }
    MemorySegment host = MemorySegment.ofArray(values);
    if (x.isContiguous()) {
      DeviceStorage storage = (DeviceStorage) x.storage();
      queue.read(storage.memory(), x.offset() * Integer.BYTES, host);
      return values;
    }
    try (DeviceMemory dense = queue.temporary(host.byteSize())) {
      copies.elements(x, dense.address());
      queue.read(dense, 0, host);
    }
    return values;
  }
}
