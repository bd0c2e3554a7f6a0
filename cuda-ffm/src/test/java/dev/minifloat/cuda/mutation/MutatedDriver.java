package dev.minifloat.cuda.mutation;

import dev.minifloat.cuda.driver.Cuda;
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
import java.util.BitSet;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A driver that runs a mutant in place of a kernel, and launches smaller grids than it is asked
 * for, so that kernels that go round for what is left have to.
 *
 * <p>A kernel is compiled when it is asked for, without the others of its file: a client's module
 * is a number of its own until then. The client keeps its functions; a launch of the mutated kernel
 * launches the mutant instead.
 */
final class MutatedDriver implements SymbolLookup {
  private static final MethodHandles.Lookup METHODS = MethodHandles.lookup();
  private static final Linker LINKER = Linker.nativeLinker();

  private final SymbolLookup driver;
  private final Arena arena;
  private final KernelTexts texts;
  private final boolean covering;
  private final Map<DriverFunction, MethodHandle> downcalls = new EnumMap<>(DriverFunction.class);
  private final Map<Long, PtxFile> files = new HashMap<>();
  private final Map<Long, List<MemorySegment>> modules = new HashMap<>();
  private final Map<Long, Function> functions = new HashMap<>();
  private final Map<String, Marks> marks = new LinkedHashMap<>();
  private MemorySegment context = MemorySegment.NULL;
  private Probe.Limit limit = Probe.Limit.NONE;
  private Mutant mutant;
  private Mutant compiled;
  private MemorySegment mutantModule = MemorySegment.NULL;
  private MemorySegment mutantFunction = MemorySegment.NULL;
  private boolean refused;

  /** What a function's handle stands for. */
  private record Function(PtxFile file, String kernel) {}

  /** Where a kernel says which of its blocks it came to. */
  private record Marks(long address, int bytes) {}

  /**
   * Wraps a driver.
   *
   * @param arena for the functions' stubs; it must outlive the client
   * @param covering whether kernels note which of their blocks threads come to
   */
  MutatedDriver(SymbolLookup driver, Arena arena, KernelTexts texts, boolean covering) {
    this.driver = driver;
    this.arena = arena;
    this.texts = texts;
    this.covering = covering;
  }

  /** The most CTAs of the launches that follow. */
  void limit(Probe.Limit value) {
    limit = value;
  }

  /**
   * Replaces a kernel in the launches that follow.
   *
   * @param value null for none
   */
  void mutate(Mutant value) {
    mutant = value;
    refused = false;
  }

  /** Whether the driver didn't take the mutant's text. */
  boolean refused() {
    return refused;
  }

  /** The blocks of each kernel that threads came to since the last call. */
  Map<String, BitSet> covered() {
    Map<String, BitSet> covered = new LinkedHashMap<>();
    require(call(DriverFunction.cuCtxPushCurrent_v2, context));
    try (Arena call = Arena.ofConfined()) {
      marks.forEach(
          (kernel, at) -> {
            MemorySegment bytes = call.allocate(at.bytes());
            require(call(DriverFunction.cuMemcpyDtoH_v2, bytes, at.address(), (long) at.bytes()));
            clear(at);
            BitSet blocks = new BitSet();
            for (int i = 0; i < at.bytes(); i++) {
              blocks.set(i, bytes.get(ValueLayout.JAVA_BYTE, i) != 0);
            }
            if (!blocks.isEmpty()) {
              covered.put(kernel, blocks);
            }
          });
      require(call(DriverFunction.cuCtxPopCurrent_v2, call.allocate(ValueLayout.ADDRESS)));
    }
    return covered;
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
    return downcalls.computeIfAbsent(
        function,
        kind -> LINKER.downcallHandle(driver.find(kind.symbol()).orElseThrow(), kind.descriptor()));
  }

  private int call(DriverFunction function, Object... arguments) {
    try {
      return (int) downcall(function).invokeWithArguments(arguments);
    } catch (Throwable e) {
      throw new IllegalStateException(function + " can't be called", e);
    }
  }

  private static void require(int result) {
    if (result != 0) {
      throw new Failure(result);
    }
  }

  /** The driver failed at what this class asked of it. */
  private static final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int result;

    Failure(int result) {
      super("CUresult " + result);
      this.result = result;
    }
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
    PtxFile file = files.get(module.address());
    try (Arena call = Arena.ofConfined()) {
      MemorySegment handle = call.allocate(ValueLayout.ADDRESS);
      require(compile(call, handle, covering ? covering(file, kernel) : file.only(kernel, -1, "")));
      MemorySegment loaded = handle.get(ValueLayout.ADDRESS, 0);
      modules.get(module.address()).add(loaded);
      int result = (int) original.invokeExact(out, loaded, name);
      MemorySegment function =
          out.reinterpret(ValueLayout.ADDRESS.byteSize()).get(ValueLayout.ADDRESS, 0);
      functions.put(function.address(), new Function(file, kernel));
      return result;
    } catch (Failure e) {
      // An exception must not leave an upcall; the client's own call failed.
      return e.result;
    }
  }

  private int compile(Arena call, MemorySegment handle, String text) {
    return call(
        DriverFunction.cuModuleLoadDataEx,
        handle,
        call.allocateFrom(text, StandardCharsets.ISO_8859_1),
        0,
        MemorySegment.NULL,
        MemorySegment.NULL);
  }

  private String covering(PtxFile file, String kernel) {
    Coverage coverage = new Coverage(file, kernel);
    try (Arena call = Arena.ofConfined()) {
      MemorySegment out = call.allocate(ValueLayout.ADDRESS);
      require(call(DriverFunction.cuCtxGetCurrent, out));
      context = out.get(ValueLayout.ADDRESS, 0);
      require(call(DriverFunction.cuMemAlloc_v2, out, (long) coverage.blocks()));
      long address = out.get(ValueLayout.JAVA_LONG, 0);
      Marks at = new Marks(address, coverage.blocks());
      clear(at);
      marks.put(kernel, at);
      return coverage.instrumented(address);
    }
  }

  /** Sets marks to 0, and waits: the client's stream doesn't wait for what others do. */
  private void clear(Marks at) {
    require(call(DriverFunction.cuMemsetD8_v2, at.address(), (byte) 0, (long) at.bytes()));
    require(call(DriverFunction.cuCtxSynchronize));
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
    Function kind = functions.get(function.address());
    MemorySegment launched = function;
    if (mutant != null && kind.file() == mutant.file() && kind.kernel().equals(mutant.kernel())) {
      int result = compileMutant(sharedBytes);
      if (result != 0) {
        return result;
      }
      launched = mutantFunction;
    }
    return (int)
        original.invokeExact(
            launched,
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

  /** Compiles the mutant unless that has been done, in the place of the one before it. */
  private int compileMutant(int sharedBytes) {
    if (mutant.equals(compiled)) {
      return 0;
    }
    try (Arena call = Arena.ofConfined()) {
      if (compiled != null) {
        require(call(DriverFunction.cuModuleUnload, mutantModule));
        compiled = null;
      }
      MemorySegment handle = call.allocate(ValueLayout.ADDRESS);
      int result =
          compile(call, handle, mutant.file().only(mutant.kernel(), mutant.line(), mutant.after()));
      if (result != 0) {
        refused = true;
        return result;
      }
      mutantModule = handle.get(ValueLayout.ADDRESS, 0);
      compiled = mutant;
      require(
          call(
              DriverFunction.cuModuleGetFunction,
              handle,
              mutantModule,
              call.allocateFrom(mutant.kernel())));
      mutantFunction = handle.get(ValueLayout.ADDRESS, 0);
      // As the client did for its own function, if it needs more than the common 48 KiB.
      return call(
          DriverFunction.cuFuncSetAttribute,
          mutantFunction,
          Cuda.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES(),
          sharedBytes);
    } catch (Failure e) {
      return e.result;
    }
  }
}
