package dev.minifloat.cli.report;

import java.awt.AWTError;
import java.awt.BasicStroke;
import java.awt.Color;
import java.text.DecimalFormat;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.annotations.XYAnnotation;
import org.jfree.chart.annotations.XYLineAnnotation;
import org.jfree.chart.annotations.XYTextAnnotation;
import org.jfree.chart.axis.AxisLocation;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.NumberTickUnit;
import org.jfree.chart.plot.CombinedDomainXYPlot;
import org.jfree.chart.plot.ValueMarker;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.StandardXYBarPainter;
import org.jfree.chart.renderer.xy.XYBarRenderer;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.xy.XYIntervalSeries;
import org.jfree.data.xy.XYIntervalSeriesCollection;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;

/** The charts by JFreeChart, which needs fonts but no screen. */
public final class JFreeCharts implements ChartRenderer {
  private static final int WIDTH = 860;
  private static final int SCATTER_HEIGHT = 470;
  private static final int ROW_HEIGHT = 74;
  private static final int AXIS_HEIGHT = 62;

  /** Where a loss of 0 stands on its logarithmic scale, above the lower bound. */
  private static final double LOWEST = 1.6;

  /** Makes the renderer; fonts are looked for when it draws. */
  public JFreeCharts() {}

  @Override
  public List<Chart> render(BackendResult result) throws ChartException {
    // F32 is what the others are measured by.
    List<FormatResult> formats = result.formats().stream().skip(1).toList();
    try {
      return List.of(
          new Chart(
              "Accuracy against size",
              "Each point is a format of the weights. Left is smaller, down is closer to the"
                  + " embeddings of F32 weights, which take "
                  + String.format(Locale.ROOT, "%.1f", megabytes(result.formats().getFirst()))
                  + " MB by the same count. The vertical scale is logarithmic; a format that changes"
                  + " nothing stands at its lower end.",
              SvgCanvas.draw(
                  accuracy(formats), "accuracy", "Accuracy against size", WIDTH, SCATTER_HEIGHT)),
          new Chart(
              "How far components move",
              "For each format, the share of the embeddings' components whose change |x − x(F32)|"
                  + " falls in a fifth of a decade; the dashed line is the median. Embeddings have"
                  + " length 1, so a component is typically about 0.05. The first bar holds all that"
                  + " is smaller, too: some models have components that are 0 for every text.",
              SvgCanvas.draw(
                  histograms(formats),
                  "errors",
                  "Histogram of the components' errors for each format",
                  WIDTH,
                  ROW_HEIGHT * formats.size() + AXIS_HEIGHT)));
    } catch (Exception | LinkageError | InternalError | AWTError e) {
      // Without fontconfig or a font, AWT fails in any of these ways.
      throw new ChartException("drawing needs fonts that AWT can use, and it said: " + e, e);
    }
  }

  private static double megabytes(FormatResult format) {
    return format.bytes().linear() / 1e6;
  }

  private static JFreeChart accuracy(List<FormatResult> formats) {
    double low =
        formats.stream()
            .filter(format -> !isExact(format))
            .mapToDouble(JFreeCharts::loss)
            .min()
            .orElse(1e-3);
    double high = formats.stream().mapToDouble(JFreeCharts::loss).max().orElse(1e-3);
    double bottom = Math.pow(10, Math.floor(Math.log10(low) - 0.15));
    XYSeriesCollection points = new XYSeriesCollection();
    XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer(false, true);
    double right = 0;
    for (int i = 0; i < formats.size(); i++) {
      XYSeries series = new XYSeries(formats.get(i).format().name());
      double x = megabytes(formats.get(i));
      right = Math.max(right, x);
      series.add(x, Math.max(loss(formats.get(i)), bottom * LOWEST));
      points.addSeries(series);
      renderer.setSeriesPaint(i, ChartStyle.colour(i));
      renderer.setSeriesShape(i, ChartStyle.shape(i));
      // Open, so that points in the same place are seen through each other.
      renderer.setSeriesShapesFilled(i, false);
      renderer.setSeriesOutlineStroke(i, new BasicStroke(2));
    }
    NumberAxis size =
        ChartStyle.axis(new NumberAxis("matrices of the linear layers with their scales, MB"));
    size.setRange(0, right * 1.28);
    size.setTickUnit(new NumberTickUnit(right < 30 ? 2 : 5, new DecimalFormat("0")));
    LogAxis loss = ChartStyle.decades("1 − minimum cosine to F32 (lower is better)");
    loss.setRange(bottom, Math.pow(10, Math.ceil(Math.log10(Math.max(high, bottom * 2)) + 0.15)));
    XYPlot plot = ChartStyle.plot(points, size, loss, renderer);
    labels(formats, loss, right).forEach(plot::addAnnotation);
    return ChartStyle.chart(plot);
  }

  /** Whether no component changes: the weights are exact in the format. */
  private static boolean isExact(FormatResult format) {
    return format.errors().largest() == 0;
  }

  /** The angle's size: 1 − cos; no less than what the sums in double can tell from 0. */
  private static double loss(FormatResult format) {
    return Math.max(1 - format.fidelity().minCosine(), 1e-15);
  }

  /** Where a format's name stands: right of its cluster, at a power of ten. */
  private static final class Label {
    private final FormatResult format;
    private final double cluster;
    private final double point;
    private double y;

    Label(FormatResult format, double cluster, double point) {
      this.format = format;
      this.cluster = cluster;
      this.point = point;
      this.y = point;
    }
  }

  /**
   * Names right of the points, each with a line to its own. Points of like size make a cluster,
   * whose names stand in one column, moved apart where they would overlap.
   */
  private static List<XYAnnotation> labels(List<FormatResult> formats, LogAxis axis, double right) {
    List<XYAnnotation> annotations = new ArrayList<>();
    for (Label label : placed(formats, axis, right)) {
      Color colour = ChartStyle.colour(formats.indexOf(label.format)).darker();
      double x = label.cluster + right * 0.05;
      annotations.add(
          new XYLineAnnotation(
              megabytes(label.format),
              Math.pow(10, label.point),
              x - right * 0.005,
              Math.pow(10, label.y),
              new BasicStroke(1),
              colour));
      XYTextAnnotation name =
          new XYTextAnnotation(
              label.format.format().name() + (isExact(label.format) ? ", no change" : ""),
              x,
              Math.pow(10, label.y));
      name.setFont(ChartStyle.BOLD);
      name.setPaint(colour);
      name.setTextAnchor(TextAnchor.CENTER_LEFT);
      annotations.add(name);
    }
    return annotations;
  }

  private static List<Label> placed(List<FormatResult> formats, LogAxis axis, double right) {
    double lineHeight =
        20.0
            / (SCATTER_HEIGHT - AXIS_HEIGHT)
            * Math.log10(axis.getUpperBound() / axis.getLowerBound());
    List<Label> labels = new ArrayList<>();
    formats.stream()
        .sorted(Comparator.comparingDouble(JFreeCharts::loss))
        .forEach(
            format -> {
              double own = megabytes(format);
              double cluster =
                  formats.stream()
                      .mapToDouble(JFreeCharts::megabytes)
                      .filter(other -> Math.abs(other - own) < right * 0.05)
                      .max()
                      .orElse(own);
              double y = Math.log10(Math.max(loss(format), axis.getLowerBound() * LOWEST));
              Label label = new Label(format, cluster, y);
              for (Label other : labels) {
                if (Math.abs(other.cluster - cluster) < right * 0.25) {
                  label.y = Math.max(label.y, other.y + lineHeight);
                }
              }
              labels.add(label);
            });
    // What was moved up is moved back by half: a column stands around its points.
    labels.stream()
        .collect(Collectors.groupingBy(label -> label.cluster))
        .values()
        .forEach(
            column -> {
              double moved =
                  column.stream().mapToDouble(label -> label.y - label.point).average().orElse(0);
              double lowest = Math.log10(axis.getLowerBound() * LOWEST);
              double down = Math.min(moved, Math.max(0, column.getFirst().y - lowest));
              column.forEach(label -> label.y -= down);
            });
    return labels;
  }

  private static JFreeChart histograms(List<FormatResult> formats) {
    LogAxis size = ChartStyle.decades("change of a component, |x − x(F32)|");
    size.setRange(
        Math.pow(10, ErrorHistogram.FIRST_DECADE), Math.pow(10, ErrorHistogram.LAST_DECADE));
    CombinedDomainXYPlot rows = new CombinedDomainXYPlot(size);
    rows.setGap(14);
    rows.setOutlineVisible(false);
    double highest = 0;
    for (FormatResult format : formats) {
      for (int bin = 0; bin < format.errors().counts().size(); bin++) {
        highest = Math.max(highest, format.errors().share(bin));
      }
    }
    for (int i = 0; i < formats.size(); i++) {
      rows.add(histogram(formats.get(i), ChartStyle.colour(i), highest));
    }
    return ChartStyle.chart(rows);
  }

  private static XYPlot histogram(FormatResult format, Color colour, double highest) {
    ErrorHistogram errors = format.errors();
    XYIntervalSeries bars = new XYIntervalSeries(format.format().name());
    for (int bin = 0; bin < errors.counts().size(); bin++) {
      double from = ErrorHistogram.lowerEdge(bin);
      double to = ErrorHistogram.lowerEdge(bin + 1);
      double share = errors.share(bin) * 100;
      bars.add(Math.sqrt(from * to), from, to, share, share, share);
    }
    XYIntervalSeriesCollection data = new XYIntervalSeriesCollection();
    data.addSeries(bars);
    XYBarRenderer renderer = new XYBarRenderer(0.06);
    renderer.setBarPainter(new StandardXYBarPainter());
    renderer.setShadowVisible(false);
    renderer.setSeriesPaint(0, colour);
    NumberAxis share = ChartStyle.axis(new NumberAxis("%"));
    share.setRange(0, Math.ceil(highest * 100 / 10) * 10);
    share.setTickUnit(new NumberTickUnit(share.getUpperBound() / 2, new DecimalFormat("0")));
    share.setLabelAngle(Math.PI / 2);
    XYPlot plot = ChartStyle.plot(data, null, share, renderer);
    plot.setRangeAxisLocation(AxisLocation.BOTTOM_OR_LEFT);
    XYTextAnnotation name =
        new XYTextAnnotation(
            format.format().name() + (isExact(format) ? ": no component changes" : ""),
            Math.pow(10, ErrorHistogram.FIRST_DECADE + 0.12),
            share.getUpperBound() * 0.78);
    name.setFont(ChartStyle.BOLD);
    name.setPaint(ChartStyle.INK);
    name.setTextAnchor(TextAnchor.CENTER_LEFT);
    plot.addAnnotation(name);
    if (errors.median() > 0) {
      ValueMarker median = new ValueMarker(errors.median());
      median.setPaint(ChartStyle.INK);
      median.setStroke(
          new BasicStroke(
              1.2f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER, 1, new float[] {4, 3}, 0));
      plot.addDomainMarker(median);
    }
    return plot;
  }
}
