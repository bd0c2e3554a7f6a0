package dev.minifloat.cuda.sim.internal.driver;

import java.util.ArrayList;
import java.util.List;

/** A piece of work in a stream: runs after the stream's earlier ones and after some of others. */
final class Task {
  final Stream stream;
  final Work work;

  /** What it waits for besides its stream; empty once it is done, so that nothing is kept alive. */
  final List<Task> after = new ArrayList<>();

  boolean running;
  boolean done;

  /** The device's clock when it ended, in simulated nanoseconds. */
  long endedAt;

  Task(Stream stream, Work work) {
    this.stream = stream;
    this.work = work;
  }

  /** Something it waits for in another stream; null if there is none, or none is left. */
  Task unmet() {
    while (!after.isEmpty() && after.getLast().done) {
      after.removeLast();
    }
    return after.isEmpty() ? null : after.getLast();
  }

  void end(long time) {
    running = false;
    done = true;
    endedAt = time;
    after.clear();
  }
}
