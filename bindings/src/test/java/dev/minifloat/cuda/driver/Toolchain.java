package dev.minifloat.cuda.driver;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The C compiler and CUDA's headers, on machines that have both. */
record Toolchain(Path include) {
  private static final List<String> COMPILERS = List.of("gcc", "g++");

  /** Looks where {@code CUDA_HOME} and {@code CUDA_PATH} say, and where installers put CUDA. */
  static Optional<Toolchain> find() throws IOException {
    if (!COMPILERS.stream().allMatch(Toolchain::isOnPath)) {
      return Optional.empty();
    }
    List<Path> homes = new ArrayList<>();
    for (String variable : List.of("CUDA_HOME", "CUDA_PATH")) {
      String value = System.getenv(variable);
      if (value != null && !value.isBlank()) {
        homes.add(Path.of(value));
      }
    }
    Path installed = Path.of("/usr/local");
    if (Files.isDirectory(installed)) {
      try (DirectoryStream<Path> folders = Files.newDirectoryStream(installed, "cuda*")) {
        folders.forEach(homes::add);
      }
    }
    return homes.stream()
        .map(home -> home.resolve("include"))
        .filter(include -> Files.isReadable(include.resolve("cuda.h")))
        .findFirst()
        .map(Toolchain::new);
  }

  private static boolean isOnPath(String program) {
    for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
      if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, program))) {
        return true;
      }
    }
    return false;
  }

  /** Compiles a text, with warnings as errors. */
  void compile(String compiler, Path source, Path output, String... options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(compiler, "-Wall", "-Wextra", "-Werror", "-O1"));
    command.addAll(List.of(options));
    command.addAll(
        List.of("-isystem", include.toString(), "-o", output.toString(), source.toString()));
    run(command);
  }

  /** What a command prints. */
  static String run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String printed;
    try (var reader = process.inputReader()) {
      printed = reader.readAllAsString();
    }
    if (!process.waitFor(1, TimeUnit.MINUTES) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new AssertionError(String.join(" ", command) + " failed:\n" + printed);
    }
    return printed;
  }
}
