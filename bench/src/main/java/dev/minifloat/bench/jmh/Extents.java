package dev.minifloat.bench.jmh;

import java.util.Arrays;

/** Reads sizes such as {@code 128x4096}. */
final class Extents {
  private Extents() {}

  static int[] of(String size) {
    return Arrays.stream(size.split("x", -1)).mapToInt(Integer::parseInt).toArray();
  }
}
