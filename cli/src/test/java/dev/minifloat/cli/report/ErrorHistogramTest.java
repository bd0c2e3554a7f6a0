package dev.minifloat.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class ErrorHistogramTest {
  private static final int BINS = 45;

  private static ErrorHistogram of(float... errors) {
    return ErrorHistogram.of(List.of(new float[errors.length]), List.of(errors));
  }

  @Test
  void eachDecadeHasFiveBins() {
    ErrorHistogram histogram = of(1.01e-3f, -1.5e-3f, 1.7e-3f, -9.9e-3f);
    assertEquals(BINS, histogram.counts().size());
    int first = (9 - 3) * 5;
    assertEquals(2, histogram.counts().get(first));
    assertEquals(1, histogram.counts().get(first + 1));
    assertEquals(0, histogram.counts().get(first + 2));
    assertEquals(1, histogram.counts().get(first + 4));
    assertEquals(1e-3, ErrorHistogram.lowerEdge(first), 1e-12);
    assertEquals(0.5, histogram.share(first));
  }

  @Test
  void zerosAreApartAndExtremesInTheOuterBins() {
    ErrorHistogram histogram = of(0, -0f, 1e-20f, 25);
    assertEquals(2, histogram.exact());
    assertEquals(1, histogram.counts().getFirst());
    assertEquals(1, histogram.counts().getLast());
    assertEquals(4, histogram.total());
    assertEquals(25, histogram.largest());
  }

  @Test
  void medianIsOfAllSizes() {
    assertEquals(0.5, of(0, 0, -0.5f, 1, 2).median());
    assertEquals(0, of(0, 0, 0, 1, 2).median());
  }

  @Test
  void vectorsMustMatch() {
    List<float[]> one = List.of(new float[1]);
    assertThrows(IllegalArgumentException.class, () -> ErrorHistogram.of(one, List.of()));
    assertThrows(IllegalArgumentException.class, () -> ErrorHistogram.of(List.of(), List.of()));
    assertThrows(
        IllegalArgumentException.class, () -> ErrorHistogram.of(one, List.of(new float[2])));
  }
}
