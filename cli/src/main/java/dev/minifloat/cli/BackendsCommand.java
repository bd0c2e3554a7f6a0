package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.BackendInfo;
import dev.minifloat.Backends;
import dev.minifloat.formats.Printable;
import dev.minifloat.spi.Availability;
import dev.minifloat.spi.SupportTable;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Lists the backends. */
@Command(
    name = "backends",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = {
      "List the backends, best first: usable or why not, and what to do about it.",
      "With --support, print which operations of a backend take which formats and scalings."
    })
final class BackendsCommand extends BaseCommand {
  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Option(
      names = "--support",
      arity = "0..1",
      fallbackValue = "",
      paramLabel = "NAME",
      description = "Print the support table, in Markdown, of a backend (default: the best one).")
  String support;

  @Override
  public Integer call() {
    if (support != null) {
      if (json) {
        throw usage("--support prints Markdown, so it goes without --json");
      }
      try (Backend backend = openBackend("--support", support.isEmpty() ? null : support)) {
        out().print(SupportTable.markdown(backend));
      }
      return 0;
    }
    List<Backends.Report> reports = Backends.report();
    String used = used(reports);
    if (json) {
      Table table =
          usable().text("default", "default").text("why", "why not").text("remedy", "what to do");
      reports.forEach(report -> addRow(table, report, extra(report, used)));
      Json.print(out(), table.maps());
    } else {
      Table table = usable();
      reports.forEach(report -> addRow(table, report));
      table.print(out());
      explain(reports, used);
    }
    return 0;
  }

  private static Table usable() {
    return new Table()
        .text("name", "backend")
        .text("usable", "usable")
        .text("device", "device")
        .number("vectorBits", "vector bits", "%d")
        .number("threads", "threads", "%d")
        .text("description", "description");
  }

  /** The name of the backend that is used where none is named; null if none can be. */
  private static String used(List<Backends.Report> reports) {
    return reports.stream()
        .filter(report -> report.priority() >= 0)
        .filter(report -> report.availability() instanceof Availability.Available)
        .map(Backends.Report::name)
        .findFirst()
        .orElse(null);
  }

  /** What JSON has in its last columns: default, why not, and what to do. */
  private static Object[] extra(Backends.Report report, String used) {
    boolean isUsed = report.name().equals(used);
    return switch (report.availability()) {
      case Availability.Available _ -> new Object[] {isUsed, null, null};
      case Availability.Unavailable(List<Availability.Reason> reasons) ->
          new Object[] {
            isUsed,
            joined(reasons.stream().map(Availability.Reason::what).toList()),
            joined(reasons.stream().map(Availability.Reason::remedy).toList())
          };
    };
  }

  private static void addRow(Table table, Backends.Report report, Object... extra) {
    String name = report.name();
    Object[] cells =
        switch (report.availability()) {
          case Availability.Available _ -> {
            try (Backend backend = Backends.open(name)) {
              BackendInfo info = backend.info();
              Integer bits = info.vectorBits() == 0 ? null : info.vectorBits();
              yield new Object[] {
                name, true, info.device(), bits, info.threads(), report.description()
              };
            }
          }
          case Availability.Unavailable _ ->
              new Object[] {name, false, null, null, null, report.description()};
        };
    table.row(Stream.of(cells, extra).flatMap(Arrays::stream).toArray());
  }

  /** Says below the table why a backend can't run and what to do, and which is used. */
  private void explain(List<Backends.Report> reports, String used) {
    for (Backends.Report report : reports) {
      if (report.availability() instanceof Availability.Unavailable(var reasons)) {
        out().println();
        out().println("Backend " + report.name() + " can't run here:");
        for (Availability.Reason reason : reasons) {
          out().println("  why:  " + Printable.of(reason.what()));
          out().println("  help: " + Printable.of(reason.remedy()));
        }
      }
    }
    out().println();
    out()
        .println(
            used == null
                ? "No backend can run here."
                : "Backend " + used + " is used where --backend names no other.");
    reports.stream()
        .filter(report -> report.priority() < 0)
        .filter(report -> report.availability() instanceof Availability.Available)
        .forEach(
            report ->
                out()
                    .println(
                        "Backend %s is used only if it is named: minifloat demo --backend %s"
                            .formatted(report.name(), report.name())));
  }

  private static String joined(List<String> texts) {
    return texts.stream().distinct().collect(Collectors.joining("; "));
  }
}
