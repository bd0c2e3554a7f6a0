package dev.minifloat.encoder;

import java.util.List;

/**
 * How far embeddings have moved from others of the same texts. Sums are taken in double.
 *
 * @param minCosine the smallest cosine between a text's two vectors
 * @param meanCosine the mean of these cosines
 * @param worstPairChange the largest change, up or down, of the similarity (cosine) of two
 *     different texts; 0 for a single text
 */
public record Fidelity(double minCosine, double meanCosine, double worstPairChange) {
  /**
   * Compares the vectors of the same texts.
   *
   * @param expected one vector or more, none of length 0
   * @param actual as many, as wide
   * @throws IllegalArgumentException if there is none, or the numbers or widths differ
   */
  public static Fidelity of(List<float[]> expected, List<float[]> actual) {
    if (expected.isEmpty() || expected.size() != actual.size()) {
      throw new IllegalArgumentException(
          "actual: %d vectors to compare with %d".formatted(actual.size(), expected.size()));
    }
    double min = Double.POSITIVE_INFINITY;
    double sum = 0;
    double worst = 0;
    for (int i = 0; i < expected.size(); i++) {
      double cosine = cosine(expected.get(i), actual.get(i));
      min = Math.min(min, cosine);
      sum += cosine;
      for (int j = 0; j < i; j++) {
        double before = cosine(expected.get(i), expected.get(j));
        double after = cosine(actual.get(i), actual.get(j));
        worst = Math.max(worst, Math.abs(after - before));
      }
    }
    return new Fidelity(min, sum / expected.size(), worst);
  }

  /**
   * The cosine of the angle between two vectors.
   *
   * @throws IllegalArgumentException if their widths differ
   */
  public static double cosine(float[] a, float[] b) {
    if (a.length != b.length) {
      throw new IllegalArgumentException("b: width " + b.length + " is not " + a.length);
    }
    double dot = 0;
    double squaresA = 0;
    double squaresB = 0;
    for (int i = 0; i < a.length; i++) {
      dot += (double) a[i] * b[i];
      squaresA += (double) a[i] * a[i];
      squaresB += (double) b[i] * b[i];
    }
    return dot / Math.sqrt(squaresA * squaresB);
  }
}
