package dev.minifloat.encoder;

import java.util.Arrays;

/** A growing list of ints. */
final class IntList {
  private int[] values = new int[16];
  private int size;

  void add(int value) {
    if (size == values.length) {
      values = Arrays.copyOf(values, size + (size >> 1));
    }
    values[size++] = value;
  }

  int size() {
    return size;
  }

  int get(int index) {
    return values[index];
  }

  int[] toArray() {
    return Arrays.copyOf(values, size);
  }
}
