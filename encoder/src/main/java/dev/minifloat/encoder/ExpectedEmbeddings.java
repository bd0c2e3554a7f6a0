package dev.minifloat.encoder;

import dev.minifloat.MinifloatException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * What ONNX Runtime 1.23.2 makes of {@link SampleSentences#dozen} with each {@link KnownModel}, in
 * F32 on a CPU, as one padded batch; pooled and normalized in double and rounded to F32. With these
 * an installed program can check itself without ONNX Runtime.
 */
public final class ExpectedEmbeddings {
  /** How far a component may be off in F32, whatever the order of sums. */
  public static final double TOLERANCE = 1e-4;

  private ExpectedEmbeddings() {}

  /** The vectors of the sentences, in their order. */
  public static List<float[]> of(KnownModel model) {
    String name = "onnxruntime-" + model.modelName() + ".bin";
    try (InputStream in = ExpectedEmbeddings.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new MinifloatException("The resource " + name + " is missing from the encoder's jar");
      }
      FloatBuffer values =
          ByteBuffer.wrap(in.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
      int sentences = SampleSentences.dozen().size();
      List<float[]> vectors = new ArrayList<>(sentences);
      int width = values.remaining() / sentences;
      for (int i = 0; i < sentences; i++) {
        float[] vector = new float[width];
        values.get(vector);
        vectors.add(vector);
      }
      return vectors;
    } catch (IOException e) {
      throw new MinifloatException("Reading the resource " + name + ": " + e, e);
    }
  }

  /**
   * The largest difference of any component from what is expected.
   *
   * @param vectors of the sentences, in their order
   * @throws IllegalArgumentException if numbers or widths differ
   */
  public static double largestDifference(KnownModel model, List<float[]> vectors) {
    List<float[]> expected = of(model);
    if (vectors.size() != expected.size()) {
      throw new IllegalArgumentException(
          "vectors: %d of %d sentences".formatted(vectors.size(), expected.size()));
    }
    double largest = 0;
    for (int i = 0; i < expected.size(); i++) {
      float[] wanted = expected.get(i);
      float[] found = vectors.get(i);
      if (found.length != wanted.length) {
        throw new IllegalArgumentException(
            "vectors[%d]: width %d, not %d".formatted(i, found.length, wanted.length));
      }
      for (int h = 0; h < wanted.length; h++) {
        // A NaN must win, and Math.max lets it.
        largest = Math.max(largest, Math.abs((double) found[h] - wanted[h]));
      }
    }
    return largest;
  }
}
