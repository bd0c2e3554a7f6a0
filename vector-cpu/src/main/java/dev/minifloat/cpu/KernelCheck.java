package dev.minifloat.cpu;

import dev.minifloat.DType;
import dev.minifloat.Scope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs kernels until they are compiled, and finds those that are compiled badly. */
final class KernelCheck {
  private static final Logger LOG = LoggerFactory.getLogger(KernelCheck.class);

  /** Calls of each kernel in a round. */
  private static final int CALLS = 32;

  /**
   * How much of its own time a thread goes on while no kernel comes right: on a busy machine the
   * compiler's threads get no larger share of it.
   */
  private static final long PATIENCE_NANOS = 3_000_000_000L;

  /** What was seen to cure kernels that were compiled badly for this reason. */
  private static final String ADVICE =
      "the compiler boxes its vectors, because it refused to inline a method that it had compiled"
          + " before; start java with -XX:InlineSmallCode=10000, or call VectorBackend.warmUp first";

  /** Stands in where nothing can be measured: every kernel then runs for one round. */
  private static final Allocations.Meter NO_METER =
      new Allocations.Meter(() -> 0, System::nanoTime);

  private KernelCheck() {}

  static void warmUp(Set<DType> dtypes) {
    onMeasurableThread(
        () -> {
          warmUpHere(dtypes);
          return null;
        });
  }

  /** The JVM counts allocations and time of platform threads only. */
  private static <T> T onMeasurableThread(Supplier<T> work) {
    if (!Thread.currentThread().isVirtual()) {
      return work.get();
    }
    FutureTask<T> task = new FutureTask<>(work::get);
    Thread thread = Thread.ofPlatform().daemon().name("minifloat-kernel-check").start(task);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return task.get();
        } catch (InterruptedException _) {
          // Nothing here can be left half done; the caller sees the interrupt afterwards.
          interrupted = true;
        }
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(thread.getName() + " failed", e.getCause());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void warmUpHere(Set<DType> dtypes) {
    try (VectorBackend backend = VectorBackend.threads(1);
        Scope scope = backend.scope()) {
      settle(KernelRuns.of(backend, scope, dtypes), Allocations.meter().orElse(NO_METER));
    }
  }

  /**
   * Runs all kernels in turn until each has made no more garbage than {@link #isHealthy} allows,
   * which interpreted code does, or until patience ends; returns the bytes of each one's best call.
   */
  private static long[] settle(List<KernelRuns.Run> runs, Allocations.Meter meter) {
    long[] bytes = new long[runs.size()];
    Arrays.fill(bytes, Long.MAX_VALUE);
    int left = bytes.length;
    long since = meter.nanos().getAsLong();
    while (left > 0 && meter.nanos().getAsLong() - since < PATIENCE_NANOS) {
      for (int i = 0; i < bytes.length; i++) {
        if (isHealthy(bytes[i])) {
          continue;
        }
        bytes[i] = leastBytes(runs.get(i).call(), meter);
        if (isHealthy(bytes[i])) {
          left--;
          since = meter.nanos().getAsLong();
        }
      }
    }
    return bytes;
  }

  private static long leastBytes(Runnable call, Allocations.Meter meter) {
    long bytes = Long.MAX_VALUE;
    for (int i = 0; i < CALLS; i++) {
      long before = meter.bytes().getAsLong();
      call.run();
      bytes = Math.min(bytes, meter.bytes().getAsLong() - before);
    }
    return bytes;
  }

  /** A boxed vector is 5 bytes or more for each of its elements. */
  private static boolean isHealthy(long bytes) {
    return bytes < 4L * KernelRuns.ELEMENTS;
  }

  static List<KernelReport> selfCheck(Set<DType> dtypes) {
    return onMeasurableThread(() -> selfCheckHere(dtypes));
  }

  private static List<KernelReport> selfCheckHere(Set<DType> dtypes) {
    Optional<Allocations.Meter> meter = Allocations.meter();
    if (meter.isEmpty()) {
      String advice =
          "allocations can't be measured: that needs the module "
              + Allocations.MODULE
              + ", and the measurement of threads' CPU time and allocations, which is on by default";
      LOG.warn("Vector kernels were not checked: {}", advice);
      return List.of(new KernelReport("all", -1, false, advice));
    }
    List<KernelReport> reports = new ArrayList<>();
    try (VectorBackend backend = VectorBackend.threads(1);
        Scope scope = backend.scope()) {
      List<KernelRuns.Run> runs = KernelRuns.of(backend, scope, dtypes);
      long[] bytes = settle(runs, meter.get());
      for (int i = 0; i < bytes.length; i++) {
        String kernel = runs.get(i).kernel();
        boolean healthy = isHealthy(bytes[i]);
        reports.add(new KernelReport(kernel, bytes[i], healthy, healthy ? "" : ADVICE));
        if (!healthy) {
          LOG.warn("Kernel {} allocates {} bytes a call: {}", kernel, bytes[i], ADVICE);
        }
      }
    }
    return List.copyOf(reports);
  }
}
