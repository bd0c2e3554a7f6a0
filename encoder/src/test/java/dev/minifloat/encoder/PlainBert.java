package dev.minifloat.encoder;

import dev.minifloat.HostTensor;
import dev.minifloat.Pooling;
import java.util.Map;

/** The encoder once more, in plain loops over doubles, one text at a time: the oracle. */
final class PlainBert {
  private final Map<String, HostTensor> weights;
  private final BertConfig config;

  PlainBert(Map<String, HostTensor> weights, BertConfig config) {
    this.weights = weights;
    this.config = config;
  }

  double[] embed(int[] ids, Pooling pooling) {
    double[][] x = new double[ids.length][];
    for (int s = 0; s < ids.length; s++) {
      double[] sum = row(BertWeights.WORDS, ids[s]);
      plus(sum, row(BertWeights.POSITIONS, s));
      plus(sum, row(BertWeights.TYPES, 0));
      x[s] = norm(sum, BertWeights.EMBEDDING_NORM);
    }
    for (int i = 0; i < config.layers(); i++) {
      x = layer(x, i);
    }
    double[] pooled =
        switch (pooling) {
          case FIRST -> x[0].clone();
          case MEAN -> {
            double[] mean = new double[config.hidden()];
            for (double[] token : x) {
              plus(mean, token);
            }
            for (int h = 0; h < mean.length; h++) {
              mean[h] /= x.length;
            }
            yield mean;
          }
        };
    double squares = 0;
    for (double value : pooled) {
      squares += value * value;
    }
    for (int h = 0; h < pooled.length; h++) {
      pooled[h] /= Math.sqrt(squares);
    }
    return pooled;
  }

  private double[][] layer(double[][] x, int layer) {
    int tokens = x.length;
    double[][] q = linear(x, BertWeights.layer(layer, BertWeights.QUERY));
    double[][] k = linear(x, BertWeights.layer(layer, BertWeights.KEY));
    double[][] v = linear(x, BertWeights.layer(layer, BertWeights.VALUE));
    double[][] context = new double[tokens][config.hidden()];
    int width = config.headWidth();
    for (int head = 0; head < config.heads(); head++) {
      for (int s = 0; s < tokens; s++) {
        double[] weight = new double[tokens];
        double sum = 0;
        for (int t = 0; t < tokens; t++) {
          double score = 0;
          for (int d = head * width; d < (head + 1) * width; d++) {
            score += q[s][d] * k[t][d];
          }
          weight[t] = Math.exp(score / Math.sqrt(width));
          sum += weight[t];
        }
        for (int t = 0; t < tokens; t++) {
          for (int d = head * width; d < (head + 1) * width; d++) {
            context[s][d] += weight[t] / sum * v[t][d];
          }
        }
      }
    }
    double[][] attended = linear(context, BertWeights.layer(layer, BertWeights.ATTENTION_OUTPUT));
    for (int s = 0; s < tokens; s++) {
      plus(attended[s], x[s]);
      attended[s] = norm(attended[s], BertWeights.layer(layer, BertWeights.ATTENTION_NORM));
    }
    double[][] wide = linear(attended, BertWeights.layer(layer, BertWeights.UP));
    for (double[] token : wide) {
      for (int i = 0; i < token.length; i++) {
        token[i] = token[i] / 2 * (1 + erf(token[i] / Math.sqrt(2)));
      }
    }
    double[][] out = linear(wide, BertWeights.layer(layer, BertWeights.DOWN));
    for (int s = 0; s < tokens; s++) {
      plus(out[s], attended[s]);
      out[s] = norm(out[s], BertWeights.layer(layer, BertWeights.OUTPUT_NORM));
    }
    return out;
  }

  private double[][] linear(double[][] x, String part) {
    HostTensor weight = weights.get(part + ".weight");
    double[] bias = row(part + ".bias", 0);
    int in = (int) weight.shape().columns();
    float[] matrix = weight.toFloats();
    double[][] y = new double[x.length][bias.length];
    for (int s = 0; s < x.length; s++) {
      for (int o = 0; o < bias.length; o++) {
        double sum = bias[o];
        for (int i = 0; i < in; i++) {
          sum += x[s][i] * matrix[o * in + i];
        }
        y[s][o] = sum;
      }
    }
    return y;
  }

  private double[] norm(double[] x, String part) {
    double[] gain = row(part + ".weight", 0);
    double[] shift = row(part + ".bias", 0);
    double mean = 0;
    for (double value : x) {
      mean += value / x.length;
    }
    double variance = 0;
    for (double value : x) {
      variance += (value - mean) * (value - mean) / x.length;
    }
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      y[i] = (x[i] - mean) / Math.sqrt(variance + config.epsilon()) * gain[i] + shift[i];
    }
    return y;
  }

  private double[] row(String name, int index) {
    HostTensor table = weights.get(name);
    int columns = (int) table.shape().columns();
    double[] row = new double[columns];
    for (int i = 0; i < columns; i++) {
      row[i] = table.get((long) index * columns + i);
    }
    return row;
  }

  private static void plus(double[] x, double[] y) {
    for (int i = 0; i < x.length; i++) {
      x[i] += y[i];
    }
  }

  /**
   * By its Maclaurin series: 2/√π Σ (−1)ⁿ x^(2n+1) / (n! (2n + 1)); good to 1e-10 below |x| = 4.
   */
  private static double erf(double x) {
    if (Math.abs(x) > 4) {
      return Math.signum(x);
    }
    double term = x;
    double sum = 0;
    for (int n = 0; n < 100; n++) {
      sum += term / (2 * n + 1);
      term *= -x * x / (n + 1);
    }
    return 2 / Math.sqrt(Math.PI) * sum;
  }
}
