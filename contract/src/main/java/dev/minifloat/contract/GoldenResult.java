package dev.minifloat.contract;

/**
 * The outcome of one comparison with the recorded numbers.
 *
 * @param name the conversion or table
 * @param expected the recorded FNV-1a 64 of the results
 * @param actual the hash of what was computed
 * @param detail where the first difference lies; empty if there is none
 */
public record GoldenResult(String name, long expected, long actual, String detail) {
  /** Whether everything agrees. */
  public boolean ok() {
    return expected == actual && detail.isEmpty();
  }

  @Override
  public String toString() {
    return ok()
        ? "%s: OK (%016x)".formatted(name, actual)
        : "%s: FAILED, hash %016x, expected %016x%s"
            .formatted(name, actual, expected, detail.isEmpty() ? "" : "; " + detail);
  }
}
