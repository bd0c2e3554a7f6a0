package dev.minifloat.cuda.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.cuda.driver.DriverFunction;
import dev.minifloat.cuda.sim.internal.driver.CuResult;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Calls a simulated driver as C does: through downcalls to the symbols of its lookup. */
final class Client implements AutoCloseable {
  final SimulatedDriver driver;
  final Arena arena = Arena.ofAuto();
  private final Map<DriverFunction, MethodHandle> handles = new ConcurrentHashMap<>();

  Client(SimulatedDriver driver) {
    this.driver = driver;
  }

  /** A client of a driver with one device, initialised, its context current. */
  static Client ready(String devices) {
    return ready(SimulatedDriver.of(devices));
  }

  static Client ready(SimulatedDriver driver) {
    Client client = new Client(driver);
    client.ok(DriverFunction.cuInit, 0);
    client.ok(DriverFunction.cuCtxSetCurrent, client.retain(0));
    return client;
  }

  /** Calls a function. Addresses may be given as numbers. */
  CuResult call(DriverFunction function, Object... arguments) {
    MethodHandle handle = handles.computeIfAbsent(function, this::link);
    Object[] given = arguments.clone();
    for (int i = 0; i < given.length; i++) {
      Class<?> type = handle.type().parameterType(i);
      if (type == MemorySegment.class && given[i] instanceof Number number) {
        given[i] = MemorySegment.ofAddress(number.longValue());
      } else if (type == long.class && given[i] instanceof Number number) {
        given[i] = number.longValue();
      }
    }
    try {
      return CuResult.of((int) handle.invokeWithArguments(given));
    } catch (Throwable e) {
      throw new AssertionError(function + " can't be called", e);
    }
  }

  private MethodHandle link(DriverFunction function) {
    MemorySegment symbol = driver.lookup().find(function.symbol()).orElseThrow();
    return Linker.nativeLinker().downcallHandle(symbol, function.descriptor());
  }

  void ok(DriverFunction function, Object... arguments) {
    assertEquals(CuResult.SUCCESS, call(function, arguments), () -> "result of " + function);
  }

  void fails(CuResult result, DriverFunction function, Object... arguments) {
    assertEquals(result, call(function, arguments), () -> "result of " + function);
  }

  MemorySegment slot() {
    return arena.allocate(8, 8);
  }

  /** What a function writes as eight bytes to where its first argument points. */
  long get(DriverFunction function, Object... rest) {
    MemorySegment out = slot();
    ok(function, prepend(out, rest));
    return out.get(ValueLayout.JAVA_LONG, 0);
  }

  int getInt(DriverFunction function, Object... rest) {
    return (int) get(function, rest);
  }

  static Object[] prepend(Object first, Object... rest) {
    Object[] all = new Object[rest.length + 1];
    all[0] = first;
    System.arraycopy(rest, 0, all, 1, rest.length);
    return all;
  }

  long retain(int device) {
    return get(DriverFunction.cuDevicePrimaryCtxRetain, device);
  }

  long alloc(long bytes) {
    return get(DriverFunction.cuMemAlloc_v2, bytes);
  }

  long stream(int flags) {
    return get(DriverFunction.cuStreamCreate, flags);
  }

  long event() {
    return get(DriverFunction.cuEventCreate, 0);
  }

  MemorySegment pinned(long bytes) {
    return MemorySegment.ofAddress(get(DriverFunction.cuMemAllocHost_v2, bytes)).reinterpret(bytes);
  }

  long module(String ptx) {
    return get(DriverFunction.cuModuleLoadData, arena.allocateFrom(ptx));
  }

  long function(long module, String name) {
    return get(DriverFunction.cuModuleGetFunction, module, arena.allocateFrom(name));
  }

  MemorySegment ints(int... values) {
    return arena.allocateFrom(ValueLayout.JAVA_INT, values);
  }

  MemorySegment floats(float... values) {
    return arena.allocateFrom(ValueLayout.JAVA_FLOAT, values);
  }

  long upload(MemorySegment data) {
    long address = alloc(data.byteSize());
    ok(DriverFunction.cuMemcpyHtoD_v2, address, data, data.byteSize());
    return address;
  }

  /** Copies back without a wait of its own: in a stream that nothing else uses, synchronously. */
  int[] peek(long address, int count) {
    long stream = stream(1);
    MemorySegment out = arena.allocate(4L * count, 4);
    ok(DriverFunction.cuMemcpyDtoHAsync_v2, out, address, 4L * count, stream);
    ok(DriverFunction.cuStreamDestroy_v2, stream);
    return out.toArray(ValueLayout.JAVA_INT);
  }

  /** The array {@code kernelParams}: pointers to values of four or eight bytes, or to structs. */
  MemorySegment params(Object... values) {
    MemorySegment pointers = arena.allocate(8L * Math.max(1, values.length), 8);
    for (int i = 0; i < values.length; i++) {
      MemorySegment value = slot();
      switch (values[i]) {
        case MemorySegment struct -> value = struct;
        case Integer number -> value.set(ValueLayout.JAVA_INT, 0, number);
        case Long number -> value.set(ValueLayout.JAVA_LONG, 0, number);
        default -> throw new IllegalArgumentException("parameter " + values[i]);
      }
      pointers.setAtIndex(ValueLayout.ADDRESS, i, value);
    }
    return pointers;
  }

  CuResult launch(
      long function, int blocks, int threads, int shared, long stream, Object... values) {
    return call(
        DriverFunction.cuLaunchKernel,
        function,
        blocks,
        1,
        1,
        threads,
        1,
        1,
        shared,
        stream,
        params(values),
        0);
  }

  @Override
  public void close() {
    driver.close();
  }
}
