package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.sim.internal.exec.Dim3;
import dev.minifloat.cuda.sim.internal.exec.Interpreter;
import dev.minifloat.cuda.sim.internal.exec.LaunchReport;
import dev.minifloat.cuda.sim.internal.exec.LinkedModule;
import java.util.HashMap;
import java.util.Map;

/** A module in a context. */
final class LoadedModule extends Resource {
  private final Context context;
  private final LinkedModule linked;
  private final boolean owned;
  private final Map<String, Function> functions = new HashMap<>();

  /**
   * A module.
   *
   * @param owned whether it is the client who has to unload it
   */
  LoadedModule(Context context, LinkedModule linked, boolean owned) {
    this.owned = owned;
    this.context = context;
    this.linked = linked;
  }

  @Override
  String kind() {
    return "module";
  }

  @Override
  Context context() {
    return context;
  }

  @Override
  boolean isOwned() {
    return owned;
  }

  LinkedModule linked() {
    return linked;
  }

  /** A kernel's handle, the same one each time; null if there is no such kernel. */
  Function function(String name, Handles handles) {
    if (linked.kernel(name) == null) {
      return null;
    }
    return functions.computeIfAbsent(name, _ -> handles.add(new Function(this, name)));
  }

  LaunchReport launch(
      Simulation simulation,
      String kernel,
      Dim3 grid,
      Dim3 block,
      Dim3 cluster,
      int dynamicBytes,
      byte[] bytes) {
    Device device = context.device();
    linked.limitHeap(context.heapBytes());
    Interpreter interpreter =
        new Interpreter(
            simulation.settings().options(device.properties(), simulation.nextLaunch()),
            simulation::isStopping,
            simulation.settings().tracer());
    return interpreter.launch(
        linked, kernel, grid, block, cluster, dynamicBytes, bytes, device.memory());
  }

  void unload(Handles handles) {
    functions.values().forEach(handles::remove);
    handles.remove(this);
    linked.unload(context.device().memory());
  }
}
