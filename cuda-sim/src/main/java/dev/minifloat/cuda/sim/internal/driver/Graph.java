package dev.minifloat.cuda.sim.internal.driver;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Work that can be run again and again, as a client builds it. Nodes stand after what they need.
 */
final class Graph extends Resource {
  private final List<GraphNode> nodes = new ArrayList<>();

  @Override
  String kind() {
    return "graph";
  }

  /** A graph belongs to no context. */
  @Override
  Context context() {
    return null;
  }

  List<GraphNode> nodes() {
    return nodes;
  }

  GraphNode add(Work work, Set<GraphNode> after, Handles handles) {
    GraphNode node = handles.add(new GraphNode(work, after));
    nodes.add(node);
    return node;
  }

  void destroy(Handles handles) {
    nodes.forEach(handles::remove);
    handles.remove(this);
  }

  /** The graph in the language of Graphviz. */
  String dot() {
    StringBuilder text = new StringBuilder("digraph dot {\n");
    for (GraphNode node : nodes) {
      text.append("  \"%x\" [label=\"%s\"];\n".formatted(node.handle(), node.work().describe()));
      for (GraphNode before : node.after()) {
        text.append("  \"%x\" -> \"%x\";\n".formatted(before.handle(), node.handle()));
      }
    }
    return text.append("}\n").toString();
  }
}
