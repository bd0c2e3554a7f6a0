package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where C code comes in. A function's stub is made when its symbol is first looked up; it calls the
 * method of that name, less its version, in one of the classes that answer.
 *
 * <p>An exception that left a stub would end the process: {@link #call} is the one place through
 * which all calls go, and it turns everything into a {@code CUresult}.
 *
 * <p>A stub lives as long as somebody holds its symbol: a call that comes after the driver's end
 * finds it and is told so.
 */
public final class Gate implements SymbolLookup {
  private static final Logger LOG = LoggerFactory.getLogger("dev.minifloat.cuda.sim");
  private static final MethodHandles.Lookup METHODS = MethodHandles.lookup();
  private static final Pattern VERSION = Pattern.compile("_v\\d+$");

  /** What may be called before {@code cuInit}. */
  private static final Set<DriverFunction> ALWAYS =
      EnumSet.of(
          DriverFunction.cuInit,
          DriverFunction.cuDriverGetVersion,
          DriverFunction.cuGetErrorName,
          DriverFunction.cuGetErrorString,
          DriverFunction.cuGetProcAddress_v2);

  /** What needs nothing that ends with the driver. */
  private static final Set<DriverFunction> AFTER_THE_END =
      EnumSet.of(DriverFunction.cuGetErrorName, DriverFunction.cuGetErrorString);

  /**
   * What gives something back even if it reports an error, as "this function may also return error
   * codes from previous, asynchronous launches" says of it.
   */
  private static final Pattern GIVES_BACK =
      Pattern.compile(".*(Free|FreeAsync|FreeHost|Destroy|Unload|Unregister|Release)");

  private final Simulation simulation;
  private final List<Object> answering;
  private final Arena arena = Arena.ofAuto();
  private final Map<DriverFunction, MemorySegment> stubs = new EnumMap<>(DriverFunction.class);
  private final Map<String, DriverFunction> symbols = new HashMap<>();

  public Gate(Simulation simulation) {
    this.simulation = simulation;
    ModuleLoader loader = new ModuleLoader(simulation);
    this.answering =
        List.of(
            new ErrorApi(arena),
            new DeviceApi(simulation),
            new ContextApi(simulation),
            new MemoryApi(simulation),
            new PointerApi(simulation),
            new PoolApi(simulation),
            new CopyApi(simulation),
            new StreamApi(simulation),
            new EventApi(simulation),
            new ModuleApi(simulation, loader),
            new LibraryApi(simulation, loader),
            new FunctionApi(simulation, arena),
            new LaunchApi(simulation),
            new OccupancyApi(simulation),
            new CaptureApi(simulation),
            new GraphApi(simulation),
            new TensorMapApi(simulation),
            new SymbolApi(this));
    for (DriverFunction function : DriverFunction.values()) {
      symbols.put(function.symbol(), function);
    }
  }

  @Override
  public Optional<MemorySegment> find(String name) {
    DriverFunction function = symbols.get(name);
    return function == null ? Optional.empty() : Optional.of(stub(function));
  }

  /** The function that a name without its version means; null if there is none. */
  DriverFunction named(String base) {
    for (DriverFunction function : DriverFunction.values()) {
      if (VERSION.matcher(function.symbol()).replaceAll("").equals(base)) {
        return function;
      }
    }
    return null;
  }

  MemorySegment stub(DriverFunction function) {
    synchronized (stubs) {
      return stubs.computeIfAbsent(function, this::make);
    }
  }

  private MemorySegment make(DriverFunction function) {
    FunctionDescriptor descriptor = function.descriptor();
    MethodType type = descriptor.toMethodType();
    try {
      MethodHandle call =
          METHODS.findVirtual(
              Gate.class,
              "call",
              MethodType.methodType(
                  int.class, DriverFunction.class, MethodHandle.class, Object[].class));
      MethodHandle target = answer(function, type.changeReturnType(void.class));
      if (target != null) {
        target = target.asSpreader(Object[].class, type.parameterCount());
      }
      MethodHandle stub =
          MethodHandles.insertArguments(call, 0, this, function, target)
              .asCollector(Object[].class, type.parameterCount())
              .asType(type);
      return Linker.nativeLinker().upcallStub(stub, descriptor, arena);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("no stub for " + function.symbol(), e);
    }
  }

  private MethodHandle answer(DriverFunction function, MethodType type)
      throws IllegalAccessException {
    String name = VERSION.matcher(function.symbol()).replaceAll("");
    for (Object api : answering) {
      for (Method method : api.getClass().getDeclaredMethods()) {
        if (method.getName().equals(name)) {
          MethodHandle found = METHODS.unreflect(method).bindTo(api);
          if (!found.type().equals(type)) {
            throw new IllegalStateException(
                function.symbol() + " has type " + type + ", what answers it " + found.type());
          }
          return found;
        }
      }
    }
    return null;
  }

  /** Answers one call; whatever happens, with a {@code CUresult}. */
  @SuppressWarnings("unused") // by the stubs
  int call(DriverFunction function, MethodHandle target, Object[] arguments) {
    int injected = 0;
    try {
      injected = simulation.faults().next(function.symbol());
      if (injected != 0 && !givesBack(function)) {
        return injected;
      }
      perform(function, target, arguments);
      return injected;
    } catch (Throwable e) {
      return injected != 0 ? injected : result(function, e);
    }
  }

  private static boolean givesBack(DriverFunction function) {
    String base = VERSION.matcher(function.symbol()).replaceAll("");
    return GIVES_BACK.matcher(base).matches();
  }

  private void perform(DriverFunction function, MethodHandle target, Object[] arguments)
      throws Throwable {
    requireOpen(function);
    if (target == null) {
      throw CuResult.NOT_SUPPORTED.because("the simulator doesn't do this");
    }
    if (function == DriverFunction.cuGetProcAddress_v2) {
      // Makes stubs, which takes a lock of its own and none of the driver's state.
      target.invoke(arguments);
      return;
    }
    simulation.lock().lock();
    try {
      requireOpen(function);
      if (simulation.threads().current().inHostFunction) {
        throw CuResult.NOT_PERMITTED.because("a host function must not call the driver");
      }
      if (!simulation.isInitialized() && !ALWAYS.contains(function)) {
        throw CuResult.NOT_INITIALIZED.because("cuInit was not called");
      }
      target.invoke(arguments);
    } finally {
      simulation.lock().unlock();
    }
  }

  private void requireOpen(DriverFunction function) {
    if (simulation.isClosed() && !AFTER_THE_END.contains(function)) {
      throw CuResult.DEINITIALIZED.because("the simulated driver was closed");
    }
  }

  private static int result(DriverFunction function, Throwable thrown) {
    CuResult result =
        switch (thrown) {
          case CudaFailure failure -> failure.result();
          case OutOfMemoryError _ -> CuResult.OUT_OF_MEMORY;
          case ArithmeticException _ -> CuResult.INVALID_VALUE;
          default -> CuResult.UNKNOWN;
        };
    try {
      if (thrown instanceof OutOfMemoryError) {
        LOG.warn(
            "{}: Java's heap, in which simulated devices keep their memory and programs, is full: {};"
                + " a larger -Xmx helps",
            function.symbol(),
            thrown.getMessage());
      } else if (result == CuResult.UNKNOWN) {
        LOG.error("{} failed within the simulator", function.symbol(), thrown);
      } else {
        LOG.debug("{}: {}: {}", function.symbol(), result.symbol(), thrown.getMessage());
      }
    } catch (Throwable e) {
      // A logger that fails must not end the process: the result says what happened.
      return result.code();
    }
    return result.code();
  }
}
