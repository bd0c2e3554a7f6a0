package dev.minifloat.cli.convert;

import dev.minifloat.codec.PackedElements;
import java.lang.foreign.MemorySegment;

/**
 * How far the values of a tensor moved. Sums are in double; values that are not finite, before or
 * after, are counted and left out.
 */
public final class ErrorStats {
  /** Values looked at together: what is kept for them stays in the L1 cache. */
  private static final int PIECE = 1024;

  private long elements;
  private long zeros;
  private long flushed;
  private long saturated;
  private long notFinite;
  private long lost;
  private double signal;
  private double noise;
  private float maxError;

  /**
   * Adds a run of values.
   *
   * @param before F32 values
   * @param after as many F32 values, what became of them
   */
  public void add(MemorySegment before, MemorySegment after) {
    long n = before.byteSize() / 4;
    Sums sums = new Sums((int) Math.min(n, PIECE));
    for (long from = 0; from < n; from += PIECE) {
      sums.add(before, after, from, (int) Math.min(PIECE, n - from));
    }
    double energy = sum(sums.signal);
    double error = sum(sums.noise);
    if (!Double.isFinite(energy + error)) {
      addWithGaps(before, after, n);
      return;
    }
    elements += n;
    signal += energy;
    noise += error;
    for (float largest : sums.largest) {
      maxError = Math.max(maxError, largest);
    }
    zeros += sums.zerosBefore;
    flushed += sums.zerosAfter - sums.zerosBefore;
  }

  /** A sum in pairs, which rounds less than one after the other. */
  private static double sum(double[] values) {
    double[] sums = values.clone();
    for (int n = sums.length; n > 1; n = (n + 1) / 2) {
      for (int i = 0; i < n / 2; i++) {
        sums[i] += sums[n - 1 - i];
      }
    }
    return sums.length == 0 ? 0 : sums[0];
  }

  /**
   * Sums over a run, one for each place in a piece. A single sum would be a chain of additions, in
   * an order that the compiler may not change; side by side they become vector instructions.
   */
  private static final class Sums {
    private final float[] x;
    private final float[] y;
    private final int[] bits;
    private final double[] signal;
    private final double[] noise;
    private final float[] largest;
    private long zerosBefore;
    private long zerosAfter;

    Sums(int size) {
      x = new float[size];
      y = new float[size];
      bits = new int[size];
      signal = new double[size];
      noise = new double[size];
      largest = new float[size];
    }

    void add(MemorySegment before, MemorySegment after, long from, int n) {
      MemorySegment.copy(before, PackedElements.FLOAT, 4 * from, x, 0, n);
      MemorySegment.copy(after, PackedElements.FLOAT, 4 * from, y, 0, n);
      addSquares(x, signal, n);
      for (int i = 0; i < n; i++) {
        y[i] = x[i] - y[i];
      }
      addSquares(y, noise, n);
      for (int i = 0; i < n; i++) {
        largest[i] = Math.max(largest[i], Math.abs(y[i]));
      }
      int zero = zeros(after, from, n);
      if (zero > 0) {
        // What is zero before is zero after, so before need not be looked at but then.
        zerosAfter += zero;
        zerosBefore += zeros(before, from, n);
      }
    }

    private static void addSquares(float[] values, double[] sums, int n) {
      for (int i = 0; i < n; i++) {
        // Exact: the square of a float has at most 48 bits.
        sums[i] += (double) values[i] * (double) values[i];
      }
    }

    private int zeros(MemorySegment values, long from, int n) {
      MemorySegment.copy(values, PackedElements.INT, 4 * from, bits, 0, n);
      int count = 0;
      for (int i = 0; i < n; i++) {
        // Less one, only the magnitude of a zero is negative.
        count += ((bits[i] & 0x7FFFFFFF) - 1) >>> 31;
      }
      return count;
    }
  }

  private void addWithGaps(MemorySegment before, MemorySegment after, long n) {
    for (long i = 0; i < n; i++) {
      float x = before.get(PackedElements.FLOAT, 4 * i);
      float y = after.get(PackedElements.FLOAT, 4 * i);
      elements++;
      if (!Float.isFinite(x)) {
        notFinite++;
      } else if (!Float.isFinite(y)) {
        lost++;
      } else {
        double d = (double) x - y;
        signal += (double) x * x;
        noise += d * d;
        maxError = Math.max(maxError, (float) Math.abs(d));
        zeros += x == 0 ? 1 : 0;
        flushed += x != 0 && y == 0 ? 1 : 0;
      }
    }
  }

  /** Counts the values of a run beyond a limit, the largest that the format has there. */
  public void countBeyond(MemorySegment before, long from, long to, float limit) {
    if (Float.isNaN(limit)) {
      return;
    }
    int limitBits = Float.floatToRawIntBits(limit);
    int beyond = 0;
    for (long i = from; i < to; i++) {
      // Magnitudes order as their bits; the sign of the difference is 1 for what lies beyond.
      beyond += (limitBits - (before.get(PackedElements.INT, 4 * i) & 0x7FFFFFFF)) >>> 31;
    }
    saturated += beyond;
  }

  /** Adds what another has counted. */
  public void add(ErrorStats other) {
    elements += other.elements;
    zeros += other.zeros;
    flushed += other.flushed;
    saturated += other.saturated;
    notFinite += other.notFinite;
    lost += other.lost;
    signal += other.signal;
    noise += other.noise;
    maxError = Math.max(maxError, other.maxError);
  }

  /** How many values there were. */
  public long elements() {
    return elements;
  }

  /** How many were NaN or infinite before. */
  public long notFinite() {
    return notFinite;
  }

  /** How many were finite before and aren't any more. */
  public long lost() {
    return lost;
  }

  /** Signal to quantization noise in dB: +Inf if nothing changed, NaN if there is no signal. */
  public double sqnr() {
    return signal == 0 ? Double.NaN : 10 * Math.log10(signal / noise);
  }

  /** The largest |before − after|. */
  public float maxError() {
    return maxError;
  }

  /** Values beyond the largest of the format, in percent. */
  public double saturatedPercent() {
    return percent(saturated);
  }

  /** Values that were not zero and became so, in percent. */
  public double flushedPercent() {
    return percent(flushed);
  }

  /** Values that were zero before, in percent. */
  public double zeroPercent() {
    return percent(zeros);
  }

  private double percent(long count) {
    return elements == 0 ? 0 : 100.0 * count / elements;
  }
}
