package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;

/**
 * A function of one driver, ready to be called; a call costs some 10 to 50 ns beyond the function.
 */
final class Binding {
  private final DriverFunction function;
  private final MethodHandle handle;
  private final MethodHandle spread;

  private Binding(DriverFunction function, MethodHandle handle) {
    this.function = function;
    this.handle = handle;
    this.spread =
        handle
            .asSpreader(Object[].class, handle.type().parameterCount())
            .asType(MethodType.methodType(int.class, Object[].class));
  }

  static Binding of(DriverFunction function, MemorySegment symbol) {
    return new Binding(
        function, Linker.nativeLinker().downcallHandle(symbol, function.descriptor()));
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
      if (given[i] instanceof Long address
          && handle.type().parameterType(i) == MemorySegment.class) {
        given[i] = MemorySegment.ofAddress(address);
      }
    }
    try {
      return (int) spread.invokeExact(given);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Calls a function of one pointer. */
  int call(MemorySegment pointer) {
    try {
      return (int) handle.invokeExact(pointer);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** What a downcall itself throws: arguments of a wrong type, memory that was freed. */
  private RuntimeException unexpected(Throwable e) {
    return switch (e) {
      case RuntimeException unchecked -> unchecked;
      case Error error -> throw error;
      default -> new IllegalStateException(function.symbol() + " can't be called", e);
    };
  }
}
