package dev.minifloat.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** What the processor is called, for figures that depend on it. */
final class Processor {
  private static final Path LINUX = Path.of("/proc/cpuinfo");

  private Processor() {}

  /** The maker's name where the system tells it, else the architecture; and the number of cores. */
  static String name() {
    int cores = Runtime.getRuntime().availableProcessors();
    return model().orElse(System.getProperty("os.arch"))
        + (cores == 1 ? ", 1 core" : ", " + cores + " cores");
  }

  private static Optional<String> model() {
    if (!Files.isReadable(LINUX)) {
      return Optional.ofNullable(System.getenv("PROCESSOR_IDENTIFIER"));
    }
    try (Stream<String> lines = Files.lines(LINUX)) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst();
    } catch (IOException _) {
      // A name is not worth failing for.
      return Optional.empty();
    }
  }
}
