package dev.minifloat.cuda.sim.internal.driver;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A text that every context loads for itself when it first needs it. */
final class Library extends Resource {
  private final String ptx;
  private final List<String> kernelNames;
  private final Map<Context, LoadedModule> modules = new HashMap<>();
  private final Map<String, Kernel> kernels = new LinkedHashMap<>();

  Library(String ptx, List<String> kernelNames) {
    this.ptx = ptx;
    this.kernelNames = List.copyOf(kernelNames);
  }

  /** A kernel of a library, in whatever context. */
  static final class Kernel extends Resource {
    private final Library library;
    private final String name;

    Kernel(Library library, String name) {
      this.library = library;
      this.name = name;
    }

    @Override
    String kind() {
      return "kernel";
    }

    @Override
    Context context() {
      return null;
    }

    @Override
    boolean isOwned() {
      return false;
    }

    Library library() {
      return library;
    }

    String name() {
      return name;
    }
  }

  @Override
  String kind() {
    return "library";
  }

  /** A library belongs to no context. */
  @Override
  Context context() {
    return null;
  }

  int kernelCount() {
    return kernelNames.size();
  }

  /** A kernel's handle, the same one each time; null if there is no such kernel. */
  Kernel kernel(String name, Handles handles) {
    if (!kernelNames.contains(name)) {
      return null;
    }
    return kernels.computeIfAbsent(name, _ -> handles.add(new Kernel(this, name)));
  }

  /** Its module in a context; loads it if it isn't there. */
  LoadedModule module(Context context, ModuleLoader loader, Handles handles) {
    LoadedModule known = modules.get(context);
    if (known != null && handles.isAlive(known)) {
      return known;
    }
    LoadedModule loaded = loader.load(context, ptx, ModuleLoader.JitOptions.none(), false);
    modules.put(context, loaded);
    return loaded;
  }

  void unload(Scheduler scheduler, Handles handles) {
    for (LoadedModule module : modules.values()) {
      if (handles.isAlive(module)) {
        if (!module.context().isBroken()) {
          scheduler.complete(module.context());
        }
        module.unload(handles);
      }
    }
    kernels.values().forEach(handles::remove);
    handles.remove(this);
  }
}
