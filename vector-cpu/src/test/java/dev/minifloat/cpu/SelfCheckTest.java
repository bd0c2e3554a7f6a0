package dev.minifloat.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Warm-up and self-check, in JVMs of their own: what is compiled there depends on nothing else. */
class SelfCheckTest {
  /** Prints a line for each kernel of F32. */
  static final class Program {
    private Program() {}

    public static void main(String[] args) {
      VectorBackend.warmUp(DType.F32);
      for (KernelReport report : VectorBackend.selfCheck(DType.F32)) {
        System.out.println((report.healthy() ? "healthy " : "bad ") + report.kernel());
        if (report.healthy() != report.advice().isEmpty()) {
          throw new IllegalStateException(report.toString());
        }
      }
    }
  }

  private static List<String> run(String... flags) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(flags));
    String classPath = System.getProperty("java.class.path");
    assertTrue(classPath.contains(File.pathSeparator));
    command.addAll(List.of("--add-modules", "jdk.incubator.vector", "-cp", classPath));
    command.add(Program.class.getName());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), output);
    return output.lines().toList();
  }

  private static long count(List<String> lines, String start) {
    return lines.stream().filter(line -> line.startsWith(start)).count();
  }

  @Test
  void kernelsOfAFreshJvmAreHealthy() throws Exception {
    List<String> lines = run();
    assertTrue(count(lines, "healthy ") > 10, () -> String.join("\n", lines));
    assertEquals(0, count(lines, "bad "), () -> String.join("\n", lines));
  }

  @Test
  void kernelsThatAreNotInlinedAreFoundAndLoggedWithTheFlagThatHelps() throws Exception {
    List<String> lines = run("-XX:InlineSmallCode=50");
    assertTrue(count(lines, "bad ") > 3, () -> String.join("\n", lines));
    assertTrue(
        lines.stream().anyMatch(l -> l.contains("WARN") && l.contains("-XX:InlineSmallCode=10000")),
        () -> String.join("\n", lines));
  }

  @Test
  void theFlagHelps() throws Exception {
    List<String> lines = run("-XX:InlineSmallCode=50", "-XX:InlineSmallCode=10000");
    assertTrue(count(lines, "healthy ") > 10, () -> String.join("\n", lines));
    assertEquals(0, count(lines, "bad "), () -> String.join("\n", lines));
  }

  @Test
  void virtualThreadsMeasureAsWell() throws Exception {
    AtomicReference<List<KernelReport>> reports = new AtomicReference<>();
    Thread.ofVirtual().start(() -> reports.set(VectorBackend.selfCheck(DType.I8))).join();
    assertTrue(reports.get().stream().allMatch(KernelReport::healthy), reports::toString);
    assertTrue(reports.get().stream().anyMatch(r -> r.bytesPerCall() > 0), reports::toString);
  }

  @Test
  void warmingUpFromSeveralThreadsIsSafe() throws Exception {
    Thread other = new Thread(() -> VectorBackend.warmUp(DType.I8));
    other.start();
    VectorBackend.warmUp(DType.I8);
    other.join();
    assertTrue(VectorBackend.selfCheck(DType.I8).stream().allMatch(KernelReport::healthy));
  }
}
