package dev.minifloat.cli;

import dev.minifloat.Backend;
import dev.minifloat.BackendInfo;
import dev.minifloat.Backends;
import dev.minifloat.spi.Availability;
import dev.minifloat.spi.SupportTable;
import java.util.List;
import java.util.stream.Collectors;
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
    Table table =
        new Table()
            .text("name", "backend")
            .text("usable", "usable")
            .text("device", "device")
            .number("vectorBits", "vector bits", "%d")
            .number("threads", "threads", "%d")
            .text("description", "description")
            .text("why", "why not")
            .text("remedy", "what to do");
    for (Backends.Report report : Backends.report()) {
      addRow(table, report);
    }
    if (json) {
      Json.print(out(), table.maps());
    } else {
      table.print(out());
    }
    return 0;
  }

  private static void addRow(Table table, Backends.Report report) {
    String name = report.name();
    switch (report.availability()) {
      case Availability.Available _ -> {
        try (Backend backend = Backends.open(name)) {
          BackendInfo info = backend.info();
          Integer bits = info.vectorBits() == 0 ? null : info.vectorBits();
          table.row(
              name, true, info.device(), bits, info.threads(), report.description(), null, null);
        }
      }
      case Availability.Unavailable(List<Availability.Reason> reasons) ->
          table.row(
              name,
              false,
              null,
              null,
              null,
              report.description(),
              joined(reasons.stream().map(Availability.Reason::what).toList()),
              joined(reasons.stream().map(Availability.Reason::remedy).toList()));
    }
  }

  private static String joined(List<String> texts) {
    return texts.stream().distinct().collect(Collectors.joining("; "));
  }
}
