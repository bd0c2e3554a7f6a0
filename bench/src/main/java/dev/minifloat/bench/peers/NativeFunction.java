package dev.minifloat.bench.peers;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * A C function.
 *
 * @param name its symbol
 * @param handle calls it
 */
record NativeFunction(String name, MethodHandle handle) {
  /** Calls it, slowly: for what isn't timed. Arguments are boxed and adapted. */
  Object call(Object... arguments) {
    try {
      return handle.invokeWithArguments(arguments);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /** Calls one that gives a pointer, which must not be null. */
  MemorySegment pointer(Object... arguments) {
    MemorySegment result = (MemorySegment) call(arguments);
    if (result.address() == 0) {
      throw new IllegalStateException(name + " gave null");
    }
    return result;
  }

  /** What a call by the handle itself throws on. */
  IllegalStateException failed(Throwable cause) {
    return new IllegalStateException("the call of " + name + " failed", cause);
  }
}
