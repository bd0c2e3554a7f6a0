package dev.minifloat.cli.report;

import dev.minifloat.MinifloatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Writes a report as one HTML file that needs nothing else: no script, no font, no network. */
public final class HtmlReport {
  private HtmlReport() {}

  /**
   * Writes a report.
   *
   * @return why there is no picture in it, if there is none
   * @throws MinifloatException if the file can't be written
   */
  public static Optional<String> write(Report report, ChartRenderer renderer, Path file) {
    StringBuilder charts = new StringBuilder();
    Optional<String> failure = Optional.empty();
    try {
      for (ChartRenderer.Chart chart : renderer.render(report.backends().getFirst())) {
        append(charts, chart, report);
      }
    } catch (ChartRenderer.ChartException e) {
      failure = Optional.of(e.getMessage());
      charts.setLength(0);
      charts
          .append("<h2>Charts</h2>\n<p class=\"missing\">There is no picture: ")
          .append(HtmlPage.escaped(e.getMessage()))
          .append("</p>\n");
    }
    try {
      Files.writeString(file, page(report, charts.toString()));
    } catch (IOException e) {
      throw new MinifloatException("Writing the report " + file + ": " + e, e);
    }
    return failure;
  }

  private static void append(StringBuilder html, ChartRenderer.Chart chart, Report report) {
    String backend =
        report.backends().size() == 1 ? "" : " (" + report.backends().getFirst().name() + ")";
    html.append("<h2>")
        .append(HtmlPage.escaped(chart.title() + backend))
        .append("</h2>\n<figure>\n")
        .append(chart.svg())
        .append("\n<figcaption>")
        .append(HtmlPage.escaped(chart.caption()))
        .append("</figcaption>\n</figure>\n");
  }

  private static String page(Report report, String charts) {
    String title = "Minifloat: " + report.model() + " in fewer bits";
    return HtmlPage.of(
        title,
        """
        <p class="lead">%d sentences, %d tokens, embedded with the weights in each format and \
        compared with F32 weights on the same backend.</p>
        %s%s%s%s"""
            .formatted(
                report.neighbours().size(),
                report.tokens(),
                results(report),
                charts,
                neighbours(report),
                facts(report)));
  }

  private static String results(Report report) {
    boolean several = report.backends().size() > 1;
    StringBuilder html =
        new StringBuilder("<h2>Formats</h2>\n<div class=\"wide\"><table>\n<thead><tr>");
    if (several) {
      html.append("<th>backend</th>");
    }
    html.append("<th>weights</th>");
    for (String heading :
        List.of(
            "linear layers<br>MB",
            "all weights<br>MB",
            "minimum<br>cosine",
            "worst change<br>of a similarity",
            "median change<br>of a component",
            "tokens<br>per second")) {
      html.append("<th class=\"number\">").append(heading).append("</th>");
    }
    html.append("</tr></thead>\n<tbody>\n");
    for (BackendResult backend : report.backends()) {
      for (int i = 0; i < backend.formats().size(); i++) {
        html.append(several && i == 0 ? "<tr class=\"first\">" : "<tr>");
        if (several) {
          html.append("<td>")
              .append(HtmlPage.escaped(i == 0 ? backend.name() : ""))
              .append("</td>");
        }
        row(html, backend.formats().get(i));
        html.append("</tr>\n");
      }
    }
    html.append("</tbody></table></div>\n<p class=\"note\">").append(NOTE).append("</p>\n");
    for (BackendResult backend : report.backends()) {
      html.append("<p class=\"note\">F32 on the backend ")
          .append(HtmlPage.escaped(backend.name()))
          .append(" differs from ONNX Runtime's embeddings by ")
          .append(String.format(Locale.ROOT, "%.1e", backend.differenceFromOnnxRuntime()))
          .append(" at most in any component. ")
          .append(HtmlPage.escaped(backend.timing()))
          .append("</p>\n");
    }
    return html.toString();
  }

  private static final String NOTE =
      "Linear layers: the matrices of query, key, value, attention output and feed-forward, with"
          + " their scales. All weights: those, the word, position and type tables (F16 and BF16 in"
          + " those two rows, F32 in all others), and biases and norms in F32. Activations are F32."
          + " Tokens per second, padding not counted, are of the machine as it was: an indication,"
          + " not a benchmark.";

  private static void row(StringBuilder html, FormatResult result) {
    html.append("<th>").append(HtmlPage.escaped(result.format().name())).append("</th>");
    for (String cell :
        List.of(
            String.format(Locale.ROOT, "%.2f", result.bytes().linear() / 1e6),
            String.format(Locale.ROOT, "%.2f", result.bytes().total() / 1e6),
            String.format(Locale.ROOT, "%.7f", result.fidelity().minCosine()),
            String.format(Locale.ROOT, "%.6f", result.fidelity().worstPairChange()),
            result.errors().median() == 0
                ? "0"
                : String.format(Locale.ROOT, "%.1e", result.errors().median()),
            String.format(Locale.ROOT, "%.0f", result.tokensPerSecond()))) {
      html.append("<td class=\"number\">").append(cell).append("</td>");
    }
  }

  private static String neighbours(Report report) {
    StringBuilder html =
        new StringBuilder(
            "<h2>The sentences</h2>\n<p class=\"note\">Each with the one that the F32 weights find"
                + " most alike.</p>\n<div class=\"wide\"><table>\n<thead><tr><th>sentence</th>"
                + "<th>nearest</th><th class=\"number\">cosine</th></tr></thead>\n<tbody>\n");
    for (Report.Neighbour neighbour : report.neighbours()) {
      html.append("<tr><td>")
          .append(HtmlPage.escaped(neighbour.sentence()))
          .append("</td><td>")
          .append(HtmlPage.escaped(neighbour.nearest()))
          .append("</td><td class=\"number\">")
          .append(String.format(Locale.ROOT, "%.3f", neighbour.cosine()))
          .append("</td></tr>\n");
    }
    return html.append("</tbody></table></div>\n").toString();
  }

  private static String facts(Report report) {
    StringBuilder html = new StringBuilder("<h2>How it was made</h2>\n<table>\n<tbody>\n");
    report
        .facts()
        .forEach(
            (name, value) ->
                html.append("<tr><th>")
                    .append(HtmlPage.escaped(name))
                    .append("</th><td>")
                    .append(HtmlPage.escaped(value))
                    .append("</td></tr>\n"));
    return html.append("<tr><th>command</th><td><code>")
        .append(HtmlPage.escaped(report.command()))
        .append("</code></td></tr>\n</tbody></table>\n")
        .toString();
  }
}
