package dev.minifloat.cli.trace;

import dev.minifloat.cuda.sim.trace.Place;
import dev.minifloat.cuda.sim.trace.TracedBlock;
import dev.minifloat.cuda.sim.trace.TracedInstruction;
import dev.minifloat.cuda.sim.trace.TracedWarp;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;

/** Where a trace stops next: which warp is followed, how far it is to run, and marked lines. */
final class Stops {
  private final SortedSet<Integer> lines = new TreeSet<>();
  private Place place;
  private int warp;
  private TracedBlock block;
  private Predicate<TracedInstruction> goal = _ -> true;
  private boolean toEnd;
  private TracedInstruction lastProduct;
  private TracedInstruction last;
  private TracedInstruction beforeLast;

  Stops(Place place, int warp) {
    this.place = place;
    this.warp = warp;
  }

  /** Lines at which every warp of the block stops. */
  SortedSet<Integer> lines() {
    return lines;
  }

  /** The instruction for which the warp is to run next. */
  void runTo(Predicate<TracedInstruction> wanted) {
    goal = wanted;
    toEnd = false;
  }

  /** Runs on to a marked line, or to the end. */
  void runToEnd() {
    goal = _ -> false;
    toEnd = true;
  }

  /** Follows a warp of the block. */
  void follow(int index) {
    warp = index;
    forget();
  }

  /** Follows a warp of another block, and stops when it begins. */
  void follow(Place other) {
    place = other;
    block = null;
    forget();
    runTo(_ -> true);
  }

  private void forget() {
    lastProduct = null;
    last = null;
    beforeLast = null;
  }

  Place place() {
    return place;
  }

  int warp() {
    return warp;
  }

  /** The matrix product that the warp ran last; null for none. */
  TracedInstruction lastProduct() {
    return lastProduct;
  }

  /** Whether an instruction multiplies matrices. */
  static boolean isProduct(TracedInstruction instruction) {
    return instruction.kind().equals("MATRIX_MULTIPLY");
  }

  /**
   * What the followed warp ran before the instruction that it is about to run; null for nothing.
   */
  TracedInstruction previous() {
    return beforeLast;
  }

  /**
   * Whether to stop before a warp's next instruction; the warp is then the one that is followed.
   *
   * @return what to say of it; empty to go on
   */
  Optional<String> stop(TracedWarp runs) {
    TracedBlock its = runs.block();
    if (!its.place().equals(place)) {
      return block != null && hasEnded(block) && !toEnd
          ? Optional.of(moveTo(runs, "block " + place + " has ended"))
          : Optional.empty();
    }
    block = its;
    TracedInstruction next = runs.next();
    if (runs.index() == warp) {
      beforeLast = last;
      last = next;
      if (beforeLast != null && isProduct(beforeLast)) {
        lastProduct = beforeLast;
      }
      if (lines.contains(next.line())) {
        return Optional.of("a marked line");
      }
      return goal.test(next) ? Optional.of("") : Optional.empty();
    }
    if (lines.contains(next.line())) {
      return Optional.of(moveTo(runs, "a marked line; now warp " + runs.index()));
    }
    int exited = warp;
    boolean isGone = warp >= its.warps().size() || its.warps().get(warp).live() == 0;
    return isGone && !toEnd
        ? Optional.of(moveTo(runs, "warp " + exited + " has exited; now warp " + runs.index()))
        : Optional.empty();
  }

  private String moveTo(TracedWarp runs, String why) {
    block = runs.block();
    place = block.place();
    warp = runs.index();
    forget();
    return why;
  }

  private static boolean hasEnded(TracedBlock block) {
    return block.warps().stream().allMatch(warp -> warp.live() == 0);
  }
}
