package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.Backends;
import dev.minifloat.cli.convert.Pipeline;
import dev.minifloat.contract.Check;
import dev.minifloat.contract.Contract;
import dev.minifloat.contract.ConversionEngine;
import dev.minifloat.contract.ExhaustiveConversions;
import dev.minifloat.contract.GoldenConversion;
import dev.minifloat.contract.GoldenConversions;
import dev.minifloat.contract.GoldenResult;
import dev.minifloat.contract.Size;
import dev.minifloat.contract.Suite;
import dev.minifloat.formats.Paths;
import dev.minifloat.spi.Availability;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Checks the installed program. */
@Command(
    name = "verify",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "Check conversions against recorded numbers, and every usable backend against the contract;"
          + " simulated ones by name only, as cuda-sim:sm_89, which takes many minutes.",
      "The recorded numbers come from the host code of CUDA's headers. Without --exhaustive the"
          + " conversions are checked at every tie of every format and next to it, which takes"
          + " about a minute with the contract; with it, at all 2^32 inputs, on the best backend"
          + " or the one named, and the contract is left out."
    },
    footer = {
      "",
      "Examples:",
      "  minifloat verify",
      "  minifloat verify --backend cuda --report verify.json",
      "  minifloat verify --backend cuda-sim:sm_89 --only '^gemm/'",
      "  minifloat verify --list"
    })
final class VerifyCommand extends BaseCommand {
  /** What the names of conversions begin with, as those of the contract begin with their group. */
  private static final String CONVERSIONS = "conversions/";

  @Option(names = "--exhaustive", description = "Convert all 2^32 inputs 13 times: minutes.")
  boolean exhaustive;

  @Option(
      names = "--backend",
      paramLabel = "NAME",
      description =
          "Check this backend only (default: all that are usable, but no simulated ones).")
  String backendName;

  @Option(
      names = "--only",
      paramLabel = "REGEX",
      description = "Run the checks whose name this finds, and no others: ^gemm, F4_E2M1, e4m3.")
  String only;

  @Option(names = "--list", description = "Print the names of the checks, and run none.")
  boolean list;

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description =
          "Write a file to send to the authors: versions, driver, device, each check with its time"
              + " and its failure in whole (JSON; no names of users).")
  Path report;

  /** Conversions checked together, by a name as the contract's checks have it. */
  private record Task(String name, Callable<List<Outcome>> body) {}

  @Override
  public Integer call() {
    Predicate<String> wanted = wanted();
    if (list) {
      if (json) {
        throw usage("--list prints a name in a line, so it goes without --json");
      }
      if (report != null) {
        throw usage("--list runs no check to report, so it goes without --report");
      }
      names().stream().filter(wanted).forEach(out()::println);
      return 0;
    }
    List<Outcome> outcomes = new ArrayList<>();
    if (report == null) {
      verify(wanted, outcomes, _ -> {});
      return conclude(outcomes);
    }
    OutputFile.requireWritable(report);
    VerifyReport file =
        new VerifyReport(
            "minifloat " + String.join(" ", spec.commandLine().getParseResult().originalArgs()));
    try {
      verify(wanted, outcomes, file::tested);
    } catch (RuntimeException | Error e) {
      // Of a device that can't be opened the report is what is wanted most.
      write(file, outcomes, e);
      throw e;
    }
    write(file, outcomes, null);
    return conclude(outcomes);
  }

  private void write(VerifyReport file, List<Outcome> outcomes, Throwable failure) {
    try {
      file.write(report, outcomes, failure);
    } catch (IOException e) {
      throw new CommandFailure("can't write the report to " + report + ": " + Paths.reason(e), e);
    }
    err()
        .println("Wrote " + report + "; it has no names of users and no paths of the home folder.");
  }

  /**
   * Runs the checks.
   *
   * @param tested takes each backend when it was checked
   */
  private void verify(Predicate<String> wanted, List<Outcome> outcomes, Consumer<Backend> tested) {
    if (exhaustive) {
      try (Backend backend = openBackend(backendName)) {
        verifyAllInputs(backend, wanted, outcomes);
        tested.accept(backend);
      }
    } else {
      for (String name : backends()) {
        try (Backend backend = openBackend(name)) {
          try {
            verifyTies(backend, wanted, outcomes);
            verifyContract(backend, wanted, outcomes);
          } finally {
            tested.accept(backend);
          }
        }
      }
    }
    if (outcomes.isEmpty()) {
      throw usage("--only: \"" + only + "\" finds no check; --list prints their names");
    }
  }

  private int conclude(List<Outcome> outcomes) {
    long failed = outcomes.stream().filter(outcome -> !outcome.ok()).count();
    if (json) {
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("ok", failed == 0);
      map.put("failed", failed);
      map.put("checks", outcomes.stream().map(Outcome::map).toList());
      Json.print(out(), map);
    } else {
      String count = outcomes.size() == 1 ? "1 check" : outcomes.size() + " checks";
      out().println();
      out()
          .println(
              failed == 0
                  ? (outcomes.size() == 1 ? "1 check passed." : "All " + count + " passed.")
                  : failed + " of " + count + " failed:");
      outcomes.stream()
          .filter(outcome -> !outcome.ok())
          .forEach(o -> out().println("  " + o.backend() + ": " + o.name() + ": " + o.failure()));
    }
    return failed == 0 ? 0 : 1;
  }

  private Predicate<String> wanted() {
    if (only == null) {
      return _ -> true;
    }
    try {
      return Pattern.compile(only).asPredicate();
    } catch (PatternSyntaxException e) {
      throw usage("--only: \"" + only + "\" is no regular expression: " + e.getDescription());
    }
  }

  /** The names of all checks, those of several backends once. */
  private Set<String> names() {
    Set<String> names = new LinkedHashSet<>();
    if (exhaustive) {
      for (GoldenConversion conversion : GoldenConversion.values()) {
        names.add(CONVERSIONS + conversion.recordedName());
      }
      return names;
    }
    for (String name : backends()) {
      try (Backend backend = openBackend(name)) {
        conversions(backend).forEach(task -> names.add(task.name));
        Contract.checks(backend).forEach(check -> names.add(check.name()));
      }
    }
    return names;
  }

  private List<String> backends() {
    return backendName != null
        ? List.of(backendName)
        : Backends.report().stream()
            .filter(report -> report.priority() >= 0)
            .filter(report -> report.availability() instanceof Availability.Available)
            .map(Backends.Report::name)
            .toList();
  }

  private void say(String line) {
    if (!json) {
      out().println(line);
      requireReader();
    }
  }

  private void say(Progress progress, String line) {
    if (!json) {
      progress.print(out(), line);
      requireReader();
    }
  }

  /** Nobody waits for minutes of checks behind a pipe that was closed. */
  private void requireReader() {
    if (out().checkError()) {
      throw new CommandFailure("standard output was closed, so this ends");
    }
  }

  private static List<Task> conversions(Backend backend) {
    ConversionEngine engine = ConversionEngine.of(backend);
    List<Task> tasks = new ArrayList<>();
    tasks.add(task(backend, "decode tables", () -> GoldenConversions.decodeTables(engine)));
    tasks.add(task(backend, "F16 and BF16", () -> GoldenConversions.halves(engine)));
    for (GoldenConversion conversion : GoldenConversion.values()) {
      tasks.add(
          task(
              backend,
              conversion.recordedName() + " quick",
              () -> List.of(GoldenConversions.quick(engine, conversion))));
    }
    return tasks;
  }

  private void verifyTies(Backend backend, Predicate<String> wanted, List<Outcome> outcomes) {
    List<Callable<List<Outcome>>> tasks =
        conversions(backend).stream()
            .filter(task -> wanted.test(task.name))
            .map(Task::body)
            .toList();
    if (tasks.isEmpty()) {
      return;
    }
    say("Backend " + backend.name() + ": recorded conversions, at every tie and beside it");
    try (Progress progress = Progress.ofLongRun("conversions", tasks.size(), err());
        Pipeline pipeline = pipeline()) {
      pipeline.run(
          tasks.iterator(),
          results -> {
            results.forEach(outcome -> say(progress, "  " + outcome));
            outcomes.addAll(results);
            progress.step(1);
          });
    }
  }

  /** What a backend throws is a failure like any other: the rest is checked all the same. */
  private static Task task(Backend backend, String name, Supplier<List<GoldenResult>> check) {
    return new Task(
        CONVERSIONS + name,
        () -> {
          long start = System.nanoTime();
          List<Outcome> outcomes;
          try {
            outcomes = check.get().stream().map(result -> outcome(backend, result)).toList();
          } catch (RuntimeException e) {
            outcomes = List.of(Outcome.thrown(backend.name(), name, e));
          }
          double seconds = (System.nanoTime() - start) * 1e-9;
          return outcomes.stream().map(outcome -> outcome.took(seconds)).toList();
        });
  }

  private static Outcome outcome(Backend backend, GoldenResult result) {
    String failure =
        result.ok()
            ? null
            : "hash %016x, expected %016x%s"
                .formatted(
                    result.actual(),
                    result.expected(),
                    result.detail().isEmpty() ? "" : "; " + result.detail());
    return new Outcome(backend.name(), result.name(), failure);
  }

  private static Pipeline pipeline() {
    int threads = Runtime.getRuntime().availableProcessors();
    return new Pipeline(threads, 2 * threads);
  }

  private void verifyContract(Backend backend, Predicate<String> wanted, List<Outcome> outcomes) {
    Suite suite = Contract.suite(backend, Size.QUICK);
    List<Check> checks =
        suite.checks().stream().filter(check -> wanted.test(check.name())).toList();
    if (checks.isEmpty()) {
      return;
    }
    say("Backend " + backend.name() + ": contract, " + checks.size() + " checks");
    List<Outcome> results;
    try (Progress progress = Progress.ofLongRun("contract", checks.size(), err())) {
      results = new ContractRun(backend.name(), line -> say(progress, line), progress).run(checks);
    }
    outcomes.addAll(results);
    long violations = results.stream().filter(outcome -> !outcome.ok()).count();
    String unsupported =
        suite.leftOut() == 0 || only != null
            ? ""
            : "; " + suite.leftOut() + " left out, for what it doesn't support";
    say(
        "Backend %s: contract, %d checks, %d violations%s"
            .formatted(backend.name(), checks.size(), violations, unsupported));
  }

  private void verifyAllInputs(Backend backend, Predicate<String> wanted, List<Outcome> outcomes) {
    List<GoldenConversion> conversions =
        Stream.of(GoldenConversion.values())
            .filter(conversion -> wanted.test(CONVERSIONS + conversion.recordedName()))
            .toList();
    if (conversions.isEmpty()) {
      return;
    }
    say("Backend " + backend.name() + ": recorded conversions of all 2^32 inputs");
    ExhaustiveConversions exhaustive = new ExhaustiveConversions();
    ConversionEngine engine = ConversionEngine.of(backend);
    int total = conversions.size() * ExhaustiveConversions.CHUNKS;
    try (Progress progress = Progress.ofLongRun("all inputs", total, err());
        Pipeline pipeline = pipeline()) {
      for (GoldenConversion conversion : conversions) {
        progress.message(conversion.recordedName());
        long start = System.nanoTime();
        List<Outcome> wrong = new ArrayList<>();
        Stream<Callable<List<Outcome>>> tasks =
            IntStream.range(0, ExhaustiveConversions.CHUNKS)
                .mapToObj(
                    top ->
                        task(
                                backend,
                                "%s %02x".formatted(conversion.recordedName(), top),
                                () -> List.of(exhaustive.chunk(engine, conversion, top)))
                            .body());
        pipeline.run(
            tasks.iterator(),
            results -> {
              results.stream().filter(result -> !result.ok()).forEach(wrong::add);
              progress.step(1);
            });
        Outcome outcome =
            outcome(backend, conversion, wrong).took((System.nanoTime() - start) * 1e-9);
        say(progress, "  " + outcome);
        outcomes.add(outcome);
      }
    }
  }

  private static Outcome outcome(
      Backend backend, GoldenConversion conversion, List<Outcome> wrong) {
    String failure =
        wrong.isEmpty()
            ? null
            : "%d of %d chunks, the first: %s: %s"
                .formatted(
                    wrong.size(),
                    ExhaustiveConversions.CHUNKS,
                    wrong.getFirst().name(),
                    wrong.getFirst().failure());
    String trace = wrong.isEmpty() ? null : wrong.getFirst().trace();
    return new Outcome(backend.name(), conversion.recordedName(), failure, trace, 0);
  }
}
