package dev.minifloat.cuda.mutation;

import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A driver that may load a mutant in place of a kernel, and launches smaller grids than it is asked
 * for, so that kernels that go round for what is left have to.
 *
 * <p>A kernel is compiled when it is asked for, without the others of its file: a client's module
 * is the address of its image until then.
 */
final class MutatedDriver implements SymbolLookup {
  private static final MethodHandles.Lookup METHODS = MethodHandles.lookup();
  private static final Linker LINKER = Linker.nativeLinker();

  private final SymbolLookup driver;
  private final Arena arena;
  private final KernelTexts texts;
  private final Mutant mutant;
  private final Probe.Limit limit;
  private final Set<String> kernels = new LinkedHashSet<>();
  private final Map<Long, PtxFile> files = new HashMap<>();
  private final Map<Long, List<MemorySegment>> modules = new HashMap<>();
  private boolean refused;

  /**
   * Wraps a driver.
   *
   * @param arena for the functions' stubs; it must outlive the client
   * @param mutant what one kernel is replaced by; null for nothing
   */
  MutatedDriver(
      SymbolLookup driver, Arena arena, KernelTexts texts, Mutant mutant, Probe.Limit limit) {
    this.driver = driver;
    this.arena = arena;
    this.texts = texts;
    this.mutant = mutant;
    this.limit = limit;
  }

  /** The kernels that were asked for. */
  Set<String> kernels() {
    return kernels;
  }

  /** Whether the driver didn't take a text. */
  boolean refused() {
    return refused;
  }

  @Override
  public Optional<MemorySegment> find(String name) {
    Optional<MemorySegment> function = driver.find(name);
    return switch (name) {
      case "cuModuleLoadDataEx" ->
          function.map(_ -> instead(DriverFunction.cuModuleLoadDataEx, "load"));
      case "cuModuleGetFunction" ->
          function.map(_ -> instead(DriverFunction.cuModuleGetFunction, "get"));
      case "cuModuleUnload" -> function.map(_ -> instead(DriverFunction.cuModuleUnload, "unload"));
      case "cuLaunchKernel" -> function.map(_ -> instead(DriverFunction.cuLaunchKernel, "launch"));
      default -> function;
    };
  }

  private MethodHandle downcall(DriverFunction function) {
    return LINKER.downcallHandle(
        driver.find(function.symbol()).orElseThrow(), function.descriptor());
  }

  /** A stub of the method of that name, which gets the driver's own function first. */
  private MemorySegment instead(DriverFunction kind, String method) {
    MethodType type = kind.descriptor().toMethodType();
    try {
      MethodHandle answer =
          METHODS
              .findVirtual(
                  MutatedDriver.class, method, type.insertParameterTypes(0, MethodHandle.class))
              .bindTo(this)
              .bindTo(downcall(kind));
      return LINKER.upcallStub(answer, kind.descriptor(), arena);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(method + " doesn't answer " + kind, e);
    }
  }

  /** {@code cuModuleLoadDataEx}, which {@link #get} calls. */
  int load(
      MethodHandle original,
      MemorySegment module,
      MemorySegment image,
      int count,
      MemorySegment options,
      MemorySegment values) {
    MemorySegment text = image.reinterpret(Integer.MAX_VALUE);
    long handle = files.size() + 1L;
    files.put(handle, texts.file(text.getString(0, StandardCharsets.ISO_8859_1)));
    modules.put(handle, new ArrayList<>());
    module.reinterpret(ValueLayout.ADDRESS.byteSize()).set(ValueLayout.JAVA_LONG, 0, handle);
    return 0;
  }

  /** {@code cuModuleGetFunction}. */
  int get(MethodHandle original, MemorySegment out, MemorySegment module, MemorySegment name)
      throws Throwable {
    String kernel = name.reinterpret(Integer.MAX_VALUE).getString(0, StandardCharsets.ISO_8859_1);
    kernels.add(kernel);
    PtxFile file = files.get(module.address());
    boolean mutated = mutant != null && mutant.file() == file && mutant.kernel().equals(kernel);
    try (Arena call = Arena.ofConfined()) {
      MemorySegment text =
          call.allocateFrom(
              mutated
                  ? file.only(kernel, mutant.line(), mutant.after())
                  : file.only(kernel, -1, ""),
              StandardCharsets.ISO_8859_1);
      MemorySegment handle = call.allocate(ValueLayout.ADDRESS);
      int result =
          (int)
              downcall(DriverFunction.cuModuleLoadDataEx)
                  .invokeExact(handle, text, 0, MemorySegment.NULL, MemorySegment.NULL);
      if (result != 0) {
        refused = true;
        return result;
      }
      MemorySegment loaded = handle.get(ValueLayout.ADDRESS, 0);
      modules.get(module.address()).add(loaded);
      return (int) original.invokeExact(out, loaded, name);
    }
  }

  /** {@code cuModuleUnload}. */
  int unload(MethodHandle original, MemorySegment module) throws Throwable {
    int worst = 0;
    for (MemorySegment loaded : modules.remove(module.address())) {
      worst = Math.max(worst, (int) original.invokeExact(loaded));
    }
    return worst;
  }

  /** {@code cuLaunchKernel}. */
  int launch(
      MethodHandle original,
      MemorySegment function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      MemorySegment stream,
      MemorySegment parameters,
      MemorySegment extra)
      throws Throwable {
    return (int)
        original.invokeExact(
            function,
            Math.min(gridX, limit.x()),
            gridY,
            Math.min(gridZ, limit.z()),
            blockX,
            blockY,
            blockZ,
            sharedBytes,
            stream,
            parameters,
            extra);
  }
}
