package dev.minifloat.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.MinifloatException;
import dev.minifloat.encoder.WeightFormat;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class HtmlReportTest {
  private static final Pattern ID = Pattern.compile(" id=\"([^\"]*)\"");

  @TempDir Path folder;

  private String written(Report report) throws IOException {
    Path file = folder.resolve("report.html");
    Optional<String> noPicture = HtmlReport.write(report, new JFreeCharts(), file);
    assertEquals(AwtFonts.areUsable(), noPicture.isEmpty(), noPicture::toString);
    return Files.readString(file);
  }

  @Test
  void tableHasARowForEachFormat() throws IOException {
    String html = written(SampleReport.of("vector"));
    for (WeightFormat format : WeightFormat.all()) {
      assertTrue(html.contains("<th>" + format.name() + "</th>"), format.name());
    }
    assertTrue(html.contains("<td class=\"number\">40.00</td>"));
    assertTrue(html.contains("<td class=\"number\">87.12</td>"));
    assertTrue(html.contains("by 3.2e-07 at most"));
    assertTrue(html.contains("timed 5 times on vector"));
    assertTrue(html.contains("<code>./minifloat demo --model minilm</code>"));
    assertFalse(html.contains("<th>backend</th>"));
  }

  @Test
  void severalBackendsShareTheTable() throws IOException {
    String html = written(SampleReport.of("vector", "reference"));
    assertTrue(html.contains("<th>backend</th>"));
    assertTrue(html.contains("<tr class=\"first\"><td>reference</td>"));
    assertEquals(AwtFonts.areUsable(), html.contains("<h2>Accuracy against size (vector)</h2>"));
  }

  @Test
  void textIsEscaped() throws IOException {
    String html = written(SampleReport.of("vector"));
    assertTrue(html.contains("Is 1 &lt; 2?"));
    assertTrue(html.contains("&quot;Yes&quot; &amp; no"));
    assertTrue(html.contains("25 &lt;early access&gt; &amp; more"));
  }

  @Test
  void pageNeedsNothingElse() throws IOException {
    String html = written(SampleReport.of("vector"));
    assertFalse(html.contains("<script"));
    assertFalse(html.contains("<link"));
    assertFalse(html.contains("<img"));
    assertFalse(html.contains("url(http"));
    assertFalse(html.contains("href="));
    assertEquals(AwtFonts.areUsable() ? 2 : 0, html.split("<svg", -1).length - 1);
  }

  @Test
  void chartsAreXmlThatNamesEveryFormatButTheBaseline() throws Exception {
    if (!AwtFonts.areUsable()) {
      ChartRenderer.ChartException e =
          assertThrows(ChartRenderer.ChartException.class, HtmlReportTest::charts);
      assertTrue(e.getMessage().contains("fonts"), e.getMessage());
      return;
    }
    for (ChartRenderer.Chart chart : charts()) {
      Document document =
          DocumentBuilderFactory.newInstance()
              .newDocumentBuilder()
              .parse(new InputSource(new StringReader(chart.svg())));
      assertEquals("svg", document.getDocumentElement().getTagName());
      String text = document.getDocumentElement().getTextContent();
      for (WeightFormat format : WeightFormat.all()) {
        if (!format.equals(WeightFormat.F32)) {
          assertTrue(text.contains(format.name()), chart.title() + ": " + format.name());
        }
      }
    }
  }

  private static List<ChartRenderer.Chart> charts() throws ChartRenderer.ChartException {
    return new JFreeCharts().render(SampleReport.backend("vector"));
  }

  @Test
  void idsOfThePageAreUnique() throws IOException {
    Set<String> ids = new HashSet<>();
    Matcher matcher = ID.matcher(written(SampleReport.of("vector")));
    while (matcher.find()) {
      assertTrue(ids.add(matcher.group(1)), matcher.group(1));
    }
    assertEquals(AwtFonts.areUsable(), !ids.isEmpty());
  }

  @Test
  void withoutAPictureThePageSaysWhy() throws IOException {
    Path file = folder.resolve("plain.html");
    ChartRenderer broken =
        _ -> {
          throw new ChartRenderer.ChartException("no <font> here", null);
        };
    assertEquals(
        Optional.of("no <font> here"), HtmlReport.write(SampleReport.of("vector"), broken, file));
    String html = Files.readString(file);
    assertTrue(html.contains("There is no picture: no &lt;font&gt; here"));
    assertTrue(html.contains("<th>NVFP4</th>"));
    assertFalse(html.contains("<svg"));
  }

  @Test
  void aFileThatCannotBeWrittenIsNamed() {
    Path file = folder.resolve("missing").resolve("report.html");
    MinifloatException e =
        assertThrows(
            MinifloatException.class,
            () -> HtmlReport.write(SampleReport.of("vector"), _ -> List.of(), file));
    assertTrue(e.getMessage().contains(file.toString()), e.getMessage());
  }

  @Test
  void aReportNeedsABackend() {
    assertThrows(IllegalArgumentException.class, SampleReport::of);
  }
}
