package dev.minifloat.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/** What a call between Java and C costs, by functions of the C library that do next to nothing. */
final class ForeignCalls implements Contestant {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final FunctionDescriptor INT_TO_INT =
      FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);

  // Constants, as a library's handles are: a handle in a field costs more.
  private static final MethodHandle ABS =
      LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow("abs"), INT_TO_INT);
  private static final MethodHandle CRITICAL_ABS =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("abs"), INT_TO_INT, Linker.Option.critical(false));
  private static final MethodHandle BSEARCH =
      LINKER.downcallHandle(
          LINKER.defaultLookup().findOrThrow("bsearch"),
          FunctionDescriptor.of(
              ValueLayout.ADDRESS,
              ValueLayout.ADDRESS,
              ValueLayout.ADDRESS,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.ADDRESS));

  private final Workload.Call kind;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment element = arena.allocate(ValueLayout.JAVA_INT);
  private final MemorySegment comparator;
  private long sum;

  ForeignCalls(Workload.Call kind) {
    this.kind = kind;
    // A comparator that finds the only element equal to what is looked for.
    MethodHandle equal =
        MethodHandles.dropArguments(
            MethodHandles.constant(int.class, 0), 0, MemorySegment.class, MemorySegment.class);
    comparator =
        LINKER.upcallStub(
            equal,
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS),
            arena);
  }

  @Override
  public String name() {
    return Ours.NAME;
  }

  @Override
  public void run() {
    sum = 0;
    try {
      for (int i = 0; i < Workload.FfmCall.CALLS; i++) {
        sum +=
            switch (kind) {
              case DOWNCALL -> (int) ABS.invokeExact(-i);
              case CRITICAL -> (int) CRITICAL_ABS.invokeExact(-i);
              case UPCALL -> {
                MemorySegment found =
                    (MemorySegment) BSEARCH.invokeExact(element, element, 1L, 4L, comparator);
                yield found.address() == element.address() ? i : 0;
              }
            };
      }
    } catch (Throwable e) {
      throw new IllegalStateException("calling the C library", e);
    }
  }

  /** 0 + 1 + … + {@code CALLS} − 1. */
  @Override
  public float[] result() {
    return new float[] {sum};
  }

  @Override
  public void close() {
    arena.close();
  }
}
