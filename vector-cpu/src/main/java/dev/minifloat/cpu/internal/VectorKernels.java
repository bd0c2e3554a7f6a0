package dev.minifloat.cpu.internal;

import dev.minifloat.Activation;
import dev.minifloat.DType;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.attention.AttentionKernel;
import dev.minifloat.cpu.internal.convert.Conversions;
import dev.minifloat.cpu.internal.convert.Copier;
import dev.minifloat.cpu.internal.convert.Views;
import dev.minifloat.cpu.internal.gemm.PackingBuffers;
import dev.minifloat.cpu.internal.quantize.Amax;
import dev.minifloat.cpu.internal.quantize.Quantizer;
import dev.minifloat.cpu.internal.rows.Elementwise;
import dev.minifloat.cpu.internal.rows.Gathers;
import dev.minifloat.cpu.internal.rows.Norms;
import dev.minifloat.cpu.internal.rows.Rotary;
import dev.minifloat.cpu.internal.rows.Rows;
import dev.minifloat.cpu.internal.rows.SoftmaxRows;
import dev.minifloat.cpu.internal.runtime.Memory;
import dev.minifloat.cpu.internal.runtime.Work;
import dev.minifloat.cpu.internal.runtime.Workers;
import dev.minifloat.spi.AttentionCall;
import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.TensorView;

/** The operations of the backend, each in the class of its kind. */
public final class VectorKernels implements Kernels {
  private final Copier copier;
  private final Conversions conversions;
  private final Amax amax;
  private final Quantizer quantizer;
  private final Elementwise elementwise;
  private final Norms norms;
  private final SoftmaxRows softmax;
  private final Rotary rotary;
  private final Gathers gathers;
  private final Products products;
  private final AttentionKernel attention;

  /** Kernels that share threads and memory. */
  public VectorKernels(Workers workers, Memory memory) {
    copier = new Copier(workers, memory);
    conversions = new Conversions(workers, memory, copier);
    amax = new Amax(workers, memory, copier);
    quantizer = new Quantizer(workers, memory, copier, amax);
    elementwise = new Elementwise(workers, memory, copier);
    Rows rows = new Rows(workers, memory, copier);
    norms = new Norms(rows);
    softmax = new SoftmaxRows(rows);
    rotary = new Rotary(workers, memory, rows);
    gathers = new Gathers(workers, memory, copier);
    products = new Products(workers, memory);
    attention = new AttentionKernel(workers, new PackingBuffers(memory));
  }

  @Override
  public void copy(TensorView x, TensorView out) {
    copier.copy(x, out);
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

  /** Yes: the operands are native segments of shared arenas, whose every use is checked. */
  @Override
  public boolean dotRunsUnheld() {
    return true;
  }

  @Override
  public float amax(TensorView x) {
    return amax.amax(x);
  }

  @Override
  public void gemv(TensorView a, TensorView x, TensorView out) {
    products.gemv(a, x, out);
  }

  @Override
  public void pack(TensorView x, TensorView out, boolean transposed) {
    copier.copy(x, out);
    products.pack(out, transposed);
  }

  @Override
  public void gemm(GemmCall call) {
    products.gemm(call);
  }

  @Override
  public void add(TensorView a, TensorView b, TensorView out) {
    elementwise.add(a, b, out);
  }

  @Override
  public void activation(TensorView x, Activation activation, TensorView out) {
    elementwise.activation(x, activation, out);
  }

  @Override
  public void softmax(
      TensorView x, float scale, TensorView lengths, boolean causal, TensorView out) {
    softmax.softmax(x, scale, lengths, causal, out);
  }

  @Override
  public void attention(AttentionCall call) {
    attention.run(call);
  }

  @Override
  public void layerNorm(
      TensorView x, TensorView gamma, TensorView beta, float epsilon, TensorView out) {
    norms.layerNorm(x, gamma, beta, epsilon, out);
  }

  @Override
  public void rmsNorm(TensorView x, TensorView gamma, float epsilon, TensorView out) {
    norms.rmsNorm(x, gamma, epsilon, out);
  }

  @Override
  public void rope(
      TensorView x,
      int dims,
      float base,
      boolean interleaved,
      TensorView positions,
      TensorView out) {
    rotary.rope(x, dims, base, interleaved, positions, out);
  }

  @Override
  public void embedding(TensorView table, TensorView ids, TensorView out) {
    gathers.embedding(table, ids, out);
  }

  @Override
  public void meanPool(TensorView x, TensorView lengths, TensorView out) {
    gathers.meanPool(x, lengths, out);
  }

  @Override
  public void l2Normalize(TensorView x, TensorView out) {
    norms.l2Normalize(x, out);
  }

  @Override
  public int[] readInts(TensorView x) {
    int[] values = new int[Work.toInt("indices", x.shape().elements(), "elements")];
    for (int i = 0; i < values.length; i++) {
      values[i] = PackedElements.get(DType.I32, Views.storage(x).data(), x.storageIndex(i));
    }
    return values;
  }
}
