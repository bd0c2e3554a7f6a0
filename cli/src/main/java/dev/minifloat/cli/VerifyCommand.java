package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.Backends;
import dev.minifloat.cli.convert.Pipeline;
import dev.minifloat.contract.Check;
import dev.minifloat.contract.Contract;
import dev.minifloat.contract.ContractViolation;
import dev.minifloat.contract.ConversionEngine;
import dev.minifloat.contract.ExhaustiveConversions;
import dev.minifloat.contract.GoldenConversion;
import dev.minifloat.contract.GoldenConversions;
import dev.minifloat.contract.GoldenResult;
import dev.minifloat.contract.Size;
import dev.minifloat.contract.Suite;
import dev.minifloat.spi.Availability;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
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
    })
final class VerifyCommand extends BaseCommand {
  @Option(names = "--exhaustive", description = "Convert all 2^32 inputs 13 times: minutes.")
  boolean exhaustive;

  @Option(
      names = "--backend",
      paramLabel = "NAME",
      description =
          "Check this backend only (default: all that are usable, but no simulated ones).")
  String backendName;

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  /** One thing that was checked. */
  private record Outcome(String backend, String name, String failure) {
    boolean ok() {
      return failure == null;
    }

    @Override
    public String toString() {
      return name + ": " + (ok() ? "OK" : "FAILED, " + failure);
    }

    Map<String, Object> map() {
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("backend", backend);
      map.put("check", name);
      map.put("ok", ok());
      map.put("failure", failure);
      return map;
    }
  }

  @Override
  public Integer call() {
    List<Outcome> outcomes = new ArrayList<>();
    if (exhaustive) {
      try (Backend backend = openBackend(backendName)) {
        verifyAllInputs(backend, outcomes);
      }
    } else {
      for (String name : backends()) {
        try (Backend backend = openBackend(name)) {
          verifyTies(backend, outcomes);
          verifyContract(backend, outcomes);
        }
      }
    }
    long failed = outcomes.stream().filter(outcome -> !outcome.ok()).count();
    if (json) {
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("ok", failed == 0);
      map.put("failed", failed);
      map.put("checks", outcomes.stream().map(Outcome::map).toList());
      Json.print(out(), map);
    } else {
      out().println();
      out()
          .println(
              failed == 0
                  ? "All " + outcomes.size() + " checks passed."
                  : failed + " of " + outcomes.size() + " checks failed:");
      outcomes.stream()
          .filter(outcome -> !outcome.ok())
          .forEach(o -> out().println("  " + o.backend + ": " + o.name + ": " + o.failure));
    }
    return failed == 0 ? 0 : 1;
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
    }
  }

  private void verifyTies(Backend backend, List<Outcome> outcomes) {
    say("Backend " + backend.name() + ": recorded conversions, at every tie and beside it");
    ConversionEngine engine = ConversionEngine.of(backend);
    List<Callable<List<Outcome>>> tasks = new ArrayList<>();
    tasks.add(task(backend, "decode tables", () -> GoldenConversions.decodeTables(engine)));
    tasks.add(task(backend, "F16 and BF16", () -> GoldenConversions.halves(engine)));
    for (GoldenConversion conversion : GoldenConversion.values()) {
      tasks.add(
          task(
              backend,
              conversion.recordedName() + " quick",
              () -> List.of(GoldenConversions.quick(engine, conversion))));
    }
    try (Progress progress = Progress.of("conversions", tasks.size(), "");
        Pipeline pipeline = pipeline()) {
      pipeline.run(
          tasks.iterator(),
          results -> {
            results.forEach(outcome -> say("  " + outcome));
            outcomes.addAll(results);
            progress.step(1);
          });
    }
  }

  /** What a backend throws is a failure like any other: the rest is checked all the same. */
  private static Callable<List<Outcome>> task(
      Backend backend, String name, Supplier<List<GoldenResult>> check) {
    return () -> {
      try {
        return check.get().stream().map(result -> outcome(backend, result)).toList();
      } catch (RuntimeException e) {
        return List.of(new Outcome(backend.name(), name, "threw " + e));
      }
    };
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

  private void verifyContract(Backend backend, List<Outcome> outcomes) {
    Suite suite = Contract.suite(backend, Size.QUICK);
    int failures = 0;
    try (Progress progress = Progress.of("contract", suite.checks().size(), "")) {
      for (Check check : suite.checks()) {
        progress.message(check.name());
        String failure = failure(check);
        failures += failure == null ? 0 : 1;
        outcomes.add(new Outcome(backend.name(), check.name(), failure));
        progress.step(1);
      }
    }
    say(
        "Backend %s: contract, %d checks, %d violations%s"
            .formatted(
                backend.name(),
                suite.checks().size(),
                failures,
                suite.leftOut() == 0
                    ? ""
                    : "; " + suite.leftOut() + " left out, for what it doesn't support"));
  }

  private static String failure(Check check) {
    try {
      check.run();
      return null;
    } catch (ContractViolation e) {
      return e.getMessage();
    }
  }

  private void verifyAllInputs(Backend backend, List<Outcome> outcomes) {
    say("Backend " + backend.name() + ": recorded conversions of all 2^32 inputs");
    ExhaustiveConversions exhaustive = new ExhaustiveConversions();
    ConversionEngine engine = ConversionEngine.of(backend);
    int total = GoldenConversion.values().length * ExhaustiveConversions.CHUNKS;
    try (Progress progress = Progress.of("all inputs", total, "");
        Pipeline pipeline = pipeline()) {
      for (GoldenConversion conversion : GoldenConversion.values()) {
        progress.message(conversion.recordedName());
        List<Outcome> wrong = new ArrayList<>();
        Stream<Callable<List<Outcome>>> tasks =
            IntStream.range(0, ExhaustiveConversions.CHUNKS)
                .mapToObj(
                    top ->
                        task(
                            backend,
                            "%s %02x".formatted(conversion.recordedName(), top),
                            () -> List.of(exhaustive.chunk(engine, conversion, top))));
        pipeline.run(
            tasks.iterator(),
            results -> {
              results.stream().filter(result -> !result.ok()).forEach(wrong::add);
              progress.step(1);
            });
        conclude(backend, conversion, wrong, outcomes);
      }
    }
  }

  private void conclude(
      Backend backend, GoldenConversion conversion, List<Outcome> wrong, List<Outcome> outcomes) {
    String failure =
        wrong.isEmpty()
            ? null
            : "%d of %d chunks, the first: %s: %s"
                .formatted(
                    wrong.size(),
                    ExhaustiveConversions.CHUNKS,
                    wrong.getFirst().name,
                    wrong.getFirst().failure);
    Outcome outcome = new Outcome(backend.name(), conversion.recordedName(), failure);
    say("  " + outcome);
    outcomes.add(outcome);
  }
}
