package dev.minifloat.cuda.internal.plan;

import java.util.List;
import java.util.Locale;

/**
 * Why a kernel doesn't take a product; it is put into words only if somebody asks.
 *
 * @param pattern as {@link String#format} takes it
 * @param facts what stands in it
 */
record Refusal(String pattern, List<Object> facts) {
  static Refusal of(String pattern, Object... facts) {
    return new Refusal(pattern, List.of(facts));
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, pattern, facts.toArray());
  }
}
