package dev.minifloat.cuda.sim.internal.driver;

import java.util.Set;

/** An event: the last place in a stream at which it was recorded. */
final class Event extends Resource {
  private static final int DISABLE_TIMING = 2;

  private final Context context;
  private final int flags;

  /** The work after which it has happened; null if it was never recorded. */
  Task recorded;

  /** The capture that it was last recorded in; null if none. */
  Capture capture;

  /** What precedes it in that capture. */
  Set<GraphNode> captured = Set.of();

  Event(Context context, int flags) {
    this.context = context;
    this.flags = flags;
  }

  @Override
  String kind() {
    return "event";
  }

  @Override
  Context context() {
    return context;
  }

  boolean isTimed() {
    return (flags & DISABLE_TIMING) == 0;
  }
}
