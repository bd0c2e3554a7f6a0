package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Kernels. */
final class FunctionApi {
  private final Simulation simulation;
  private final Arena arena;
  private final Map<String, MemorySegment> names = new HashMap<>();

  FunctionApi(Simulation simulation, Arena arena) {
    this.simulation = simulation;
    this.arena = arena;
  }

  private Function function(MemorySegment handle) {
    return function(simulation, handle);
  }

  static Function function(Simulation simulation, MemorySegment handle) {
    simulation.current();
    Function function = simulation.handles().get(handle, Function.class, "hfunc");
    function.context().requireWhole();
    return function;
  }

  void cuFuncGetAttribute(MemorySegment out, int attribute, MemorySegment hFunction) {
    Native.require(out, "pi");
    Native.putInt(out, function(hFunction).attribute(attribute), "pi");
  }

  void cuFuncSetAttribute(MemorySegment hFunction, int attribute, int value) {
    function(hFunction).attribute(attribute, value);
  }

  void cuFuncSetCacheConfig(MemorySegment hFunction, int config) {
    function(hFunction).cacheConfig(config);
  }

  void cuFuncGetName(MemorySegment out, MemorySegment hFunction) {
    String name = function(hFunction).name();
    Native.putLong(out, names.computeIfAbsent(name, arena::allocateFrom).address(), "name");
  }

  void cuFuncGetParamInfo(
      MemorySegment hFunction, long index, MemorySegment offset, MemorySegment size) {
    Function function = function(hFunction);
    List<Integer> offsets = function.kernel().parameterOffsets();
    if (index < 0 || index >= offsets.size()) {
      throw CuResult.INVALID_VALUE.because(
          "kernel '%s' has %d parameters, and none numbered %d"
              .formatted(function.name(), offsets.size(), index));
    }
    int i = (int) index;
    Native.putLong(offset, offsets.get(i), "paramOffset");
    if (!Native.isNull(size)) {
      Native.putLong(size, function.kernel().parameters().get(i).variable().bytes(), "paramSize");
    }
  }

  void cuFuncLoad(MemorySegment hFunction) {
    function(hFunction);
  }
}
