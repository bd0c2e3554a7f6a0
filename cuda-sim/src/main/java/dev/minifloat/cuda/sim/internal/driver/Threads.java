package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the driver remembers of each thread of the operating system. A virtual thread has none of
 * its own: it sees what its carrier has at the moment, as it would with a real driver.
 */
final class Threads {
  /** A thread's context stack, its topmost element being current, and its part in captures. */
  static final class State {
    final Deque<Context> contexts = new ArrayDeque<>();
    int captureMode;
    boolean inHostFunction;
  }

  private final ThreadLocal<State> platform = ThreadLocal.withInitial(State::new);
  private final Map<Long, State> carriers = new ConcurrentHashMap<>();
  private final MethodHandle currentId;

  Threads() {
    Linker linker = Linker.nativeLinker();
    this.currentId =
        function(linker, "gettid", ValueLayout.JAVA_INT)
            .or(() -> function(linker, "pthread_self", ValueLayout.JAVA_LONG))
            .orElse(null);
  }

  private static Optional<MethodHandle> function(Linker linker, String name, ValueLayout type) {
    SymbolLookup lookup = linker.defaultLookup();
    Optional<MemorySegment> found = lookup.find(name);
    return found.map(
        address ->
            linker
                .downcallHandle(
                    address.reinterpret(Arena.global(), null), FunctionDescriptor.of(type))
                .asType(java.lang.invoke.MethodType.methodType(long.class)));
  }

  State current() {
    if (!Thread.currentThread().isVirtual()) {
      return platform.get();
    }
    // The upcall's native frame pins the virtual thread: its carrier stays the same meanwhile.
    return carriers.computeIfAbsent(carrierId(), _ -> new State());
  }

  private long carrierId() {
    if (currentId == null) {
      throw CuResult.OPERATING_SYSTEM.because(
          "the C library has neither gettid nor pthread_self, so a virtual thread's carrier is unknown");
    }
    try {
      return (long) currentId.invokeExact();
    } catch (Throwable e) {
      throw new IllegalStateException("asking for the thread's number failed", e);
    }
  }
}
