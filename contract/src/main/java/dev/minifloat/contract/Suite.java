package dev.minifloat.contract;

import java.util.List;

/**
 * The checks that apply to a backend.
 *
 * @param checks in the order of their groups
 * @param leftOut how many more there are, for what the backend says that it does not support
 */
public record Suite(List<Check> checks, int leftOut) {
  /** Copies the list. */
  public Suite {
    checks = List.copyOf(checks);
  }
}
