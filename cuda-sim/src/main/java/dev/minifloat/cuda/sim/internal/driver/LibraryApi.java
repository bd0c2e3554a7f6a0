package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import java.lang.foreign.MemorySegment;

/** Libraries and their kernels. */
final class LibraryApi {
  private final Simulation simulation;
  private final ModuleLoader loader;

  LibraryApi(Simulation simulation, ModuleLoader loader) {
    this.simulation = simulation;
    this.loader = loader;
  }

  /** Needs no context. Library options are checked and change nothing. */
  void cuLibraryLoadData(
      MemorySegment out,
      MemorySegment code,
      MemorySegment jitOptions,
      MemorySegment jitValues,
      int jitCount,
      MemorySegment options,
      MemorySegment values,
      int count) {
    Native.require(out, "library");
    Native.require(code, "code");
    for (int i = 0; i < count; i++) {
      int option = Native.getInt(options, i, "libraryOptions");
      Native.getLong(values, i, "libraryOptionValues");
      if (option < 0 || option > 1) {
        throw CuResult.INVALID_VALUE.because("there is no library option " + option);
      }
    }
    ModuleLoader.JitOptions jit = new ModuleLoader.JitOptions(jitCount, jitOptions, jitValues);
    Native.putHandle(out, simulation.handles().add(loader.library(code, jit)), "library");
  }

  private Library library(MemorySegment handle) {
    return simulation.handles().get(handle, Library.class, "library");
  }

  void cuLibraryUnload(MemorySegment handle) {
    library(handle).unload(simulation.scheduler(), simulation.handles());
  }

  void cuLibraryGetKernel(MemorySegment out, MemorySegment handle, MemorySegment name) {
    Library library = library(handle);
    Native.require(out, "pKernel");
    String wanted = Native.string(name, "name");
    Library.Kernel kernel = library.kernel(wanted, simulation.handles());
    if (kernel == null) {
      throw CuResult.NOT_FOUND.because("the library has no kernel '" + wanted + "'");
    }
    Native.putHandle(out, kernel, "pKernel");
  }

  void cuLibraryGetKernelCount(MemorySegment out, MemorySegment handle) {
    Native.require(out, "count");
    Native.putInt(out, library(handle).kernelCount(), "count");
  }

  void cuLibraryGetModule(MemorySegment out, MemorySegment handle) {
    Library library = library(handle);
    Native.require(out, "pMod");
    Native.putHandle(
        out, library.module(simulation.current(), loader, simulation.handles()), "pMod");
  }

  void cuLibraryGetGlobal(
      MemorySegment address, MemorySegment bytes, MemorySegment handle, MemorySegment name) {
    Library library = library(handle);
    String wanted = Native.string(name, "name");
    Allocation variable =
        library
            .module(simulation.current(), loader, simulation.handles())
            .linked()
            .variable(wanted);
    if (variable == null) {
      throw CuResult.NOT_FOUND.because("the library has no variable '" + wanted + "'");
    }
    if (!Native.isNull(address)) {
      Native.putLong(address, variable.base(), "dptr");
    }
    if (!Native.isNull(bytes)) {
      Native.putLong(bytes, variable.size(), "bytes");
    }
  }

  void cuKernelGetFunction(MemorySegment out, MemorySegment handle) {
    Library.Kernel kernel = kernel(handle);
    Native.require(out, "pFunc");
    Native.putHandle(out, function(kernel, simulation.current()), "pFunc");
  }

  private Library.Kernel kernel(MemorySegment handle) {
    return simulation.handles().get(handle, Library.Kernel.class, "kernel");
  }

  private Function function(Library.Kernel kernel, Context context) {
    return kernel
        .library()
        .module(context, loader, simulation.handles())
        .function(kernel.name(), simulation.handles());
  }

  void cuKernelGetAttribute(MemorySegment out, int attribute, MemorySegment handle, int device) {
    Library.Kernel kernel = kernel(handle);
    Native.require(out, "pi");
    Native.putInt(out, function(kernel, on(device)).attribute(attribute), "pi");
  }

  void cuKernelSetAttribute(int attribute, int value, MemorySegment handle, int device) {
    function(kernel(handle), on(device)).attribute(attribute, value);
  }

  /** The simulator keeps attributes in the device's primary context, which must be in use. */
  private Context on(int device) {
    Context context = simulation.device(device).primary();
    if (!context.isActive()) {
      throw CuResult.INVALID_CONTEXT.because("nobody retains the device's primary context");
    }
    context.requireWhole();
    return context;
  }
}
