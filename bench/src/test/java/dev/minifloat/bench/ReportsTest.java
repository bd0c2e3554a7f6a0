package dev.minifloat.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.bench.report.HtmlReport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ReportsTest {
  @TempDir Path folder;

  @Test
  void jsonIsAListOfFigures() throws IOException {
    Path file = folder.resolve("bench.json");
    JsonFile.write(Samples.report(), file);
    JsonNode list = new JsonMapper().readTree(Files.readString(file));
    assertTrue(list.isArray());
    assertEquals(
        Plan.quick(2).stream().mapToInt(group -> group.workloads().size()).sum(), list.size());
    JsonNode first = list.get(0);
    assertEquals(
        List.of("subject", "format", "size", "threads", "ours", "peers", "limit", "unit"),
        List.copyOf(first.propertyNames()));
    assertEquals("dot", first.get("subject").stringValue());
    assertEquals(1, first.get("threads").intValue());
    assertEquals(30, first.get("ours").doubleValue());
    assertEquals(24, first.get("peers").get("ggml").doubleValue());
    assertEquals("GFLOP/s", first.get("unit").stringValue());
  }

  @Test
  void aRowShowsThePeersThatItsBarsReferTo() {
    Workload.Gemm bf16 = new Workload.Gemm(Format.BF16, 1024, 1024, 1024, 1);
    Measurements measured = new Measurements();
    measured.add(bf16, Ours.NAME, 0.01);
    measured.add(bf16.of(Format.F32), "oneDNN", 0.02);
    measured.add(bf16.of(Format.MXFP4), "ggml", 0.04);
    RunReport.Row row = RunReport.row(bf16, measured, Samples.LIMITS);
    assertEquals(2, row.ratio("oneDNN F32"), 1e-12);
    assertEquals(4, row.ratio("ggml MXFP4"), 1e-12);
  }

  @Test
  void aRowWithoutAFigureOfOursShowsNoRatio() {
    Workload.Gemm mxfp4 = new Workload.Gemm(Format.MXFP4, 2048, 2048, 2048, 1);
    Measurements measured = new Measurements();
    measured.add(mxfp4, "ggml", 0.04);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    TextTable.row(
        new PrintStream(out, true, StandardCharsets.UTF_8), mxfp4, measured, Samples.LIMITS);
    String text = out.toString(StandardCharsets.UTF_8);
    assertFalse(text.contains("NaN") || text.contains("%"), text);
    assertTrue(text.contains("ggml 429"), text);
  }

  @Test
  void markdownTablesAreWellFormed() {
    List<String> lines = Markdown.of(Samples.report()).lines().toList();
    int columns = 0;
    for (String line : lines) {
      if (!line.startsWith("|")) {
        columns = 0;
        continue;
      }
      int found = line.split("\\|", -1).length;
      assertTrue(columns == 0 || columns == found, line);
      columns = found;
    }
    assertTrue(lines.getFirst().contains("`./minifloat bench cpu --quick`"), lines.getFirst());
    assertTrue(lines.contains("**this run looks throttled: sample**"));
  }

  @Test
  void thePageStandsAlone() throws IOException {
    Path file = folder.resolve("bench.html");
    HtmlReport.write(Samples.report(), file);
    String page = Files.readString(file);
    assertTrue(page.contains("Sample &lt;CPU&gt;"));
    assertTrue(page.contains("this run looks throttled: sample"));
    assertTrue(page.contains("absent: it isn&#39;t there") || page.contains("it isn't there"));
    assertTrue(page.split("<svg", -1).length > 20, "charts are missing");
    assertFalse(page.contains("<script"), "no script");
    assertFalse(page.contains("src=\"http"), "nothing from the network");
  }

  @Test
  void theSummaryCountsWhatIsReached() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    TextTable.summary(new PrintStream(out, true, StandardCharsets.UTF_8), Samples.report());
    String text = out.toString(StandardCharsets.UTF_8);
    assertTrue(text.contains(" reached"), text);
    assertTrue(text.contains("WARNING: this run looks throttled"), text);
  }
}
