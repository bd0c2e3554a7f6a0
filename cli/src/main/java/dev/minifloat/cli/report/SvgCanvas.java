package dev.minifloat.cli.report;

import java.awt.Dimension;
import java.awt.geom.Rectangle2D;
import java.io.IOException;
import java.io.StringWriter;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.batik.svggen.SVGGeneratorContext;
import org.apache.batik.svggen.SVGGraphics2D;
import org.apache.batik.svggen.SVGIDGenerator;
import org.jfree.chart.JFreeChart;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/** Turns a chart into an SVG element that can stand in an HTML page beside others. */
public final class SvgCanvas {
  private static final String NAMESPACE = "http://www.w3.org/2000/svg";

  private SvgCanvas() {}

  /**
   * Draws a chart.
   *
   * @param id letters that no other chart of the page begins its ids with
   */
  public static String draw(JFreeChart chart, String id, String label, int width, int height)
      throws IOException, ParserConfigurationException {
    Document document =
        DocumentBuilderFactory.newDefaultInstance()
            .newDocumentBuilder()
            .getDOMImplementation()
            .createDocument(NAMESPACE, "svg", null);
    SVGGeneratorContext context = SVGGeneratorContext.createDefault(document);
    context.setComment(null);
    context.setIDGenerator(
        new SVGIDGenerator() {
          @Override
          public String generateID(String prefix) {
            return super.generateID(id + "-" + prefix);
          }
        });
    SVGGraphics2D graphics = new SVGGraphics2D(context, false);
    graphics.setSVGCanvasSize(new Dimension(width, height));
    chart.draw(graphics, new Rectangle2D.Double(0, 0, width, height));
    Element root = graphics.getRoot();
    root.setAttribute("viewBox", "0 0 " + width + " " + height);
    root.setAttribute("role", "img");
    root.setAttribute("aria-label", label);
    // The page's width decides; the view box keeps the proportions.
    root.setAttribute("width", "100%");
    root.removeAttribute("height");
    StringWriter svg = new StringWriter();
    graphics.stream(root, svg, false, false);
    return svg.toString()
        .replaceFirst("(?s)^.*?(?=<svg)", "")
        .replace("\"genericDefs\"", "\"" + id + "-genericDefs\"");
  }
}
