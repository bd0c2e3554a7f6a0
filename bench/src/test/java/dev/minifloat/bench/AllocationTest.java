package dev.minifloat.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** What our own benchmarks measure allocates nothing, on any thread. */
class AllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Until C2 is through; an interpreted vector is an object. */
  private static final int ATTEMPTS = 2000;

  private static final int RUNS = 50;

  @TestFactory
  Stream<DynamicTest> kernelsAllocateNothing() {
    return SmallWorkloads.all().stream()
        .map(
            workload ->
                DynamicTest.dynamicTest(
                    TextTable.title(workload), () -> assertEquals(0, leastAllocated(workload))));
  }

  /** Bytes of {@code RUNS} runs, once they don't get fewer. */
  private static long leastAllocated(Workload workload) {
    try (Ours ours = new Ours(Path.of("none"));
        Contestant contestant = ours.prepare(workload).orElseThrow()) {
      long least = Long.MAX_VALUE;
      for (int attempt = 0; attempt < ATTEMPTS && least > 0; attempt++) {
        long before = THREADS.getTotalThreadAllocatedBytes();
        for (int i = 0; i < RUNS; i++) {
          contestant.run();
        }
        least = Math.min(least, THREADS.getTotalThreadAllocatedBytes() - before);
      }
      return least;
    }
  }
}
