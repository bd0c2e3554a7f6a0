package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.driver.CUgraphExecUpdateResultInfo_st;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;

/** Graphs. */
final class GraphApi {
  private static final long AUTO_FREE = 1;
  private static final long UPLOAD = 2;
  private static final long NODE_PRIORITY = 8;

  private final Simulation simulation;

  GraphApi(Simulation simulation) {
    this.simulation = simulation;
  }

  void cuGraphCreate(MemorySegment out, int flags) {
    Native.require(out, "phGraph");
    if (flags != 0) {
      throw CuResult.INVALID_VALUE.because("flags 0x%x".formatted(flags));
    }
    Native.putHandle(out, simulation.handles().add(new Graph()), "phGraph");
  }

  private Graph graph(MemorySegment handle) {
    return simulation.handles().get(handle, Graph.class, "hGraph", CuResult.INVALID_VALUE);
  }

  private GraphExec exec(MemorySegment handle) {
    GraphExec exec =
        simulation.handles().get(handle, GraphExec.class, "hGraphExec", CuResult.INVALID_VALUE);
    exec.context().requireWhole();
    return exec;
  }

  /** Without an array it says how many nodes there are; with one, how many it wrote. */
  void cuGraphGetNodes(MemorySegment hGraph, MemorySegment nodes, MemorySegment count) {
    List<GraphNode> all = graph(hGraph).nodes();
    Native.require(count, "numNodes");
    if (Native.isNull(nodes)) {
      Native.putLong(count, all.size(), "numNodes");
      return;
    }
    long room = Native.getLong(count, 0, "numNodes");
    long written = 0;
    for (long i = 0; i < room; i++) {
      boolean exists = i < all.size();
      MemorySegment slot = Native.at(nodes, (i + 1) * 8, "nodes").asSlice(i * 8);
      Native.putHandle(slot, exists ? all.get((int) i) : null, "nodes");
      written += exists ? 1 : 0;
    }
    Native.putLong(count, written, "numNodes");
  }

  void cuGraphInstantiateWithFlags(MemorySegment out, MemorySegment hGraph, long flags) {
    Context context = simulation.current();
    Graph graph = graph(hGraph);
    Native.require(out, "phGraphExec");
    if ((flags & ~(AUTO_FREE | UPLOAD | NODE_PRIORITY)) != 0) {
      throw CuResult.INVALID_VALUE.because("flags 0x%x".formatted(flags));
    }
    Native.putHandle(out, simulation.handles().add(new GraphExec(context, graph)), "phGraphExec");
  }

  void cuGraphUpload(MemorySegment hExec, MemorySegment hStream) {
    exec(hExec);
    simulation.submit(simulation.stream(hStream), new Work.Mark("upload of a graph"));
  }

  void cuGraphLaunch(MemorySegment hExec, MemorySegment hStream) {
    GraphExec exec = exec(hExec);
    Stream stream = simulation.stream(hStream);
    simulation.submit(stream, new Work.GraphRun(exec.nodes()));
  }

  void cuGraphExecDestroy(MemorySegment hExec) {
    GraphExec exec =
        simulation.handles().get(hExec, GraphExec.class, "hGraphExec", CuResult.INVALID_VALUE);
    simulation.handles().remove(exec);
    exec.context().requireWhole();
  }

  void cuGraphDestroy(MemorySegment hGraph) {
    graph(hGraph).destroy(simulation.handles());
  }

  void cuGraphExecUpdate(MemorySegment hExec, MemorySegment hGraph, MemorySegment info) {
    GraphExec exec = exec(hExec);
    Graph graph = graph(hGraph);
    MemorySegment result = Native.at(info, CUgraphExecUpdateResultInfo_st.sizeof(), "resultInfo");
    GraphExec.Obstacle obstacle = exec.update(graph);
    CUgraphExecUpdateResultInfo_st.result(result, obstacle == null ? 0 : obstacle.code());
    GraphNode node = obstacle == null ? null : obstacle.node();
    CUgraphExecUpdateResultInfo_st.errorNode(
        result, MemorySegment.ofAddress(node == null ? 0 : node.handle()));
    CUgraphExecUpdateResultInfo_st.errorFromNode(result, MemorySegment.NULL);
    if (obstacle != null) {
      throw CuResult.GRAPH_EXEC_UPDATE_FAILURE.because(obstacle.text());
    }
  }

  void cuGraphDebugDotPrint(MemorySegment hGraph, MemorySegment path, int flags) {
    Graph graph = graph(hGraph);
    String name = Native.string(path, "path");
    try {
      Files.writeString(Path.of(name), graph.dot());
    } catch (IOException | InvalidPathException e) {
      throw CuResult.OPERATING_SYSTEM.because("'" + name + "' can't be written: " + e);
    }
  }
}
