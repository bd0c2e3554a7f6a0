package dev.minifloat.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The backend as a program finds it: on the class path with and without the flag, as a module. */
class PathsTest {
  private static final String FLAG = "--add-modules";
  private static final String MODULE = "jdk.incubator.vector";

  private static final String PROGRAM =
      """
      import dev.minifloat.*;

      class Program {
        public static void main(String[] args) {
          Backends.report().forEach(System.out::println);
          try (Backend backend = Backends.best()) {
            System.out.println("best " + backend.name());
            System.out.println(backend.amax(backend.upload(HostTensor.of(new float[] {1, -3}))));
          }
        }
      }
      """;

  private static final String WARM_UP =
      """
      import dev.minifloat.*;
      import dev.minifloat.cpu.VectorBackend;

      class Program {
        public static void main(String[] args) {
          for (Runnable use : new Runnable[] {
              () -> VectorBackend.warmUp(DType.F32),
              () -> VectorBackend.selfCheck(DType.F32),
              () -> VectorBackend.threads(1)}) {
            try {
              use.run();
              System.out.println("no exception");
            } catch (BackendUnavailableException e) {
              System.out.println(e.getMessage());
            }
          }
        }
      }
      """;

  @TempDir Path directory;

  @Test
  void withoutTheFlagTheClassPathGivesTheReferenceAndSaysWhy() throws Exception {
    List<String> lines = run("-cp", classPath());
    String why = "start java with --add-modules jdk.incubator.vector";
    assertTrue(
        lines.stream().anyMatch(l -> l.startsWith("vector: not usable") && l.contains(why)),
        () -> String.join("\n", lines));
    assertTrue(lines.contains("best reference"), () -> String.join("\n", lines));
    List<String> logged = lines.stream().filter(l -> l.contains("Using backend")).toList();
    assertEquals(1, logged.size(), () -> String.join("\n", lines));
    assertTrue(logged.getFirst().contains("INFO"), logged::toString);
    assertTrue(logged.getFirst().contains(why), logged::toString);
  }

  @Test
  void withoutTheFlagItsOwnMethodsSayWhatHelps() throws Exception {
    List<String> lines = runProgram(WARM_UP, "-cp", classPath());
    String why = "start java with --add-modules jdk.incubator.vector";
    assertEquals(
        3, lines.stream().filter(l -> l.contains(why)).count(), () -> String.join("\n", lines));
  }

  @Test
  void withTheFlagTheClassPathGivesIt() throws Exception {
    List<String> lines = run(FLAG, MODULE, "-cp", classPath());
    assertTrue(lines.contains("best vector"), () -> String.join("\n", lines));
    assertTrue(lines.contains("3.0"), () -> String.join("\n", lines));
  }

  @Test
  void onTheModulePathItBringsTheModuleItself() throws Exception {
    List<String> lines = run("--module-path", classPath(), FLAG, "dev.minifloat.cpu");
    assertTrue(lines.contains("best vector"), () -> String.join("\n", lines));
    assertTrue(lines.contains("3.0"), () -> String.join("\n", lines));
  }

  /** The backend, the API and the logging they use, without tests. */
  private static String classPath() {
    List<String> wanted = List.of("vector-cpu", "api", "slf4j");
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> !entry.contains("test-classes"))
        .filter(entry -> wanted.stream().anyMatch(entry::contains))
        .filter(entry -> !entry.contains("junit") && !entry.contains("apiguardian"))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private List<String> run(String... arguments) throws IOException, InterruptedException {
    return runProgram(PROGRAM, arguments);
  }

  private List<String> runProgram(String text, String... arguments)
      throws IOException, InterruptedException {
    Path program = Files.writeString(directory.resolve("Program.java"), text);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(arguments));
    command.add(program.toString());
    Process process =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), output);
    return output.lines().toList();
  }
}
