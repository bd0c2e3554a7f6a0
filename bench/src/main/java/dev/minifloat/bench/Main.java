package dev.minifloat.bench;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * The benchmarks' own program, which {@code minifloat bench} starts in a process of its own.
 *
 * <p>Exit codes: 0 good, 1 failed, 2 wrong usage.
 */
@Command(
    name = "minifloat bench",
    description = "Measure the backends.",
    mixinStandardHelpOptions = true,
    subcommands = CpuCommand.class)
public final class Main {
  private Main() {}

  /** Runs a command line and exits with its code. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Main()).execute(args));
  }
}
