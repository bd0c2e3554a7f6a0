package dev.minifloat.cuda.sim.internal.driver;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** Work that streams note down in a graph instead of doing it. */
final class Capture {
  static final int GLOBAL = 0;
  static final int THREAD_LOCAL = 1;
  static final int RELAXED = 2;

  private final Stream origin;
  private final Graph graph;
  private final int mode;
  private final Threads.State thread;
  private final Map<Stream, Set<GraphNode>> tips = new LinkedHashMap<>();
  private boolean invalid;

  Capture(Stream origin, Graph graph, int mode, Threads.State thread) {
    this.origin = origin;
    this.graph = graph;
    this.mode = mode;
    this.thread = thread;
    join(origin, Set.of());
  }

  Stream origin() {
    return origin;
  }

  Graph graph() {
    return graph;
  }

  int mode() {
    return mode;
  }

  Threads.State thread() {
    return thread;
  }

  boolean isInvalid() {
    return invalid;
  }

  /** Makes it fail when it ends. */
  void invalidate() {
    invalid = true;
  }

  /** What a stream's next node comes after. */
  Set<GraphNode> tips(Stream stream) {
    return Set.copyOf(tips.get(stream));
  }

  /** Makes a stream take part, or wait for more. */
  void join(Stream stream, Set<GraphNode> after) {
    stream.capture = this;
    tips.computeIfAbsent(stream, _ -> new LinkedHashSet<>()).addAll(after);
  }

  void add(Stream stream, Work work, Handles handles) {
    if (invalid) {
      throw CuResult.STREAM_CAPTURE_INVALIDATED.because("the capture was invalidated before");
    }
    Set<GraphNode> last = tips.get(stream);
    GraphNode node = graph.add(work, last, handles);
    last.clear();
    last.add(node);
  }

  /** Whether the stream it began in comes after all that the others noted down. */
  boolean isJoined() {
    Set<GraphNode> reached = new HashSet<>();
    tips.get(origin).forEach(node -> reach(node, reached));
    return tips.values().stream().allMatch(reached::containsAll);
  }

  private static void reach(GraphNode node, Set<GraphNode> reached) {
    if (reached.add(node)) {
      node.after().forEach(before -> reach(before, reached));
    }
  }

  /** Lets its streams go. */
  void end() {
    tips.keySet().forEach(stream -> stream.capture = null);
  }
}
