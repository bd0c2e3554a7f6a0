package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * A CUDA driver: the system's, or whatever else answers the names of its functions. Functions are
 * bound when they are first called, and {@link #require} is the one place where a {@code CUresult}
 * becomes an exception.
 *
 * <p>It needs no closing: the system's library stays loaded, and other functions belong to whoever
 * gave them.
 */
public final class Driver {
  /** {@code CUDA_SUCCESS}. */
  static final int SUCCESS = 0;

  /** {@code CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER}. */
  private static final int NEWER_DRIVER = 36;

  private final SymbolLookup lookup;
  private final String name;
  private final Map<DriverFunction, Binding> bindings = new ConcurrentHashMap<>();

  private Driver(SymbolLookup lookup, String name) {
    this.lookup = lookup;
    this.name = name;
  }

  /**
   * The driver of this system.
   *
   * @throws DriverUnavailableException if there is none, it is too old, it finds no device, or
   *     native access is denied
   */
  public static Driver open() {
    return DriverLibrary.open();
  }

  /**
   * A driver that somebody else loaded or simulates; it is initialised here.
   *
   * @param lookup finds functions by their symbols ({@code cuMemAlloc_v2}); they stay callable
   *     while it is reachable
   * @param name what messages call it
   * @throws DriverUnavailableException if it can't be used
   */
  public static Driver open(SymbolLookup lookup, String name) {
    return DriverLibrary.open(lookup, name);
  }

  /** A driver before {@code cuInit}. */
  static Driver uninitialised(SymbolLookup lookup, String name) {
    return new Driver(
        Objects.requireNonNull(lookup, "lookup"), Objects.requireNonNull(name, "name"));
  }

  /** What it is called. */
  public String name() {
    return name;
  }

  /** The newest CUDA that it supports: 13000 for 13.0. */
  public int version() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
      call(DriverFunction.cuDriverGetVersion, out);
      return out.get(ValueLayout.JAVA_INT, 0);
    }
  }

  /** Its devices, in the driver's order. */
  public List<Device> devices() {
    int count;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
      call(DriverFunction.cuDeviceGetCount, out);
      count = out.get(ValueLayout.JAVA_INT, 0);
    }
    List<Device> devices = new ArrayList<>();
    for (int ordinal = 0; ordinal < count; ordinal++) {
      devices.add(Device.of(this, ordinal));
    }
    return List.copyOf(devices);
  }

  /** Whether it has a function; older drivers lack some. */
  boolean has(DriverFunction function) {
    return lookup.find(function.symbol()).isPresent();
  }

  /**
   * Calls a function that needs no context.
   *
   * @throws CudaException if it fails
   */
  void call(DriverFunction function, Object... arguments) {
    require(bind(function).call(arguments), function, arguments);
  }

  /**
   * A function, bound.
   *
   * @throws dev.minifloat.MinifloatException if the driver is too old to have it
   */
  Binding bind(DriverFunction function) {
    Binding bound = bindings.get(function);
    if (bound != null) {
      return bound;
    }
    MemorySegment symbol =
        DriverLibrary.find(lookup, function).orElseThrow(() -> failure(NEWER_DRIVER, function));
    bindings.putIfAbsent(function, Binding.of(function, symbol));
    return bindings.get(function);
  }

  /** Throws unless a result is success. */
  void require(int result, DriverFunction function, Object... arguments) {
    if (result != SUCCESS) {
      throw failure(result, function, arguments);
    }
  }

  /** An exception for a result. */
  CudaException failure(int result, DriverFunction function, Object... arguments) {
    String resultName = text(DriverFunction.cuGetErrorName, result);
    String message =
        "%s(%s) of %s failed with %s (%d): %s"
            .formatted(
                function.symbol(),
                Arrays.stream(arguments).map(Driver::argument).collect(Collectors.joining(", ")),
                name,
                resultName,
                result,
                text(DriverFunction.cuGetErrorString, result));
    return new CudaException(message, function.symbol(), result, resultName);
  }

  private static String argument(Object argument) {
    return argument instanceof MemorySegment pointer
        ? "0x" + Long.toHexString(pointer.address())
        : String.valueOf(argument);
  }

  /** What the driver says of a result. */
  private String text(DriverFunction function, int result) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
      int told = has(function) ? bind(function).call(result, out) : NEWER_DRIVER;
      MemorySegment text = out.get(ValueLayout.ADDRESS, 0);
      return told != SUCCESS || text.address() == 0
          ? "unknown"
          : text.reinterpret(Long.MAX_VALUE).getString(0);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
