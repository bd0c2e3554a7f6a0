package dev.minifloat.bench;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;

/** The table that a quick run prints while it goes. */
final class TextTable {
  private TextTable() {}

  /** What a line is about. */
  static String title(Workload workload) {
    return "%s %s %s, %d thread%s"
        .formatted(
            workload.subject(),
            workload.format(),
            workload.size(),
            workload.threads(),
            workload.threads() == 1 ? "" : "s");
  }

  /** Prints the limits. */
  static void limits(PrintStream out, Limits limits) {
    out.printf(
        Locale.ROOT,
        "%-24s %10s %10s %10s %10s %10s %10s%n",
        "limits",
        "FMA",
        "L1",
        "L2",
        "L3",
        "DRAM read",
        "DRAM copy");
    rates(out, 1, limits.one());
    if (limits.threads() > 1) {
      rates(out, limits.threads(), limits.all());
    }
    out.printf(
        "FMA in GFLOP/s of FP32, the others in GB/s; DRAM in %d MiB, a copy counts both ways.%n%n",
        limits.dramBytes() >> 20);
  }

  private static void rates(PrintStream out, int threads, Limits.Rates rates) {
    out.printf(
        Locale.ROOT,
        "%-24s %10s %10s %10s %10s %10s %10s%n",
        threads == 1 ? "1 thread" : threads + " threads",
        Unit.text(rates.fma()),
        Unit.text(rates.l1()),
        Unit.text(rates.l2()),
        rates.l3() == 0 ? "-" : Unit.text(rates.l3()),
        Unit.text(rates.dramRead()),
        Unit.text(rates.dramCopy()));
  }

  /** Prints one workload: our figure, the part of the limit, the peers, the bars. */
  static void row(PrintStream out, Workload workload, Measurements measured, Limits limits) {
    RunReport.Row row = RunReport.row(workload, measured, limits);
    StringBuilder line = new StringBuilder();
    line.append(
        String.format(
            Locale.ROOT,
            "%-10s %-23s %-14s %dT %8s %-8s %13s",
            workload.subject(),
            workload.format(),
            workload.size(),
            workload.threads(),
            row.isMeasured() ? row.oursText() : "-",
            workload.unit().symbol(),
            row.partOfLimit().isEmpty()
                ? ""
                : row.partOfLimit() + " of " + Unit.text(row.limit())));
    row.peers()
        .keySet()
        .forEach(peer -> line.append("  | ").append(peer).append(' ').append(row.peerText(peer)));
    out.println(line);
    for (Bar bar : Bar.of(workload)) {
      out.println("             " + bar.verdict(workload, measured, limits).text());
    }
  }

  /** Prints what must be reached, failures and warnings. */
  static void summary(PrintStream out, RunReport report) {
    out.println();
    for (Bar.Verdict verdict : report.verdicts()) {
      out.printf("%-46s %s%n", title(verdict.workload()), verdict.text());
    }
    List<Bar.Verdict> verdicts = report.verdicts();
    long reached = verdicts.stream().filter(Bar.Verdict::reached).count();
    long missing = verdicts.stream().filter(verdict -> verdict.ratio().isEmpty()).count();
    out.printf(
        "%d of %d reached%s%n%n",
        reached, verdicts.size() - missing, missing == 0 ? "" : ", " + missing + " not measured");
    out.println("The better of what was measured at the start and at the end:");
    limits(out, report.limits());
    report.failures().forEach(failure -> out.println("FAILED: " + failure));
    report.warnings().forEach(warning -> out.println("WARNING: " + warning));
    out.println("Duration: " + report.facts().get(Machine.DURATION));
  }
}
