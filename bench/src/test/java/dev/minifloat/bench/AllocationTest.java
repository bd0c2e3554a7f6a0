package dev.minifloat.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * What our own benchmarks measure allocates nothing, on any thread; neither does it where vectors
 * of other widths were used before. Each case is a JVM of its own, since what was compiled earlier
 * decides how the rest is.
 */
class AllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Until C2 is through; an interpreted vector is an object. */
  private static final int ATTEMPTS = 2000;

  private static final int RUNS = 50;

  /**
   * A JVM in which all workloads run.
   *
   * @param bits width of its vectors at most
   * @param afterOthers whether vectors of other widths come first
   */
  record Jvm(int bits, boolean afterOthers) {
    Process start() {
      String classPath = System.getProperty("java.class.path");
      assertTrue(classPath.contains(File.pathSeparator));
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(List.of("-XX:MaxVectorSize=" + bits / 8, "-XX:-BackgroundCompilation"));
      command.addAll(List.of("--add-modules", "jdk.incubator.vector"));
      command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-Xmx1g", "-cp", classPath));
      command.addAll(List.of(AllocationTest.class.getName(), Boolean.toString(afterOthers)));
      try {
        return new ProcessBuilder(command).redirectErrorStream(true).start();
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public String toString() {
      return bits + " bits" + (afterOthers ? ", after other widths" : "");
    }
  }

  @TestFactory
  Stream<DynamicTest> kernelsAllocateNothing() {
    // All at once: each waits for its one compiler thread most of the time.
    return Stream.of(
        new Jvm(512, false), new Jvm(512, true), new Jvm(256, true), new Jvm(128, true))
        .map(jvm -> dynamicTest(jvm, jvm.start()))
        .toList()
        .stream();
  }

  private static DynamicTest dynamicTest(Jvm jvm, Process process) {
    return DynamicTest.dynamicTest(
        jvm.toString(),
        () -> {
          byte[] bytes = process.getInputStream().readAllBytes();
          String output = new String(bytes, StandardCharsets.UTF_8);
          assertEquals(0, process.waitFor(), output);
          String end = SmallWorkloads.all().size() + " workloads, 0 allocate";
          assertTrue(output.lines().toList().contains(end), output);
        });
  }

  /** Prints what allocates. */
  public static void main(String[] args) {
    double used = Boolean.parseBoolean(args[0]) ? OtherWidths.use() : 0;
    System.out.println("other widths: " + used);
    int count = 0;
    int bad = 0;
    for (Workload workload : SmallWorkloads.all()) {
      long bytes = leastAllocated(workload);
      count++;
      if (bytes > 0) {
        bad++;
        System.out.println(
            TextTable.title(workload) + ": " + bytes + " bytes of " + RUNS + " runs");
      }
    }
    System.out.println(count + " workloads, " + bad + " allocate");
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
