package dev.minifloat.cuda.internal.plan;

import dev.minifloat.kernels.KernelEntry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a choice says of the kernels that it leaves out. A program that multiplies doesn't listen,
 * and the choice ends with the first kernel that does; to someone who does it goes on to the last.
 */
public final class Verdicts {
  private static final Verdicts UNHEARD = new Verdicts(false);

  private final boolean heard;
  private final Map<KernelEntry, String> reasons = new LinkedHashMap<>();
  private final List<String> steps = new ArrayList<>();

  private Verdicts(boolean heard) {
    this.heard = heard;
  }

  /** Keeps nothing. */
  public static Verdicts unheard() {
    return UNHEARD;
  }

  /** Keeps everything. */
  public static Verdicts heard() {
    return new Verdicts(true);
  }

  boolean areHeard() {
    return heard;
  }

  /** A kernel isn't taken; what is said later holds. */
  void refuse(KernelEntry kernel, Refusal why) {
    if (heard) {
      reasons.put(kernel, why.toString());
    }
  }

  /** Something about the product as a whole. */
  void step(String pattern, Object... facts) {
    if (heard) {
      steps.add(Refusal.of(pattern, facts).toString());
    }
  }

  /** Why each kernel that could have been asked isn't taken, the one that is included. */
  public Map<KernelEntry, String> reasons() {
    return reasons;
  }

  /** What was tried, in order. */
  public List<String> steps() {
    return steps;
  }
}
