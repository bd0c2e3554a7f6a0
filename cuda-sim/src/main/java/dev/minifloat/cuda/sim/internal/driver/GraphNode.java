package dev.minifloat.cuda.sim.internal.driver;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A piece of work in a graph, and what it comes after. */
final class GraphNode extends Resource {
  private final Work work;
  private final Set<GraphNode> after;

  GraphNode(Work work, Set<GraphNode> after) {
    this.work = work;
    this.after = new LinkedHashSet<>(after);
  }

  @Override
  String kind() {
    return "graph node";
  }

  @Override
  Context context() {
    return null;
  }

  @Override
  boolean isOwned() {
    return false;
  }

  Work work() {
    return work;
  }

  Set<GraphNode> after() {
    return after;
  }

  /** Copies of nodes that depend on each other as the nodes do, so that the graph may change. */
  static List<GraphNode> copies(List<GraphNode> nodes) {
    Map<GraphNode, GraphNode> copies = new HashMap<>();
    List<GraphNode> made = new ArrayList<>();
    for (GraphNode node : nodes) {
      Set<GraphNode> before = new LinkedHashSet<>();
      node.after.forEach(other -> before.add(copies.get(other)));
      GraphNode copy = new GraphNode(node.work, before);
      copies.put(node, copy);
      made.add(copy);
    }
    return made;
  }

  /** The nodes in an order that their dependencies allow and the seed decides. */
  static List<GraphNode> shuffled(List<GraphNode> nodes, Scheduler scheduler) {
    List<GraphNode> left = new ArrayList<>(nodes);
    Set<GraphNode> done = new HashSet<>();
    List<GraphNode> order = new ArrayList<>();
    while (!left.isEmpty()) {
      List<GraphNode> ready = left.stream().filter(node -> done.containsAll(node.after)).toList();
      GraphNode next = ready.get(scheduler.choose(ready.size()));
      left.remove(next);
      done.add(next);
      order.add(next);
    }
    return order;
  }
}
