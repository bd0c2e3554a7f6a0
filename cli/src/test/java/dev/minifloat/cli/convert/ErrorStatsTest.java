package dev.minifloat.cli.convert;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The sums of many values at once, against one value after the other. */
class ErrorStatsTest {
  /** What is counted of values one by one. */
  private static final class Oracle {
    private long notFinite;
    private long lost;
    private long zeros;
    private long flushed;
    private double signal;
    private double noise;
    private float maxError;

    void add(float x, float y) {
      if (!Float.isFinite(x)) {
        notFinite++;
        return;
      }
      if (!Float.isFinite(y)) {
        lost++;
        return;
      }
      float d = x - y;
      signal += (double) x * x;
      noise += (double) d * d;
      maxError = Math.max(maxError, Math.abs(d));
      zeros += x == 0 ? 1 : 0;
      flushed += x != 0 && y == 0 ? 1 : 0;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 0",
    "2, 0",
    "3, 0",
    "1023, 0",
    "1024, 0",
    "1025, 0",
    "2047, 0",
    "70001, 0",
    "1, 1",
    "5, 3",
    "1025, 1",
    "2048, 100",
    "70001, 2",
  })
  void theSumsAreThoseOfOneValueAfterTheOther(int n, int gaps) {
    Random random = new Random(31L * n + gaps);
    float[] before = new float[n];
    float[] after = new float[n];
    for (int i = 0; i < n; i++) {
      before[i] = random.nextInt(9) == 0 ? 0f : (float) random.nextGaussian();
      if (random.nextInt(50) == 0) {
        before[i] = -0f;
      }
      after[i] = before[i] == 0 || random.nextInt(7) == 0 ? 0f : before[i] * 1.01f;
    }
    for (int i = 0; i < gaps; i++) {
      int at = random.nextInt(n);
      switch (i % 3) {
        case 0 -> before[at] = Float.NaN;
        case 1 -> before[at] = Float.NEGATIVE_INFINITY;
        default -> after[at] = Float.POSITIVE_INFINITY;
      }
    }
    Oracle oracle = new Oracle();
    for (int i = 0; i < n; i++) {
      oracle.add(before[i], after[i]);
    }

    ErrorStats stats = new ErrorStats();
    stats.add(MemorySegment.ofArray(before), MemorySegment.ofArray(after));

    assertEquals(n, stats.elements());
    assertEquals(oracle.notFinite, stats.notFinite());
    assertEquals(oracle.lost, stats.lost());
    assertEquals(oracle.maxError, stats.maxError());
    if (n > 0) {
      assertEquals(100.0 * oracle.zeros / n, stats.zeroPercent());
      assertEquals(100.0 * oracle.flushed / n, stats.flushedPercent());
    }
    double sqnr = oracle.signal == 0 ? Double.NaN : 10 * Math.log10(oracle.signal / oracle.noise);
    assertEquals(sqnr, stats.sqnr(), 1e-10);
  }
}
