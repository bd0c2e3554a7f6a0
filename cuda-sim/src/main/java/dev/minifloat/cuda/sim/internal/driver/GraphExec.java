package dev.minifloat.cuda.sim.internal.driver;

import java.util.List;

/** A graph that is ready to be launched. */
final class GraphExec extends Resource {
  /** What an update would have to change and can't (CUgraphExecUpdateResult). */
  record Obstacle(int code, GraphNode node, String text) {}

  private final Context context;
  private List<GraphNode> nodes;

  GraphExec(Context context, Graph graph) {
    this.context = context;
    this.nodes = GraphNode.copies(graph.nodes());
  }

  @Override
  String kind() {
    return "executable graph";
  }

  @Override
  Context context() {
    return context;
  }

  List<GraphNode> nodes() {
    return nodes;
  }

  /** Takes a graph's parameters over if it has the same shape; else says what is in the way. */
  Obstacle update(Graph graph) {
    List<GraphNode> wanted = graph.nodes();
    if (wanted.size() != nodes.size()) {
      return new Obstacle(
          2, null, "it has %d nodes, the graph %d".formatted(nodes.size(), wanted.size()));
    }
    for (int i = 0; i < nodes.size(); i++) {
      GraphNode old = nodes.get(i);
      GraphNode node = wanted.get(i);
      if (!places(nodes, old).equals(places(wanted, node))) {
        return new Obstacle(2, node, node.work().describe() + " depends on other nodes");
      }
      if (old.work().getClass() != node.work().getClass()) {
        return new Obstacle(
            3, node, node.work().describe() + " was " + old.work().describe() + " before");
      }
    }
    nodes = GraphNode.copies(wanted);
    return null;
  }

  private static List<Integer> places(List<GraphNode> nodes, GraphNode node) {
    return node.after().stream().map(nodes::indexOf).sorted().toList();
  }
}
