package dev.minifloat.cli.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * How the sizes |x − x₀| of errors are distributed over powers of ten.
 *
 * @param counts errors of each bin; bin i holds those from {@link #lowerEdge}(i) to the next edge.
 *     The first bin holds smaller ones too, the last one larger ones
 * @param exact how many errors are 0, which are in no bin
 * @param median the median of all sizes, zeros included
 * @param largest the largest
 */
public record ErrorHistogram(List<Long> counts, long exact, double median, double largest) {
  /** Bins of a factor of ten. */
  public static final int BINS_PER_DECADE = 5;

  /** Logarithm to base 10 of the lower edge of the first bin. */
  public static final int FIRST_DECADE = -9;

  /** Logarithm to base 10 of the upper edge of the last bin. */
  public static final int LAST_DECADE = 0;

  private static final int BINS = (LAST_DECADE - FIRST_DECADE) * BINS_PER_DECADE;

  /** Keeps a copy. */
  public ErrorHistogram {
    counts = List.copyOf(counts);
  }

  /**
   * Counts the differences of vectors' components.
   *
   * @throws IllegalArgumentException if numbers or widths differ, or there is no component
   */
  public static ErrorHistogram of(List<float[]> expected, List<float[]> actual) {
    if (expected.size() != actual.size()) {
      throw new IllegalArgumentException(
          "actual: %d vectors for %d".formatted(actual.size(), expected.size()));
    }
    List<Double> sizes = new ArrayList<>();
    for (int i = 0; i < expected.size(); i++) {
      float[] before = expected.get(i);
      float[] after = actual.get(i);
      if (before.length != after.length) {
        throw new IllegalArgumentException(
            "actual[%d]: width %d, not %d".formatted(i, after.length, before.length));
      }
      for (int h = 0; h < before.length; h++) {
        sizes.add(Math.abs((double) after[h] - before[h]));
      }
    }
    if (sizes.isEmpty()) {
      throw new IllegalArgumentException("expected: there is no component");
    }
    Collections.sort(sizes);
    long[] counts = new long[BINS];
    long exact = 0;
    for (double size : sizes) {
      if (size == 0) {
        exact++;
      } else {
        counts[bin(size)]++;
      }
    }
    return new ErrorHistogram(
        Arrays.stream(counts).boxed().toList(),
        exact,
        sizes.get(sizes.size() / 2),
        sizes.getLast());
  }

  private static int bin(double size) {
    double bin = Math.floor((Math.log10(size) - FIRST_DECADE) * BINS_PER_DECADE);
    return (int) Math.clamp(bin, 0, BINS - 1);
  }

  /** The lower edge of a bin. */
  public static double lowerEdge(int bin) {
    return Math.pow(10, FIRST_DECADE + (double) bin / BINS_PER_DECADE);
  }

  /** The part of all errors that a bin holds, from 0 to 1. */
  public double share(int bin) {
    return (double) counts.get(bin) / total();
  }

  /** All errors, zeros included. */
  public long total() {
    return exact + counts.stream().mapToLong(Long::longValue).sum();
  }
}
