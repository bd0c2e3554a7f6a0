package dev.minifloat.bench;

import java.util.Optional;

/** Row functions with the functions of {@link Math}. */
final class ScalarRows implements Contestant {
  private final Workload.Norm work;
  private final float[] x;
  private final float[] gamma;
  private final float[] beta;
  private final float[] out;

  private ScalarRows(Workload.Norm work) {
    this.work = work;
    x = work.x().distinct();
    gamma = work.gamma().distinct();
    beta = work.beta().distinct();
    out = new float[x.length];
  }

  /** The JDK has no erf. */
  static Optional<Contestant> of(Workload.Norm work) {
    return work.function() == Workload.Function.GELU_ERF
        ? Optional.empty()
        : Optional.of(new ScalarRows(work));
  }

  @Override
  public String name() {
    return Scalar.NAME;
  }

  @Override
  public void run() {
    for (int from = 0; from < x.length; from += work.columns()) {
      int to = from + work.columns();
      switch (work.function()) {
        case SOFTMAX -> softmax(from, to);
        case LAYER_NORM -> layerNorm(from, to);
        case RMS_NORM -> rmsNorm(from, to);
        case GELU_TANH -> gelu(from, to);
        case SILU -> silu(from, to);
        case GELU_ERF -> throw new AssertionError("never made");
      }
    }
  }

  private void softmax(int from, int to) {
    float max = Float.NEGATIVE_INFINITY;
    for (int i = from; i < to; i++) {
      max = Math.max(max, x[i]);
    }
    float sum = 0;
    for (int i = from; i < to; i++) {
      out[i] = (float) Math.exp(x[i] - max);
      sum += out[i];
    }
    for (int i = from; i < to; i++) {
      out[i] /= sum;
    }
  }

  private void layerNorm(int from, int to) {
    float sum = 0;
    for (int i = from; i < to; i++) {
      sum += x[i];
    }
    float mean = sum / (to - from);
    float squares = 0;
    for (int i = from; i < to; i++) {
      squares += (x[i] - mean) * (x[i] - mean);
    }
    float factor = inverseRoot(squares / (to - from));
    for (int i = from; i < to; i++) {
      out[i] = (x[i] - mean) * factor * gamma[i - from] + beta[i - from];
    }
  }

  private void rmsNorm(int from, int to) {
    float squares = 0;
    for (int i = from; i < to; i++) {
      squares += x[i] * x[i];
    }
    float factor = inverseRoot(squares / (to - from));
    for (int i = from; i < to; i++) {
      out[i] = x[i] * factor * gamma[i - from];
    }
  }

  private static float inverseRoot(float meanSquare) {
    return (float) (1 / Math.sqrt(meanSquare + Workload.Norm.EPSILON));
  }

  private void gelu(int from, int to) {
    double root = Math.sqrt(2 / Math.PI);
    for (int i = from; i < to; i++) {
      double t = x[i];
      out[i] = (float) (0.5 * t * (1 + Math.tanh(root * (t + 0.044715 * t * t * t))));
    }
  }

  private void silu(int from, int to) {
    for (int i = from; i < to; i++) {
      out[i] = (float) (x[i] / (1 + Math.exp(-x[i])));
    }
  }

  @Override
  public float[] result() {
    return out.clone();
  }

  @Override
  public void close() {}
}
