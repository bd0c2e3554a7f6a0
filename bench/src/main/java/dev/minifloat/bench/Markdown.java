package dev.minifloat.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The table of a README: what it ran on, then what must be reached, then a line a workload. */
final class Markdown {
  private Markdown() {}

  static String of(RunReport report) {
    StringBuilder text = new StringBuilder();
    text.append(
        report.facts().entrySet().stream()
            .map(
                fact ->
                    fact.getKey()
                        + ": "
                        + (fact.getKey().equals(Machine.COMMAND)
                            ? "`" + fact.getValue() + "`"
                            : fact.getValue()))
            .collect(Collectors.joining("; ", "", ".\n")));
    report.warnings().forEach(warning -> text.append("\n**").append(warning).append("**\n"));
    text.append("\n").append(limits(report.limits()));
    text.append("\nPeers: ")
        .append(
            report.peers().entrySet().stream()
                .filter(peer -> !peer.getKey().equals(Ours.NAME))
                .map(peer -> peer.getKey() + " (" + peer.getValue() + ")")
                .collect(Collectors.joining(", ")));
    if (!report.absent().isEmpty()) {
      text.append("; absent: ")
          .append(
              report.absent().stream()
                  .map(absent -> absent.name())
                  .collect(Collectors.joining(", ")));
    }
    text.append(".\n\n").append(bars(report)).append('\n').append(results(report));
    return text.toString();
  }

  private static String line(List<String> cells) {
    return cells.stream().collect(Collectors.joining(" | ", "| ", " |\n"));
  }

  private static String limits(Limits limits) {
    StringBuilder text = new StringBuilder();
    text.append(
        line(
            List.of(
                "limits", "FP32 FMA, GFLOP/s", "L1, GB/s", "L2", "L3", "DRAM read", "DRAM copy")));
    text.append("|---|---:|---:|---:|---:|---:|---:|\n");
    text.append(rates("1 thread", limits.one()));
    if (limits.threads() > 1) {
      text.append(rates(limits.threads() + " threads", limits.all()));
    }
    return text.toString();
  }

  private static String rates(String title, Limits.Rates rates) {
    return line(
        List.of(
            title,
            Unit.text(rates.fma()),
            Unit.text(rates.l1()),
            Unit.text(rates.l2()),
            rates.l3() == 0 ? "" : Unit.text(rates.l3()),
            Unit.text(rates.dramRead()),
            Unit.text(rates.dramCopy())));
  }

  private static String bars(RunReport report) {
    StringBuilder text = new StringBuilder();
    text.append(line(List.of("subject", "format", "size", "threads", "at least", "measured")));
    text.append("|---|---|---|---:|---|---:|\n");
    for (Bar.Verdict verdict : report.verdicts()) {
      Workload workload = verdict.workload();
      text.append(
          line(
              List.of(
                  workload.subject(),
                  workload.format(),
                  workload.size(),
                  Integer.toString(workload.threads()),
                  verdict.wanted(),
                  verdict.reached() ? verdict.measured() : "**" + verdict.measured() + "**")));
    }
    return text.toString();
  }

  /** A table for each subject; peers are columns, so that figures stand below each other. */
  private static String results(RunReport report) {
    StringBuilder text = new StringBuilder();
    Map<String, List<RunReport.Row>> subjects = new LinkedHashMap<>();
    for (RunReport.Row row : report.rows()) {
      subjects
          .computeIfAbsent(
              row.workload().subject() + ", " + row.workload().unit().symbol(),
              _ -> new ArrayList<>())
          .add(row);
    }
    subjects.forEach((subject, rows) -> text.append(table(subject, rows)).append('\n'));
    return text.toString();
  }

  private static String table(String subject, List<RunReport.Row> rows) {
    List<String> peers =
        rows.stream().flatMap(row -> row.peers().keySet().stream()).distinct().toList();
    List<String> titles = new ArrayList<>(List.of(subject, "size", "threads", Ours.NAME, "limit"));
    titles.addAll(peers);
    StringBuilder text = new StringBuilder(line(titles));
    text.append("|---|---|---:|").append("---:|".repeat(2 + peers.size())).append('\n');
    for (RunReport.Row row : rows) {
      List<String> cells = new ArrayList<>();
      cells.add(row.workload().format());
      cells.add(row.workload().size());
      cells.add(Integer.toString(row.workload().threads()));
      cells.add(row.oursText());
      cells.add(row.partOfLimit());
      for (String peer : peers) {
        Double figure = row.peers().get(peer);
        cells.add(figure == null ? "" : Unit.text(figure));
      }
      text.append(line(cells));
    }
    return text.toString();
  }
}
