package dev.minifloat.cuda.sim;

import dev.minifloat.cuda.sim.internal.driver.FaultPlan;
import java.util.List;

/**
 * Makes calls fail. A call that is to fail does nothing and returns the given result; one that
 * gives something back ({@code cuMemFree}, {@code cuStreamDestroy}, …) does so all the same, for
 * such a call's error may stem from earlier work.
 */
public final class FaultInjector {
  private final FaultPlan plan;

  FaultInjector(FaultPlan plan) {
    this.plan = plan;
  }

  /**
   * Lets a function's n-th call from now on fail once.
   *
   * @param symbol the function, as {@code cuMemAlloc_v2}
   * @param n counted from 1
   * @param result a {@code CUresult}, as 2 for {@code CUDA_ERROR_OUT_OF_MEMORY}
   */
  public void failCall(String symbol, long n, int result) {
    if (symbol.isEmpty()) {
      throw new IllegalArgumentException("a function without a name");
    }
    plan.plan(symbol, n, result);
  }

  /** Lets the n-th call of whatever function from now on fail once; n is counted from 1. */
  public void failCall(long n, int result) {
    plan.plan("", n, result);
  }

  /** Forgets failures that haven't happened. */
  public void clear() {
    plan.clear();
  }

  /** Begins to note which functions are called, or stops; what was noted before is forgotten. */
  public void record(boolean on) {
    plan.record(on);
  }

  /** The functions called since {@link #record}, in order. */
  public List<String> calls() {
    return plan.calls();
  }

  /** How often a function was called so far. */
  public long count(String symbol) {
    return plan.count(symbol);
  }
}
