package dev.minifloat.bench.report;

import dev.minifloat.DType;
import dev.minifloat.Rounding;
import dev.minifloat.bench.Bar;
import dev.minifloat.bench.Limits;
import dev.minifloat.bench.RunReport;
import dev.minifloat.bench.Unit;
import dev.minifloat.bench.Workload;
import dev.minifloat.cli.report.HtmlPage;
import dev.minifloat.cli.report.SvgCanvas;
import java.awt.AWTError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.xml.parsers.ParserConfigurationException;
import org.jfree.chart.JFreeChart;

/** Writes what a run found out as one page that needs nothing else. */
public final class HtmlReport {
  private static final int SKINNY = 16;

  private final RunReport report;
  private final StringBuilder html = new StringBuilder();
  private int charts;

  private HtmlReport(RunReport report) {
    this.report = report;
  }

  /** Writes the page; where this machine can't draw, without pictures, and says so. */
  public static void write(RunReport report, Path file) throws IOException {
    Files.writeString(file, new HtmlReport(report).page());
  }

  private String page() {
    Map<String, String> facts = report.facts();
    text("p", "lead", facts.getOrDefault("Processor", "") + ", JDK " + facts.get("JDK"));
    for (String warning : report.warnings()) {
      text("p", "missing", warning);
    }
    for (String failure : report.failures()) {
      text("p", "missing", "Failed: " + failure);
    }
    bars();
    if (Roofline.has(report)) {
      roofline();
    }
    charts();
    limits();
    results();
    facts();
    return HtmlPage.of("Minifloat on the CPU", html.toString());
  }

  private void roofline() {
    heading("Roofline");
    draw(
        Roofline.chart(report),
        "Speed against operations a byte",
        Roofline.WIDTH,
        Roofline.HEIGHT,
        "Each point is a product on one thread: its speed above the operations for each byte of its"
            + " operands. Lines are what this machine allowed in this run. A point above a slope has"
            + " its operands in a faster memory.");
  }

  private void text(String element, String style, String text) {
    html.append(
        "<%s class=\"%s\">%s</%s>\n".formatted(element, style, HtmlPage.escaped(text), element));
  }

  private void heading(String text) {
    html.append("<h2>").append(HtmlPage.escaped(text)).append("</h2>\n");
  }

  private void draw(JFreeChart chart, String label, int width, int height, String caption) {
    charts++;
    try {
      html.append("<figure>\n")
          .append(SvgCanvas.draw(chart, "chart" + charts, label, width, height))
          .append("\n<figcaption>")
          .append(HtmlPage.escaped(caption))
          .append("</figcaption>\n</figure>\n");
    } catch (IOException
        | ParserConfigurationException
        | RuntimeException
        | LinkageError
        | InternalError
        | AWTError e) {
      // Without fontconfig or a font, AWT fails in any of these ways.
      text("p", "missing", "There is no picture: drawing needs fonts that AWT can use: " + e);
    }
  }

  private void table(List<String> titles, List<List<String>> rows, int textColumns) {
    html.append("<div class=\"wide\"><table>\n<thead>").append(cells("th", titles, textColumns));
    html.append("</thead>\n<tbody>\n");
    rows.forEach(row -> html.append(cells("td", row, textColumns)));
    html.append("</tbody></table></div>\n");
  }

  private static String cells(String element, List<String> cells, int textColumns) {
    StringBuilder row = new StringBuilder("<tr>");
    for (int i = 0; i < cells.size(); i++) {
      row.append(
          "<%s%s>%s</%s>"
              .formatted(
                  element,
                  i < textColumns ? "" : " class=\"number\"",
                  HtmlPage.escaped(cells.get(i)),
                  element));
    }
    return row.append("</tr>\n").toString();
  }

  private static List<String> title(Workload workload) {
    return List.of(
        workload.subject(),
        workload.format(),
        workload.size(),
        Integer.toString(workload.threads()));
  }

  private void bars() {
    List<Bar.Verdict> verdicts = report.verdicts();
    if (verdicts.isEmpty()) {
      return;
    }
    long reached = verdicts.stream().filter(Bar.Verdict::reached).count();
    heading("What must be reached: " + reached + " of " + verdicts.size());
    List<List<String>> rows = new ArrayList<>();
    for (Bar.Verdict verdict : verdicts) {
      List<String> row = new ArrayList<>(title(verdict.workload()));
      row.add(verdict.wanted());
      row.add(verdict.reached() ? "yes" : verdict.ratio().isEmpty() ? "" : "NO");
      row.add(verdict.measured());
      rows.add(row);
    }
    table(
        List.of("subject", "format", "size", "threads", "at least", "reached", "measured"),
        rows,
        6);
  }

  private void limits() {
    heading("Limits of the machine, measured in the same run");
    Limits limits = report.limits();
    List<List<String>> rows = new ArrayList<>();
    rows.add(rates("1 thread", limits.one()));
    if (limits.threads() > 1) {
      rows.add(rates(limits.threads() + " threads", limits.all()));
    }
    table(
        List.of(
            "",
            "FP32 FMA, GFLOP/s",
            "L1, GB/s",
            "L2, GB/s",
            "L3, GB/s",
            "DRAM read, GB/s",
            "DRAM copy, GB/s"),
        rows,
        1);
    text(
        "p",
        "note",
        "DRAM was read from and copied in %d MiB; a copy counts bytes read and bytes written."
            .formatted(limits.dramBytes() >> 20));
  }

  private static List<String> rates(String title, Limits.Rates rates) {
    return List.of(
        title,
        Unit.text(rates.fma()),
        Unit.text(rates.l1()),
        Unit.text(rates.l2()),
        rates.l3() == 0 ? "" : Unit.text(rates.l3()),
        Unit.text(rates.dramRead()),
        Unit.text(rates.dramCopy()));
  }

  /** What stands in one chart: rows of one subject, unit and number of threads. */
  private record Panel(String title, String unit) {
    static Panel of(Workload workload) {
      String threads = workload.threads() == 1 ? "1 thread" : workload.threads() + " threads";
      String which =
          switch (workload) {
            case Workload.Dot w -> "n = " + w.n();
            case Workload.Gemv w -> w.fromMemory() ? "weights in memory" : w.size() + ", cached";
            case Workload.Gemm w -> isSkinny(w) ? w.format() : w.size();
            case Workload.Quantize w -> w.size();
            case Workload.Dequantize w -> w.size();
            case Workload.Convert w -> direction(w) + ", " + w.size() + " elements";
            case Workload.Norm w -> w.size();
            case Workload.Encode w -> w.size() + " tokens";
            case Workload.FfmCall _ -> "less is better";
          };
      return new Panel(
          workload.subject() + ", " + which + ", " + threads, workload.unit().symbol());
    }

    static String category(Workload workload) {
      return switch (workload) {
        case Workload.Gemm w when isSkinny(w) -> w.size();
        case Workload.Convert w when w.to() == DType.F32 -> w.from().name();
        case Workload.Convert w -> w.to().name();
        case Workload.Dot _,
            Workload.Gemv _,
            Workload.Gemm _,
            Workload.Quantize _,
            Workload.Dequantize _,
            Workload.Norm _,
            Workload.Encode _,
            Workload.FfmCall _ ->
            workload.format();
      };
    }

    private static String direction(Workload.Convert w) {
      if (w.to() == DType.F32) {
        return "to F32";
      }
      return w.rounding() instanceof Rounding.Stochastic ? "from F32, stochastic" : "from F32";
    }

    private static boolean isSkinny(Workload.Gemm w) {
      return w.m() <= SKINNY;
    }
  }

  private void charts() {
    List<String> order = report.contestants();
    Map<Panel, List<BarChart.Category>> panels = new LinkedHashMap<>();
    for (RunReport.Row row : report.rows()) {
      Workload workload = row.workload();
      Map<String, Double> figures = new LinkedHashMap<>();
      report
          .measured()
          .of(workload)
          .forEach((name, seconds) -> figures.put(name, workload.figure(seconds)));
      panels
          .computeIfAbsent(Panel.of(workload), _ -> new ArrayList<>())
          .add(new BarChart.Category(Panel.category(workload), figures, row.limit()));
    }
    panels.forEach(
        (panel, categories) -> {
          heading(panel.title);
          draw(
              BarChart.chart(categories, order, panel.unit),
              panel.title,
              BarChart.WIDTH,
              BarChart.HEIGHT,
              BarChart.showsLimit(categories) ? "Dashed: the limit of the machine." : "");
        });
  }

  private void results() {
    heading("All figures");
    List<List<String>> rows = new ArrayList<>();
    for (RunReport.Row row : report.rows()) {
      List<String> cells = new ArrayList<>(title(row.workload()));
      cells.add(
          row.peers().keySet().stream()
              .map(peer -> peer + " " + row.peerText(peer))
              .collect(Collectors.joining(", ")));
      cells.add(row.oursText());
      cells.add(row.workload().unit().symbol());
      cells.add(row.partOfLimit());
      rows.add(cells);
    }
    table(
        List.of(
            "subject",
            "format",
            "size",
            "threads",
            "peers (ours as a multiple)",
            "ours",
            "unit",
            "of the limit"),
        rows,
        5);
  }

  private void facts() {
    heading("How it was made");
    List<List<String>> rows = new ArrayList<>();
    report.facts().forEach((name, value) -> rows.add(List.of(name, value)));
    report.peers().forEach((name, variant) -> rows.add(List.of(name, variant)));
    report.absent().forEach(a -> rows.add(List.of(a.name(), "absent: " + a.reason())));
    table(List.of("", ""), rows, 2);
  }
}
