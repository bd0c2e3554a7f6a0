package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;

/** A function of one driver, ready to be called. */
final class Binding {
  private final DriverFunction function;
  private final MethodType type;
  private final MethodHandle handle;

  private Binding(DriverFunction function, MethodType type, MethodHandle handle) {
    this.function = function;
    this.type = type;
    this.handle = handle;
  }

  static Binding of(DriverFunction function, MemorySegment symbol) {
    MethodHandle handle = Linker.nativeLinker().downcallHandle(symbol, function.descriptor());
    MethodType type = handle.type();
    return new Binding(
        function,
        type,
        handle
            .asSpreader(Object[].class, type.parameterCount())
            .asType(MethodType.methodType(int.class, Object[].class)));
  }

  /**
   * Calls it.
   *
   * @param arguments of the types of its descriptor; a {@link Handle}, which must be held, stands
   *     for its address, and a long may stand for a pointer
   */
  int call(Object... arguments) {
    Object[] given = arguments.clone();
    for (int i = 0; i < given.length; i++) {
      if (given[i] instanceof Handle used) {
        given[i] = used.address();
      }
      if (given[i] instanceof Long address && type.parameterType(i) == MemorySegment.class) {
        given[i] = MemorySegment.ofAddress(address);
      }
    }
    try {
      return (int) handle.invokeExact(given);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(function.symbol() + " can't be called", e);
    }
  }
}
