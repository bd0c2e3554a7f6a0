package dev.minifloat.cpu;

import java.lang.management.ManagementFactory;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Counts what a thread allocates, with the optional module {@code jdk.management}. */
final class Allocations {
  static final String MODULE = "jdk.management";

  private Allocations() {}

  /** Bytes of heap that the calling thread has allocated, and nanoseconds that it has run. */
  record Meter(LongSupplier bytes, LongSupplier nanos) {}

  /** Empty where the JVM measures neither, or not of this thread, as of a virtual one. */
  static Optional<Meter> meter() {
    if (ModuleLayer.boot().findModule(MODULE).isEmpty()) {
      return Optional.empty();
    }
    return Counter.create();
  }

  /** Apart, so that the module's classes are looked for only where it is there. */
  private static final class Counter {
    static Optional<Meter> create() {
      return ManagementFactory.getThreadMXBean() instanceof com.sun.management.ThreadMXBean threads
              && threads.isThreadAllocatedMemorySupported()
              && threads.isThreadAllocatedMemoryEnabled()
              && threads.isCurrentThreadCpuTimeSupported()
              && threads.isThreadCpuTimeEnabled()
              && threads.getCurrentThreadAllocatedBytes() >= 0
              && threads.getCurrentThreadCpuTime() >= 0
          ? Optional.of(
              new Meter(threads::getCurrentThreadAllocatedBytes, threads::getCurrentThreadCpuTime))
          : Optional.empty();
    }
  }
}
