package dev.minifloat.bench;

import java.util.Locale;

/** What a figure counts. */
public enum Unit {
  /** 10^9 floating-point operations a second; a multiply-add is two. */
  GFLOPS("GFLOP/s", 1e-9),
  /** 10^9 bytes a second. */
  GBPS("GB/s", 1e-9),
  /** Tokens a second. */
  TOKENS("tokens/s", 1),
  /** Nanoseconds of one call; the only unit in which less is better. */
  NANOS("ns/call", 1);

  private final String symbol;
  private final double scale;

  Unit(String symbol, double scale) {
    this.symbol = symbol;
    this.scale = scale;
  }

  /** As it is printed. */
  public String symbol() {
    return symbol;
  }

  /**
   * The figure of one run.
   *
   * @param work operations, bytes, tokens or calls of one run
   * @param seconds what it took
   */
  public double figure(double work, double seconds) {
    return this == NANOS ? seconds / work * 1e9 : work / seconds * scale;
  }

  /** How many times as good {@code a} is as {@code b}. */
  public double ratio(double a, double b) {
    return this == NANOS ? b / a : a / b;
  }

  /** A figure in three or four digits. */
  public static String text(double figure) {
    double size = Math.abs(figure);
    String pattern = size < 9.995 ? "%.2f" : size < 999.5 ? "%.1f" : "%.0f";
    return String.format(Locale.ROOT, pattern, figure);
  }
}
