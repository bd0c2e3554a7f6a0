package com.example.tiny;

import dev.minifloat.Activation;
import dev.minifloat.Overflow;
import dev.minifloat.QuantSpec;
import dev.minifloat.Rounding;
import dev.minifloat.spi.AttentionCall;
import dev.minifloat.spi.GemmCall;
import dev.minifloat.spi.Kernels;
import dev.minifloat.spi.TensorView;

/** Passes every call on. */
class DelegatingKernels implements Kernels {
  private final Kernels sound;

  DelegatingKernels(Kernels sound) {
    this.sound = sound;
  }

  @Override
  public void copy(TensorView x, TensorView out) {
    sound.copy(x, out);
  }

  @Override
  public void convert(TensorView x, TensorView out, Rounding rounding, Overflow overflow) {
    sound.convert(x, out, rounding, overflow);
  }

  @Override
  public void quantize(TensorView x, TensorView out, QuantSpec spec) {
    sound.quantize(x, out, spec);
  }

  @Override
  public void dequantize(TensorView x, TensorView out) {
    sound.dequantize(x, out);
  }

  @Override
  public float dot(TensorView a, TensorView b) {
    return sound.dot(a, b);
  }

  @Override
  public float amax(TensorView x) {
    return sound.amax(x);
  }

  @Override
  public void gemv(TensorView a, TensorView x, TensorView out) {
    sound.gemv(a, x, out);
  }

  @Override
  public void pack(TensorView x, TensorView out, boolean transposed) {
    sound.pack(x, out, transposed);
  }

  @Override
  public void gemm(GemmCall call) {
    sound.gemm(call);
  }

  @Override
  public void add(TensorView a, TensorView b, TensorView out) {
    sound.add(a, b, out);
  }

  @Override
  public void activation(TensorView x, Activation activation, TensorView out) {
    sound.activation(x, activation, out);
  }

  @Override
  public void softmax(
      TensorView x, float scale, TensorView lengths, boolean causal, TensorView out) {
    sound.softmax(x, scale, lengths, causal, out);
  }

  @Override
  public void attention(AttentionCall call) {
    sound.attention(call);
  }

  @Override
  public void layerNorm(
      TensorView x, TensorView gamma, TensorView beta, float epsilon, TensorView out) {
    sound.layerNorm(x, gamma, beta, epsilon, out);
  }

  @Override
  public void rmsNorm(TensorView x, TensorView gamma, float epsilon, TensorView out) {
    sound.rmsNorm(x, gamma, epsilon, out);
  }

  @Override
  public void rope(
      TensorView x,
      int dims,
      float base,
      boolean interleaved,
      TensorView positions,
      TensorView out) {
    sound.rope(x, dims, base, interleaved, positions, out);
  }

  @Override
  public void embedding(TensorView table, TensorView ids, TensorView out) {
    sound.embedding(table, ids, out);
  }

  @Override
  public void meanPool(TensorView x, TensorView lengths, TensorView out) {
    sound.meanPool(x, lengths, out);
  }

  @Override
  public void l2Normalize(TensorView x, TensorView out) {
    sound.l2Normalize(x, out);
  }

  @Override
  public int[] readInts(TensorView x) {
    return sound.readInts(x);
  }
}
