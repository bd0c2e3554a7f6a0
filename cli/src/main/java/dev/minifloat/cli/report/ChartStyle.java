package dev.minifloat.cli.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Shape;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.text.FieldPosition;
import java.util.List;
import java.util.Locale;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberTickUnit;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYItemRenderer;
import org.jfree.chart.ui.RectangleInsets;
import org.jfree.data.xy.XYDataset;

/** How the charts of all reports look: fonts, colours, axes. */
public final class ChartStyle {
  /** Font of labels. */
  public static final Font TEXT = new Font(Font.SANS_SERIF, Font.PLAIN, 13);

  /** Font of names. */
  public static final Font BOLD = new Font(Font.SANS_SERIF, Font.BOLD, 13);

  /** Colour of text. */
  public static final Color INK = new Color(0x222222);

  /** Colour of axes. */
  public static final Color QUIET = new Color(0x666666);

  private static final Color GRID = new Color(0xDDDDDD);

  /** Told apart by people who don't see all colours, too: after Okabe and Ito. */
  private static final List<Color> COLOURS =
      List.of(
          new Color(0x0072B2),
          new Color(0x56B4E9),
          new Color(0xE69F00),
          new Color(0xD55E00),
          new Color(0x8C564B),
          new Color(0x009E73),
          new Color(0x7F3C8D),
          new Color(0xCC79A7),
          new Color(0x999999),
          new Color(0xA89A00),
          new Color(0x333333));

  private ChartStyle() {}

  /** A logarithmic axis with a tick for each power of ten. */
  public static LogAxis decades(String label) {
    LogAxis axis = axis(new LogAxis(label));
    axis.setTickUnit(new NumberTickUnit(1));
    axis.setNumberFormatOverride(new PowersOfTen());
    axis.setMinorTickMarksVisible(false);
    return axis;
  }

  /** An axis in the style. */
  public static <A extends ValueAxis> A axis(A axis) {
    axis.setLabelFont(TEXT);
    axis.setLabelPaint(INK);
    axis.setTickLabelFont(TEXT);
    axis.setTickLabelPaint(QUIET);
    axis.setAxisLinePaint(QUIET);
    axis.setTickMarkPaint(QUIET);
    return axis;
  }

  /** A plot on white, with pale grid lines. */
  public static XYPlot plot(
      XYDataset data, ValueAxis domain, ValueAxis range, XYItemRenderer renderer) {
    XYPlot plot = new XYPlot(data, domain, range, renderer);
    plot.setBackgroundPaint(Color.WHITE);
    plot.setOutlineVisible(false);
    plot.setDomainGridlinePaint(GRID);
    plot.setRangeGridlinePaint(GRID);
    plot.setDomainGridlineStroke(new BasicStroke(1));
    plot.setRangeGridlineStroke(new BasicStroke(1));
    plot.setAxisOffset(RectangleInsets.ZERO_INSETS);
    return plot;
  }

  /** A chart without a title or a legend. */
  public static JFreeChart chart(XYPlot plot) {
    JFreeChart chart = new JFreeChart(null, BOLD, plot, false);
    chart.setBackgroundPaint(Color.WHITE);
    chart.setPadding(new RectangleInsets(6, 6, 6, 12));
    return chart;
  }

  /** The colour of the series with an index; they repeat after eleven. */
  public static Color colour(int index) {
    return COLOURS.get(index % COLOURS.size());
  }

  /** The shape of points of the series with an index; they repeat after four. */
  public static Shape shape(int index) {
    return switch (index % 4) {
      case 0 -> new Ellipse2D.Double(-6, -6, 12, 12);
      case 1 -> new Rectangle2D.Double(-5.5, -5.5, 11, 11);
      case 2 -> polygon(0, -7, 7, 6, -7, 6);
      default -> polygon(0, -7, 7, 0, 0, 7, -7, 0);
    };
  }

  private static Shape polygon(double... corners) {
    Path2D path = new Path2D.Double();
    path.moveTo(corners[0], corners[1]);
    for (int i = 2; i < corners.length; i += 2) {
      path.lineTo(corners[i], corners[i + 1]);
    }
    path.closePath();
    return path;
  }

  /** Shows 0.001 as 10⁻³. */
  private static final class PowersOfTen extends DecimalFormat {
    private static final long serialVersionUID = 1L;
    private static final String DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

    PowersOfTen() {
      super("0", DecimalFormatSymbols.getInstance(Locale.ROOT));
    }

    @Override
    public StringBuffer format(double number, StringBuffer result, FieldPosition position) {
      long power = Math.round(Math.log10(number));
      if (power == 0) {
        return result.append('1');
      }
      result.append("10");
      String.valueOf(power)
          .chars()
          .forEach(c -> result.append(c == '-' ? '⁻' : DIGITS.charAt(c - '0')));
      return result;
    }
  }
}
