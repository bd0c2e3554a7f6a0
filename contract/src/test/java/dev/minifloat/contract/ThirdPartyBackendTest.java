package dev.minifloat.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Backend;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** A backend in a jar of its own is found on either path, and the contract finds its faults. */
class ThirdPartyBackendTest {
  private static final String SOURCES = "src/test/java/com/example/tiny";

  private static final List<String> PROVIDERS =
      List.of(
          "com.example.tiny.TinyProvider",
          "com.example.tiny.TinyProvider$Stochastic",
          "com.example.tiny.TinyProvider$Reciprocal",
          "com.example.tiny.TinyProvider$Tail");

  @TempDir Path folder;

  @Test
  void plugsInOnTheModulePath() throws Exception {
    Path info = folder.resolve("module-info.java");
    Files.writeString(
        info,
        """
        module com.example.tiny {
          requires dev.minifloat;
          requires dev.minifloat.contract;
          provides dev.minifloat.spi.BackendProvider with
              %s;
        }
        """
            .formatted(String.join(", ", PROVIDERS).replace('$', '.')));
    Path module = folder.resolve("module");
    compile(module, List.of("--module-path", libraries()), info);
    expect(
        run(
            "--module-path",
            libraries() + File.pathSeparator + module,
            "--module",
            "com.example.tiny/com.example.tiny.TinyMain"),
        "module");
  }

  @Test
  void plugsInOnTheClassPath() throws Exception {
    Path classes = folder.resolve("classes");
    compile(classes, List.of("-classpath", libraries()), null);
    Path services = classes.resolve("META-INF/services");
    Files.createDirectories(services);
    Files.write(services.resolve("dev.minifloat.spi.BackendProvider"), PROVIDERS);
    expect(
        run("-classpath", libraries() + File.pathSeparator + classes, "com.example.tiny.TinyMain"),
        "class");
  }

  private static void expect(List<String> lines, String path) {
    assertEquals(5, lines.size(), () -> String.join("\n", lines));
    assertTrue(lines.contains("tiny: passes"), lines::toString);
    expectLine(lines, "tiny-stochastic-index-off-by-one: fails convert/");
    expectLine(lines, "tiny-quantize-multiplies-by-reciprocal: fails quantize/");
    expectLine(lines, "tiny-gemm-drops-tail-of-k: fails gemm/");
    assertEquals("ran on the " + path + " path", lines.getLast());
  }

  private static void expectLine(List<String> lines, String start) {
    assertTrue(lines.stream().anyMatch(line -> line.startsWith(start)), lines::toString);
  }

  private static void compile(Path target, List<String> path, Path info) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("-d", target.toString(), "-proc:none"));
    arguments.addAll(path);
    try (Stream<Path> sources = Files.list(Path.of(SOURCES))) {
      sources.map(Path::toString).forEach(arguments::add);
    }
    if (info != null) {
      arguments.add(info.toString());
    }
    ToolProvider javac = ToolProvider.findFirst("javac").orElseThrow();
    assertEquals(0, javac.run(System.out, System.err, arguments.toArray(String[]::new)));
  }

  private static List<String> run(String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Dstdout.encoding=UTF-8");
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectError(errors()).start();
    try (Stream<String> lines = process.inputReader(StandardCharsets.UTF_8).lines()) {
      List<String> all = lines.toList();
      assertEquals(0, process.waitFor(), () -> "the program failed: " + all);
      return all;
    }
  }

  private static ProcessBuilder.Redirect errors() {
    return ProcessBuilder.Redirect.INHERIT;
  }

  /** Where the API, the contract and SLF4J come from: folders or jars, each a module. */
  private static String libraries() {
    return Stream.of(Backend.class, Contract.class, LoggerFactory.class)
        .map(ThirdPartyBackendTest::location)
        .reduce((a, b) -> a + File.pathSeparator + b)
        .orElseThrow();
  }

  private static String location(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException("Where " + type + " comes from is no path", e);
    }
  }
}
