package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import java.lang.foreign.MemorySegment;

/** Modules. */
final class ModuleApi {
  private static final int EAGER = 1;

  private final Simulation simulation;
  private final ModuleLoader loader;

  ModuleApi(Simulation simulation, ModuleLoader loader) {
    this.simulation = simulation;
    this.loader = loader;
  }

  void cuModuleLoadData(MemorySegment out, MemorySegment image) {
    load(out, image, ModuleLoader.JitOptions.none());
  }

  void cuModuleLoadDataEx(
      MemorySegment out,
      MemorySegment image,
      int count,
      MemorySegment options,
      MemorySegment values) {
    load(out, image, new ModuleLoader.JitOptions(count, options, values));
  }

  private void load(MemorySegment out, MemorySegment image, ModuleLoader.JitOptions options) {
    Context context = simulation.current();
    Native.require(out, "module");
    Native.require(image, "image");
    Native.putHandle(out, loader.load(context, image, options), "module");
  }

  /** Waits for work that may still need the module. */
  void cuModuleUnload(MemorySegment handle) {
    simulation.currentOrBroken();
    LoadedModule module = simulation.handles().get(handle, LoadedModule.class, "hmod");
    if (!module.context().isBroken()) {
      simulation.scheduler().complete(module.context());
    }
    module.unload(simulation.handles());
    module.context().requireWhole();
  }

  void cuModuleGetLoadingMode(MemorySegment out) {
    Native.putInt(out, EAGER, "mode");
  }

  private LoadedModule module(MemorySegment handle) {
    simulation.current();
    LoadedModule module = simulation.handles().get(handle, LoadedModule.class, "hmod");
    module.context().requireWhole();
    return module;
  }

  void cuModuleGetFunction(MemorySegment out, MemorySegment hModule, MemorySegment name) {
    LoadedModule module = module(hModule);
    Native.require(out, "hfunc");
    String wanted = Native.string(name, "name");
    Function function = module.function(wanted, simulation.handles());
    if (function == null) {
      throw CuResult.NOT_FOUND.because("the module has no kernel '" + wanted + "'");
    }
    Native.putHandle(out, function, "hfunc");
  }

  void cuModuleGetGlobal(
      MemorySegment address, MemorySegment bytes, MemorySegment hModule, MemorySegment name) {
    LoadedModule module = module(hModule);
    String wanted = Native.string(name, "name");
    Allocation variable = module.linked().variable(wanted);
    if (variable == null) {
      throw CuResult.NOT_FOUND.because("the module has no variable '" + wanted + "'");
    }
    if (!Native.isNull(address)) {
      Native.putLong(address, variable.base(), "dptr");
    }
    if (!Native.isNull(bytes)) {
      Native.putLong(bytes, variable.size(), "bytes");
    }
  }
}
