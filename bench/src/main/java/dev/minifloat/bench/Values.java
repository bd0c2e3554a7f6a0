package dev.minifloat.bench;

import java.util.SplittableRandom;

/**
 * A matrix of F32 values that every contestant converts to its own format.
 *
 * <p>Row r has the values of row r mod {@code period}: so a matrix larger than every cache costs no
 * more to make, to quantize and to check than its first {@code period} rows, whose bytes a
 * contestant repeats. Values are about normal with a deviation of 1.
 *
 * @param rows rows
 * @param columns values of a row
 * @param period rows that differ, at most {@code rows}
 * @param seed equal seeds give equal values
 */
public record Values(int rows, int columns, int period, long seed) {
  /** Checks the period. */
  public Values {
    if (period < 1 || period > rows) {
      throw new IllegalArgumentException("period: " + period + " is not in 1 … " + rows);
    }
  }

  /** A matrix of different rows. */
  public static Values of(int rows, int columns, long seed) {
    return new Values(rows, columns, rows, seed);
  }

  /** A vector: one row. */
  public static Values vector(int elements, long seed) {
    return of(1, elements, seed);
  }

  /** The first {@code period} rows, row-major. */
  public float[] distinct() {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[Math.multiplyExact(period, columns)];
    for (int i = 0; i < values.length; i++) {
      // A sum of four uniform 16-bit numbers, of deviation 1.
      long bits = random.nextLong();
      long sum =
          (bits & 0xffff) + ((bits >>> 16) & 0xffff) + ((bits >>> 32) & 0xffff) + (bits >>> 48);
      values[i] = (sum - 131070) * 0x1.bb67aep-16f;
    }
    return values;
  }
}
