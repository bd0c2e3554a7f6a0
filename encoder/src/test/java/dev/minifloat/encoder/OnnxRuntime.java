package dev.minifloat.encoder;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import dev.minifloat.Pooling;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;

/** ONNX Runtime on the model's own graph, and the pooling in doubles: the encoder's oracle. */
final class OnnxRuntime implements AutoCloseable {
  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  private final OrtSession session;

  OnnxRuntime(Path onnx) throws OrtException {
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      session = environment.createSession(onnx.toString(), options);
    }
  }

  /** The normalized embeddings of texts, computed as one padded batch. */
  double[][] embed(int[][] texts, Pooling pooling) throws OrtException {
    int tokens = Arrays.stream(texts).mapToInt(text -> text.length).max().orElseThrow();
    long[][] ids = new long[texts.length][tokens];
    long[][] mask = new long[texts.length][tokens];
    for (int i = 0; i < texts.length; i++) {
      for (int s = 0; s < texts[i].length; s++) {
        ids[i][s] = texts[i][s];
        mask[i][s] = 1;
      }
    }
    try (OnnxTensor inputIds = OnnxTensor.createTensor(environment, ids);
        OnnxTensor attentionMask = OnnxTensor.createTensor(environment, mask);
        OnnxTensor types = OnnxTensor.createTensor(environment, new long[texts.length][tokens]);
        OrtSession.Result result =
            session.run(
                Map.of(
                    "input_ids", inputIds,
                    "attention_mask", attentionMask,
                    "token_type_ids", types))) {
      float[][][] hidden = (float[][][]) result.get(0).getValue();
      double[][] vectors = new double[texts.length][];
      for (int i = 0; i < texts.length; i++) {
        vectors[i] = normalized(pooled(hidden[i], texts[i].length, pooling));
      }
      return vectors;
    }
  }

  private static double[] pooled(float[][] hidden, int length, Pooling pooling) {
    int counted = pooling == Pooling.FIRST ? 1 : length;
    double[] sum = new double[hidden[0].length];
    for (int s = 0; s < counted; s++) {
      for (int h = 0; h < sum.length; h++) {
        sum[h] += hidden[s][h] / (double) counted;
      }
    }
    return sum;
  }

  private static double[] normalized(double[] vector) {
    double norm = Math.sqrt(Arrays.stream(vector).map(x -> x * x).sum());
    return Arrays.stream(vector).map(x -> x / norm).toArray();
  }

  @Override
  public void close() throws OrtException {
    session.close();
  }
}
