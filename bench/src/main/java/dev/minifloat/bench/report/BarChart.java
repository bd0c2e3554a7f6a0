package dev.minifloat.bench.report;

import dev.minifloat.bench.Unit;
import dev.minifloat.cli.report.ChartStyle;
import java.awt.BasicStroke;
import java.awt.Font;
import java.awt.geom.Rectangle2D;
import java.text.FieldPosition;
import java.text.NumberFormat;
import java.text.ParsePosition;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.LegendItem;
import org.jfree.chart.LegendItemCollection;
import org.jfree.chart.annotations.XYLineAnnotation;
import org.jfree.chart.annotations.XYTextAnnotation;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.NumberTickUnit;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.StandardXYBarPainter;
import org.jfree.chart.renderer.xy.XYBarRenderer;
import org.jfree.chart.title.LegendTitle;
import org.jfree.chart.ui.RectangleEdge;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.xy.XYIntervalSeries;
import org.jfree.data.xy.XYIntervalSeriesCollection;

/**
 * Bars of several contestants side by side, for each of several workloads. Who didn't take part in
 * one leaves no gap there.
 */
final class BarChart {
  static final int WIDTH = 860;
  static final int HEIGHT = 300;

  /** The part of a workload's width that its bars take, and the most that one bar takes. */
  private static final double FILLED = 0.8;

  private static final double WIDEST = 0.2;

  /** A limit higher than this times the highest bar isn't drawn: bars would have no height. */
  private static final double LIMIT_SHOWN = 2.5;

  private static final Font SMALL = ChartStyle.TEXT.deriveFont(11f);

  /**
   * What stands over one name.
   *
   * @param name the name
   * @param figures the bars by contestant, in order
   * @param limit the limit, or 0 for none
   */
  record Category(String name, Map<String, Double> figures, double limit) {}

  private BarChart() {}

  /**
   * A chart.
   *
   * @param order all contestants of the report: a contestant's colour is its place
   */
  static JFreeChart chart(List<Category> categories, List<String> order, String unit) {
    double top = top(categories);
    XYIntervalSeriesCollection data = new XYIntervalSeriesCollection();
    for (String contestant : order) {
      data.addSeries(new XYIntervalSeries(contestant));
    }
    NumberAxis names = ChartStyle.axis(new NumberAxis());
    names.setRange(-0.5, Math.max(categories.size(), 2) - 0.5);
    names.setTickUnit(new NumberTickUnit(1, new Names(categories)));
    names.setTickMarksVisible(false);
    NumberAxis figures = ChartStyle.axis(new NumberAxis(unit));
    figures.setRange(0, top * 1.18);
    XYBarRenderer renderer = new XYBarRenderer();
    renderer.setBarPainter(new StandardXYBarPainter());
    renderer.setShadowVisible(false);
    for (int i = 0; i < order.size(); i++) {
      renderer.setSeriesPaint(i, ChartStyle.colour(i));
    }
    XYPlot plot = ChartStyle.plot(data, names, figures, renderer);
    plot.setDomainGridlinesVisible(false);
    for (int i = 0; i < categories.size(); i++) {
      bars(plot, data, categories.get(i), i, order, top);
    }
    plot.setFixedLegendItems(legend(categories, order));
    JFreeChart chart = ChartStyle.chart(plot);
    LegendTitle legend = new LegendTitle(plot);
    legend.setItemFont(ChartStyle.TEXT);
    legend.setItemPaint(ChartStyle.INK);
    legend.setPosition(RectangleEdge.TOP);
    chart.addSubtitle(legend);
    return chart;
  }

  private static double highest(List<Category> categories) {
    return categories.stream()
        .flatMap(category -> category.figures.values().stream())
        .mapToDouble(x -> x)
        .max()
        .orElse(1);
  }

  /** The highest bar, or a limit not far above it. */
  private static double top(List<Category> categories) {
    double highest = highest(categories);
    return categories.stream()
        .mapToDouble(Category::limit)
        .filter(limit -> limit < LIMIT_SHOWN * highest)
        .map(limit -> Math.max(limit, highest))
        .max()
        .orElse(highest);
  }

  /** Whether the limit of a category is drawn. */
  static boolean showsLimit(List<Category> categories) {
    double top = top(categories);
    return categories.stream().anyMatch(category -> category.limit > 0 && category.limit <= top);
  }

  private static void bars(
      XYPlot plot,
      XYIntervalSeriesCollection data,
      Category category,
      int at,
      List<String> order,
      double top) {
    List<String> present = new ArrayList<>(order);
    present.retainAll(category.figures.keySet());
    double width = Math.min(WIDEST, FILLED / Math.max(1, present.size()));
    double left = at - width * present.size() / 2;
    for (int i = 0; i < present.size(); i++) {
      double figure = category.figures.get(present.get(i));
      double from = left + i * width;
      double middle = from + width / 2;
      data.getSeries(order.indexOf(present.get(i)))
          .add(middle, from + width * 0.06, from + width * 0.94, figure, 0, figure);
      XYTextAnnotation label =
          new XYTextAnnotation(Unit.text(figure), middle, figure + top * 0.015);
      label.setFont(SMALL);
      label.setPaint(ChartStyle.INK);
      label.setTextAnchor(TextAnchor.CENTER_LEFT);
      label.setRotationAnchor(TextAnchor.CENTER_LEFT);
      label.setRotationAngle(-Math.PI / 2);
      plot.addAnnotation(label);
    }
    if (category.limit > 0 && category.limit <= top) {
      plot.addAnnotation(
          new XYLineAnnotation(
              left - 0.04,
              category.limit,
              left + width * present.size() + 0.04,
              category.limit,
              new BasicStroke(
                  1.5f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER, 1, new float[] {5, 3}, 0),
              ChartStyle.INK));
    }
  }

  private static LegendItemCollection legend(List<Category> categories, List<String> order) {
    LegendItemCollection items = new LegendItemCollection();
    for (int i = 0; i < order.size(); i++) {
      String contestant = order.get(i);
      if (categories.stream().anyMatch(c -> c.figures.containsKey(contestant))) {
        items.add(
            new LegendItem(
                contestant,
                null,
                null,
                null,
                new Rectangle2D.Double(-6, -6, 12, 12),
                ChartStyle.colour(i)));
      }
    }
    return items;
  }

  /** Shows the name of a category for its index. */
  private static final class Names extends NumberFormat {
    private static final long serialVersionUID = 1L;

    private final String[] names;

    Names(List<Category> categories) {
      names = categories.stream().map(Category::name).toArray(String[]::new);
    }

    @Override
    public StringBuffer format(double index, StringBuffer to, FieldPosition position) {
      long at = Math.round(index);
      return at >= 0 && at < names.length ? to.append(names[(int) at]) : to;
    }

    @Override
    public StringBuffer format(long index, StringBuffer to, FieldPosition position) {
      return format((double) index, to, position);
    }

    @Override
    public Number parse(String text, ParsePosition position) {
      throw new UnsupportedOperationException("only shown");
    }
  }
}
