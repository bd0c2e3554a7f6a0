package dev.minifloat.cli;

import dev.minifloat.formats.Paths;
import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures backends, in a process of its own. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = "Measure a backend beside other people's code and the limits of the machine.",
    subcommands = BenchCommand.Cpu.class)
final class BenchCommand extends BaseCommand {
  private static final String MAIN = "dev.minifloat.bench.Main";

  /**
   * What steers the libraries that ours is compared with: each is to choose for itself, as it does
   * for those who set nothing.
   */
  private static final List<String> STEERING =
      List.of("OPENBLAS_", "GOTO_", "OMP_", "GOMP_", "KMP_", "MKL_", "DNNL_", "ONEDNN_", "GGML_");

  @Override
  public Integer call() {
    throw usage("say what to measure: cpu");
  }

  /** The CPU backend. */
  @Command(
      name = "cpu",
      mixinStandardHelpOptions = true,
      versionProvider = Main.Version.class,
      description = {
        "Measure the backend \"vector\" beside its peers and the limits of the machine.",
        "With --quick contestants take turns, a median of rounds is taken, and it ends within"
            + " four minutes. Without, JMH measures one after the other, in a JVM for each"
            + " parameter, which takes hours.",
        "bench/peers/install gets the peers; each is optional."
      },
      footer = {
        "",
        "Exit codes: 0 good, 1 a contestant failed or computed something wrong, 2 wrong usage.",
        "",
        "Examples:",
        "  minifloat bench cpu --quick --report bench.html",
        "  minifloat bench cpu --quick --only dot,gemv --json bench.json"
      })
  static final class Cpu extends BaseCommand {
    @Option(names = "--quick", description = "Interleaved rounds, within four minutes.")
    boolean quick;

    @Option(
        names = "--only",
        split = ",",
        paramLabel = "SUBJECT",
        description =
            "Measure these only: dot, gemv, gemm, quantize, dequantize, convert, norms, encode,"
                + " ffm.")
    List<String> subjects = List.of();

    @Option(
        names = "--threads",
        paramLabel = "N",
        description = "The most threads. Default: a thread for each core.")
    Integer threads;

    @Option(
        names = "--vector-bits",
        split = ",",
        paramLabel = "N",
        description = "Measure ours at these widths too (128, 256 or 512); not with --quick.")
    List<Integer> widths = List.of();

    @Option(
        names = "--json",
        paramLabel = "FILE",
        description = "Write a list of {subject, format, size, threads, ours, peers, limit, unit}.")
    Path json;

    @Option(
        names = "--report",
        paramLabel = "FILE",
        description = "Write a page with charts, in HTML.")
    Path report;

    @Option(
        names = "--markdown",
        paramLabel = "FILE",
        description = "Write the tables of a README.")
    Path markdown;

    @Option(
        names = "--bench",
        hidden = true,
        paramLabel = "DIR",
        defaultValue = "${sys:minifloat.bench:-bench/target/dist}",
        description = "The folder of bench's jars. Default: ${DEFAULT-VALUE}.")
    Path bench;

    @Option(
        names = "--peers",
        paramLabel = "DIR",
        defaultValue = "${sys:minifloat.peers:-bench/peers/lib}",
        description = "The folder that bench/peers/install fills. Default: ${DEFAULT-VALUE}.")
    Path peers;

    @Option(
        names = "--models",
        paramLabel = "DIR",
        defaultValue = "${sys:minifloat.models:-models}",
        description = "The folder of the models' jars. Default: ${DEFAULT-VALUE}.")
    Path models;

    @Override
    public Integer call() {
      if (threads != null && threads < 1) {
        throw usage("--threads: " + threads + " is not a positive number");
      }
      if (quick && !widths.isEmpty()) {
        throw usage("--vector-bits goes without --quick, for each width takes a JVM");
      }
      for (int width : widths) {
        if (width != 128 && width != 256 && width != 512) {
          throw usage("--vector-bits: " + width + " is not one of 128, 256, 512");
        }
      }
      Set<Path> distinct = new HashSet<>();
      for (Path file : files().values()) {
        OutputFile.requireWritable(file);
        if (!distinct.add(file.toAbsolutePath().normalize())) {
          throw usage(file + ": two results can't be written to one file");
        }
      }
      requireJar();
      out().flush();
      return run(command());
    }

    private Map<String, Path> files() {
      Map<String, Path> files = new LinkedHashMap<>();
      if (json != null) {
        files.put("--json", json);
      }
      if (report != null) {
        files.put("--report", report);
      }
      if (markdown != null) {
        files.put("--markdown", markdown);
      }
      return files;
    }

    private void requireJar() {
      String remedy =
          "; ./minifloat builds it, as does mvn package -pl bench -am -DskipTests in the checkout";
      if (!Files.isDirectory(bench)) {
        throw new CommandFailure(
            "the benchmarks are not there: no folder " + bench.toAbsolutePath() + remedy);
      }
      try (DirectoryStream<Path> jars = Files.newDirectoryStream(bench, "minifloat-bench-*.jar")) {
        if (!jars.iterator().hasNext()) {
          throw new CommandFailure(
              "the benchmarks are not there: no minifloat-bench-*.jar in "
                  + bench.toAbsolutePath()
                  + remedy);
        }
      } catch (IOException e) {
        throw new CommandFailure(
            "can't look for the benchmarks in " + bench + ": " + Paths.reason(e), e);
      }
    }

    private List<String> command() {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(
          List.of(
              "--add-modules",
              "jdk.incubator.vector",
              "--enable-native-access=ALL-UNNAMED",
              // Peers in Java use it, and the JVM would warn.
              "--sun-misc-unsafe-memory-access=allow",
              // No threads of a collector, and weights larger than caches outside the heap.
              "-XX:+UseSerialGC",
              // Who has warmed up is compiled, however busy the machine.
              "-XX:-BackgroundCompilation",
              "-Xmx4g",
              "-XX:MaxDirectMemorySize=64g",
              "-Djava.awt.headless=true",
              "-Dstdout.encoding=UTF-8",
              "-Dstderr.encoding=UTF-8",
              "-Dminifloat.peers=" + peers.toAbsolutePath(),
              "-Dminifloat.models=" + models.toAbsolutePath(),
              "-cp",
              bench.resolve("*") + File.pathSeparator + peers.resolve("java").resolve("*"),
              MAIN,
              "cpu"));
      if (quick) {
        command.add("--quick");
      }
      if (!subjects.isEmpty()) {
        command.addAll(List.of("--only", String.join(",", subjects)));
      }
      if (threads != null) {
        command.addAll(List.of("--threads", threads.toString()));
      }
      if (!widths.isEmpty()) {
        command.add("--vector-bits");
        command.add(String.join(",", widths.stream().map(String::valueOf).toList()));
      }
      files().forEach((option, file) -> command.addAll(List.of(option, file.toString())));
      return command;
    }

    private static int run(List<String> command) {
      ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
      builder.environment().keySet().removeIf(Cpu::steers);
      Process process;
      try {
        process = builder.start();
      } catch (IOException e) {
        throw new CommandFailure("can't start " + command.getFirst() + ": " + Paths.reason(e), e);
      }
      // A signal may reach this process only.
      try (AtExit _ = AtExit.run(process::destroy)) {
        return process.waitFor();
      } catch (InterruptedException e) {
        process.destroy();
        Thread.currentThread().interrupt();
        throw new CommandFailure("interrupted", e);
      }
    }

    /** Whether a variable of the environment is kept from the process. */
    static boolean steers(String variable) {
      return STEERING.stream().anyMatch(variable::startsWith);
    }
  }
}
