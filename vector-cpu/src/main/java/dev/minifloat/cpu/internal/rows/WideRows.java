package dev.minifloat.cpu.internal.rows;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.math.Nans;
import java.lang.foreign.MemorySegment;

/**
 * Rows that F32 sums can't hold, in F64: rare, and as the reference computes them. NaNs of results
 * are canonical.
 */
final class WideRows {
  private WideRows() {}

  private static double get(MemorySegment src, long from, int i) {
    return src.get(PackedElements.FLOAT, from + 4L * i);
  }

  private static void put(MemorySegment dst, long to, int i, double value) {
    dst.set(PackedElements.FLOAT, to + 4L * i, Nans.canonical((float) value));
  }

  static void layerNorm(
      MemorySegment src,
      long from,
      int n,
      MemorySegment gamma,
      long atGamma,
      MemorySegment beta,
      long atBeta,
      float epsilon,
      MemorySegment dst,
      long to) {
    double mean = 0;
    for (int i = 0; i < n; i++) {
      mean += get(src, from, i);
    }
    mean /= n;
    double variance = 0;
    for (int i = 0; i < n; i++) {
      double centred = get(src, from, i) - mean;
      variance += centred * centred;
    }
    double deviation = Math.sqrt(variance / n + epsilon);
    for (int i = 0; i < n; i++) {
      double x = (get(src, from, i) - mean) / deviation;
      put(dst, to, i, x * get(gamma, atGamma, i) + get(beta, atBeta, i));
    }
  }

  static void rmsNorm(
      MemorySegment src,
      long from,
      int n,
      MemorySegment gamma,
      long atGamma,
      float epsilon,
      MemorySegment dst,
      long to) {
    double root = Math.sqrt(squares(src, from, n) / n + epsilon);
    for (int i = 0; i < n; i++) {
      put(dst, to, i, get(src, from, i) / root * get(gamma, atGamma, i));
    }
  }

  static void l2Normalize(
      MemorySegment src, long from, int n, double smallest, MemorySegment dst, long to) {
    double norm = Math.max(Math.sqrt(squares(src, from, n)), smallest);
    for (int i = 0; i < n; i++) {
      put(dst, to, i, get(src, from, i) / norm);
    }
  }

  private static double squares(MemorySegment src, long from, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
      double x = get(src, from, i);
      sum += x * x;
    }
    return sum;
  }

  /** The first {@code n} of a row of softmax. */
  static void softmax(
      MemorySegment src, long from, int n, float scale, MemorySegment dst, long to) {
    double max = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < n; i++) {
      max = Math.max(max, scale * get(src, from, i));
    }
    double sum = 0;
    for (int i = 0; i < n; i++) {
      sum += Math.exp(scale * get(src, from, i) - max);
    }
    for (int i = 0; i < n; i++) {
      put(dst, to, i, Math.exp(scale * get(src, from, i) - max) / sum);
    }
  }
}
