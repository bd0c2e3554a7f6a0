package dev.minifloat.spi;

import java.util.List;

/** Whether a backend can run here. */
public sealed interface Availability {
  /**
   * It can.
   *
   * @param device what it would run on
   */
  record Available(String device) implements Availability {}

  /**
   * It can't.
   *
   * @param reasons why not, at least one
   */
  record Unavailable(List<Reason> reasons) implements Availability {
    /** Copies the list. */
    public Unavailable {
      reasons = List.copyOf(reasons);
      if (reasons.isEmpty()) {
        throw new IllegalArgumentException("reasons: a backend that can't run says why");
      }
    }

    /** One reason. */
    public static Unavailable because(String what, String remedy) {
      return new Unavailable(List.of(new Reason(what, remedy)));
    }
  }

  /**
   * Why a backend can't run.
   *
   * @param what the obstacle
   * @param remedy the exact flag to add, package to install or thing to do
   */
  record Reason(String what, String remedy) {
    @Override
    public String toString() {
      return what + "; " + remedy;
    }
  }
}
