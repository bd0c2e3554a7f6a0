package dev.minifloat.bench.report;

import dev.minifloat.bench.Format;
import dev.minifloat.bench.Limits;
import dev.minifloat.bench.RunReport;
import dev.minifloat.bench.Workload;
import dev.minifloat.cli.report.ChartStyle;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Shape;
import java.awt.geom.Rectangle2D;
import java.util.List;
import java.util.Optional;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.LegendItem;
import org.jfree.chart.LegendItemCollection;
import org.jfree.chart.annotations.XYLineAnnotation;
import org.jfree.chart.annotations.XYTextAnnotation;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.title.LegendTitle;
import org.jfree.chart.ui.RectangleEdge;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;

/** What products reach beneath the machine's roof: speed against operations a byte. */
final class Roofline {
  static final int WIDTH = 860;
  static final int HEIGHT = 520;

  private static final double LEFT = 0.1;
  private static final double RIGHT = 1000;
  private static final List<String> SUBJECTS = List.of("dot", "gemv", "gemm");

  private Roofline() {}

  private static Optional<Format> format(Workload workload) {
    return switch (workload) {
      case Workload.Dot w -> Optional.of(w.type());
      case Workload.Gemv w -> Optional.of(w.weights());
      case Workload.Gemm w -> Optional.of(w.type());
      case Workload.Quantize _,
          Workload.Dequantize _,
          Workload.Convert _,
          Workload.Norm _,
          Workload.Encode _,
          Workload.FfmCall _ ->
          Optional.empty();
    };
  }

  /** Whether a product was measured on one thread. */
  static boolean has(RunReport report) {
    return report.rows().stream()
        .anyMatch(row -> row.workload().threads() == 1 && format(row.workload()).isPresent());
  }

  private static Color colour(Format format) {
    return ChartStyle.colour(List.of(Format.values()).indexOf(format));
  }

  private static double operations(Workload workload) {
    return workload instanceof Workload.Gemv w ? 2.0 * w.rows() * w.k() : workload.work();
  }

  /** The products that one thread computes. */
  static JFreeChart chart(RunReport report) {
    XYSeriesCollection points = new XYSeriesCollection();
    XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer(false, true);
    double least = report.limits().one().fma() / 100;
    for (Format format : Format.values()) {
      for (String subject : SUBJECTS) {
        XYSeries series = new XYSeries(subject + " " + format);
        for (RunReport.Row row : report.rows()) {
          Workload workload = row.workload();
          if (workload.threads() == 1
              && workload.subject().equals(subject)
              && format(workload).equals(Optional.of(format))
              && row.ours() > 0) {
            double intensity = operations(workload) / workload.bytes();
            double speed = row.ours() / workload.work() * operations(workload);
            series.add(Math.min(intensity, RIGHT), speed);
            least = Math.min(least, speed);
          }
        }
        if (!series.isEmpty()) {
          int index = points.getSeriesCount();
          points.addSeries(series);
          renderer.setSeriesPaint(index, colour(format));
          renderer.setSeriesShape(index, ChartStyle.shape(SUBJECTS.indexOf(subject)));
          renderer.setSeriesShapesFilled(index, false);
          renderer.setSeriesOutlineStroke(index, new BasicStroke(2));
        }
      }
    }
    LogAxis intensity = ChartStyle.decades("operations for each byte of the operands");
    intensity.setRange(LEFT, RIGHT);
    LogAxis speed = ChartStyle.decades("GFLOP/s, one thread");
    speed.setRange(Math.pow(10, Math.floor(Math.log10(least))), 2 * report.limits().one().fma());
    XYPlot plot = ChartStyle.plot(points, intensity, speed, renderer);
    plot.setFixedLegendItems(legend());
    Limits.Rates rates = report.limits().one();
    roof(plot, speed, "L1", rates.l1(), rates.fma());
    roof(plot, speed, "L2", rates.l2(), rates.fma());
    roof(plot, speed, "DRAM", rates.dramRead(), rates.fma());
    plot.addAnnotation(
        new XYLineAnnotation(
            rates.fma() / rates.l1(), rates.fma(), RIGHT, rates.fma(), stroke(), ChartStyle.INK));
    label(
        plot,
        "FP32 multiply-adds, %.0f GFLOP/s".formatted(rates.fma()),
        RIGHT * 0.9,
        rates.fma() * 1.08,
        0,
        TextAnchor.BOTTOM_RIGHT);
    JFreeChart chart = ChartStyle.chart(plot);
    LegendTitle legend = new LegendTitle(plot);
    legend.setItemFont(ChartStyle.TEXT);
    legend.setItemPaint(ChartStyle.INK);
    legend.setPosition(RectangleEdge.BOTTOM);
    chart.addSubtitle(legend);
    return chart;
  }

  private static BasicStroke stroke() {
    return new BasicStroke(1.5f);
  }

  /** A slope: the speed that a bandwidth allows, up to the multiply-adds. */
  private static void roof(XYPlot plot, LogAxis speed, String name, double rate, double fma) {
    double from = Math.max(LEFT, speed.getLowerBound() / rate);
    plot.addAnnotation(
        new XYLineAnnotation(from, from * rate, fma / rate, fma, stroke(), ChartStyle.INK));
    // The slope of y = rate · x on the paper.
    double plotWidth = WIDTH - 90;
    double plotHeight = HEIGHT - 110;
    double angle =
        Math.atan2(
            plotHeight / Math.log10(speed.getUpperBound() / speed.getLowerBound()),
            plotWidth / Math.log10(RIGHT / LEFT));
    // Its middle; further left the axis would cut it.
    double at = Math.max(2.5 * LEFT, Math.sqrt(from * (fma / rate)));
    label(
        plot,
        "%s, %.0f GB/s".formatted(name, rate),
        at,
        Math.min(at * rate, fma) * 1.06,
        -angle,
        TextAnchor.BOTTOM_CENTER);
  }

  private static void label(
      XYPlot plot, String text, double x, double y, double angle, TextAnchor anchor) {
    XYTextAnnotation annotation = new XYTextAnnotation(text, x, y);
    annotation.setFont(ChartStyle.TEXT);
    annotation.setPaint(ChartStyle.INK);
    annotation.setTextAnchor(anchor);
    annotation.setRotationAnchor(anchor);
    annotation.setRotationAngle(angle);
    plot.addAnnotation(annotation);
  }

  private static LegendItemCollection legend() {
    LegendItemCollection items = new LegendItemCollection();
    for (Format format : Format.values()) {
      Shape square = new Rectangle2D.Double(-6, -6, 12, 12);
      items.add(new LegendItem(format.name(), null, null, null, square, colour(format)));
    }
    for (String subject : SUBJECTS) {
      items.add(
          new LegendItem(
              subject,
              null,
              null,
              null,
              ChartStyle.shape(SUBJECTS.indexOf(subject)),
              Color.WHITE,
              new BasicStroke(2),
              ChartStyle.INK));
    }
    return items;
  }
}
