package dev.minifloat.cuda.sim;

import dev.minifloat.cuda.sim.internal.driver.Accounts;
import java.util.List;

/**
 * Something that a client made and didn't give back.
 *
 * @param kind what sort of thing
 * @param details which one
 * @param sweptUp whether the end of its context took it away since
 * @param origin where the client made it: frames of its stack, innermost first
 */
public record Leak(String kind, String details, boolean sweptUp, List<String> origin) {
  public Leak {
    origin = List.copyOf(origin);
  }

  static Leak of(Accounts.Entry entry) {
    return new Leak(entry.kind(), entry.details(), entry.sweptUp(), entry.origin());
  }

  @Override
  public String toString() {
    String where = origin.isEmpty() ? "" : ", made at " + String.join(" < ", origin);
    return kind + " (" + details + ")" + (sweptUp ? ", ended with its context" : "") + where;
  }
}
