package dev.minifloat.bench;

import dev.minifloat.bench.report.HtmlReport;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures the CPU backend beside its peers. */
@Command(
    name = "cpu",
    mixinStandardHelpOptions = true,
    description = "Measure the CPU backend beside its peers and the machine's limits.")
final class CpuCommand implements Callable<Integer> {
  /**
   * Seconds after which a quick run takes fewer rounds, so that it ends within four minutes of a
   * machine that does nothing else.
   */
  private static final double BUDGET = 180;

  /** Seconds after which it starts nothing new: a group takes up to 15, the limits as many. */
  private static final double LAST_START = 212;

  @Spec CommandSpec spec;

  @Option(names = "--quick", description = "Interleaved rounds, about four minutes.")
  boolean quick;

  @Option(names = "--only", split = ",", paramLabel = "SUBJECT", description = "Only these.")
  List<String> subjects = List.of();

  @Option(names = "--threads", paramLabel = "N", description = "The most threads.")
  int threads = Runtime.getRuntime().availableProcessors();

  @Option(
      names = "--vector-bits",
      split = ",",
      paramLabel = "N",
      description = "Measure ours at these widths too; not with --quick.")
  List<Integer> widths = List.of();

  @Option(names = "--json", paramLabel = "FILE", description = "Write the figures as JSON.")
  Path json;

  @Option(names = "--report", paramLabel = "FILE", description = "Write a report as HTML.")
  Path report;

  @Option(names = "--markdown", paramLabel = "FILE", description = "Write tables as Markdown.")
  Path markdown;

  /** Made by picocli. */
  CpuCommand() {}

  @Override
  public Integer call() throws IOException {
    if (threads < 1) {
      throw new ParameterException(
          spec.commandLine(), "--threads: " + threads + " is not a positive number");
    }
    if (quick && !widths.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "--vector-bits goes without --quick: each width takes a JVM");
    }
    List<Plan.Group> groups = chosen(Plan.quick(threads));
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    try (Contestants contestants = Contestants.gather()) {
      Map<String, String> facts = Machine.facts(command(), contestants.all().getFirst().variant());
      facts.forEach((name, value) -> out.println(name + ": " + value));
      contestants.variants().forEach((name, variant) -> out.println(name + ": " + variant));
      contestants
          .absent()
          .forEach(absent -> out.println(absent.name() + " is absent: " + absent.reason()));
      out.println();
      RunReport result =
          quick
              ? new QuickRun(contestants, threads, BUDGET, LAST_START, out).run(groups, facts)
              : new LongRun(contestants, threads, widths, out).run(groups, facts);
      TextTable.summary(out, result);
      write(result);
      return result.failures().isEmpty() ? 0 : 1;
    }
  }

  private List<Plan.Group> chosen(List<Plan.Group> groups) {
    if (subjects.isEmpty()) {
      return groups;
    }
    Set<String> known =
        groups.stream()
            .flatMap(group -> group.workloads().stream())
            .map(Workload::subject)
            .collect(Collectors.toSet());
    for (String subject : subjects) {
      if (!known.contains(subject)) {
        throw new ParameterException(
            spec.commandLine(),
            "--only: there is no subject \""
                + subject
                + "\"; there are "
                + known.stream().sorted().collect(Collectors.joining(", ")));
      }
    }
    return groups.stream()
        .map(group -> group.only(subjects))
        .filter(group -> !group.workloads().isEmpty())
        .toList();
  }

  /** What does it again. */
  private String command() {
    StringBuilder command = new StringBuilder("./minifloat bench cpu");
    if (quick) {
      command.append(" --quick");
    }
    if (!subjects.isEmpty()) {
      command.append(" --only ").append(String.join(",", subjects));
    }
    if (threads != Runtime.getRuntime().availableProcessors()) {
      command.append(" --threads ").append(threads);
    }
    if (!widths.isEmpty()) {
      command
          .append(" --vector-bits ")
          .append(widths.stream().map(String::valueOf).collect(Collectors.joining(",")));
    }
    return command.toString();
  }

  private void write(RunReport result) throws IOException {
    if (json != null) {
      JsonFile.write(result, json);
    }
    if (markdown != null) {
      Files.writeString(markdown, Markdown.of(result));
    }
    if (report != null) {
      HtmlReport.write(result, report);
    }
  }
}
