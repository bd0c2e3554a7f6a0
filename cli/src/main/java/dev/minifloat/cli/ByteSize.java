package dev.minifloat.cli;

import java.util.Locale;

/** Sizes of files for people, in decimal units. */
final class ByteSize {
  private static final String[] UNITS = {"kB", "MB", "GB", "TB"};

  private ByteSize() {}

  /** Three digits or more: {@code 312 B}, {@code 4.50 kB}, {@code 90.4 MB}, {@code 1.20 GB}. */
  static String text(long bytes) {
    if (bytes < 1000) {
      return bytes + " B";
    }
    double value = bytes / 1e3;
    int unit = 0;
    // What would be rounded to 1000 belongs to the next unit.
    while (value >= 999.5 && unit < UNITS.length - 1) {
      value /= 1e3;
      unit++;
    }
    String pattern = value < 9.995 ? "%.2f %s" : value < 99.95 ? "%.1f %s" : "%.0f %s";
    return String.format(Locale.ROOT, pattern, value, UNITS[unit]);
  }
}
