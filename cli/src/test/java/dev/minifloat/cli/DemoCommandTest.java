package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.BackendInfo;
import dev.minifloat.cli.report.AwtFonts;
import dev.minifloat.cli.report.ChartRenderer;
import dev.minifloat.cli.report.JFreeCharts;
import dev.minifloat.encoder.KnownModel;
import dev.minifloat.encoder.WeightFormat;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class DemoCommandTest {
  private static final String MODELS =
      Path.of("..", "encoder", "target", "models").toAbsolutePath().toString();

  /** Those with a cosine that the project answers for. */
  private static final List<WeightFormat> PROMISED =
      List.of(WeightFormat.F32, WeightFormat.F16, WeightFormat.BF16, WeightFormat.F8_ROWS);

  @TempDir Path folder;

  /** Runs the demo on the vector backend with as little repetition as can be. */
  private String demo(ChartRenderer renderer, List<WeightFormat> formats, String... more) {
    CommandLine line = new CommandLine(new DemoCommand(renderer, formats, Demo.Effort.LEAST));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(err));
    String[] args = {"--backend", "vector", "--models", MODELS, "--report", report().toString()};
    int code =
        line.execute(
            Stream.concat(List.of(args).stream(), List.of(more).stream()).toArray(String[]::new));
    assertEquals(0, code, err.toString());
    assertEquals("", err.toString());
    return out.toString();
  }

  private Path report() {
    return folder.resolve("report.html");
  }

  @Test
  void printsARowForEachFormatAndWritesTheReport() throws IOException {
    String out = demo(new JFreeCharts(), WeightFormat.all());
    for (WeightFormat format : WeightFormat.all()) {
      assertTrue(out.contains(format.name() + " "), out);
    }
    assertTrue(out.contains("of ONNX Runtime in every component"), out);
    assertTrue(out.contains("Each format was timed once on vector"), out);
    assertTrue(out.contains(report().toString()), out);
    assertTrue(out.contains("Minifloat: " + Main.Version.number()), out);
    String html = Files.readString(report());
    assertEquals(AwtFonts.areUsable(), html.contains("<svg"));
    assertTrue(html.contains(Main.Version.number()));
    assertTrue(html.contains("Don't forget to water the tomatoes!"));
  }

  @Test
  void jsonHoldsTheFiguresThatAreAskedOfEachFormat() {
    JsonNode json = new JsonMapper().readTree(demo(new JFreeCharts(), PROMISED, "--json"));
    assertEquals("minilm", json.get("model").asString());
    assertEquals(12, json.get("sentences").asInt());
    assertEquals(AwtFonts.areUsable(), json.get("noPicture").isNull());
    JsonNode backend = json.get("backends").get(0);
    assertEquals("vector", backend.get("backend").asString());
    assertTrue(backend.get("differenceFromOnnxRuntime").asDouble() < 1e-4);
    JsonNode formats = backend.get("formats");
    assertEquals(PROMISED.size(), formats.size());
    assertCosine(formats.get(0), "F32", 1);
    assertCosine(formats.get(1), "F16", 0.9999);
    assertCosine(formats.get(2), "BF16", 0.999);
    assertCosine(formats.get(3), "F8_E4M3 rows", 0.99);
    for (JsonNode format : formats) {
      assertTrue(format.get("tokensPerSecond").asDouble() > 0);
      assertTrue(format.get("worstPairChange").asDouble() < 0.5);
    }
    // 6 layers of 4 × 384 × 384 + 2 × 384 × 1536 elements.
    assertEquals(42_467_328, formats.get(0).get("linearBytes").asLong());
    assertEquals(21_233_664, formats.get(1).get("linearBytes").asLong());
  }

  private static void assertCosine(JsonNode format, String name, double least) {
    assertEquals(name, format.get("format").asString());
    double cosine = format.get("minCosine").asDouble();
    assertTrue(cosine >= least - 1e-12, name + ": " + cosine);
  }

  @Test
  void withoutFontsTheTableIsPrintedAllTheSame() throws IOException {
    String out =
        demo(
            _ -> {
              throw new ChartRenderer.ChartException("no fonts", null);
            },
            List.of(WeightFormat.F32, WeightFormat.NVFP4));
    assertTrue(out.contains("NVFP4"), out);
    assertTrue(out.contains("There is no picture in it: no fonts"), out);
    assertFalse(Files.readString(report()).contains("<svg"));
  }

  @Test
  void anUnknownModelIsWrongUsage() {
    Cli result = Cli.run("demo", "--model", "gpt");
    assertEquals(2, result.code());
    assertTrue(result.err().contains("bge-small"), result.err());
  }

  @Test
  void anUnknownBackendIsWrongUsage() {
    Cli result = Cli.run("demo", "--backend", "abacus", "--models", MODELS);
    assertEquals(2, result.code());
    assertTrue(result.err().contains("reference"), result.err());
  }

  @Test
  void aMissingModelSaysHowToFetchIt() {
    Cli result = Cli.run("demo", "--models", folder.toString());
    assertEquals(1, result.code());
    assertTrue(result.err().contains("mvn dependency:copy"), result.err());
  }

  @Test
  void helpNamesTheOptions() {
    Cli result = Cli.run("demo", "--help");
    assertEquals(0, result.code());
    for (String option : List.of("--backend", "--model", "--report", "--json")) {
      assertTrue(result.out().contains(option), result.out());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"missing/report.html", ".", "file/report.html"})
  void aReportThatCantBeWrittenFailsBeforeAnyWork(String name) throws IOException {
    Files.createFile(folder.resolve("file"));
    Path target = folder.resolve(name);

    // There are no models either: that would be the next complaint.
    Cli result = Cli.run("demo", "--models", folder.toString(), "--report", target.toString());

    assertEquals(1, result.code());
    assertEquals(1, result.err().lines().count(), result.err());
    assertTrue(
        result.err().contains(" is a directory") || result.err().contains("there is no directory"),
        result.err());
  }

  @ParameterizedTest
  @ValueSource(strings = {"--json=false", "--json"})
  void whatTheReportLosesIsPrintedAllTheSame(String json) throws IOException {
    Path target = report();
    ChartRenderer saboteur =
        _ -> {
          try {
            // A folder that is not empty takes the report's place while it is drawn.
            Files.createFile(Files.createDirectory(target).resolve("file"));
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
          return List.of();
        };
    CommandLine line =
        new CommandLine(new DemoCommand(saboteur, List.of(WeightFormat.F32), Demo.Effort.LEAST));
    StringWriter out = new StringWriter();
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(new StringWriter()));

    int code = line.execute("--models", MODELS, "--report", target.toString(), json);

    assertEquals(1, code);
    assertTrue(out.toString().contains("F32"), out.toString());
    assertFalse(out.toString().contains(target.toString()), out.toString());
  }

  @Test
  void aSentenceOnASimulatedGpuIsThatOfTheCpu() {
    JsonNode json =
        Cli.run("demo", "--models", MODELS, "--backend", "cuda-sim:sm_89", "--json").json();

    assertTrue(json.get("agrees").asBoolean(), json.toString());
    assertEquals(7, json.get("tokens").asInt());
    // As in the other test, but an F32 scale for each of the outputs beside.
    assertEquals(42_467_328 / 4 + 6 * 4 * (5 * 384 + 1536), json.get("linearBytes").asLong());
    JsonNode cpu = json.get("backends").get(0);
    JsonNode gpu = json.get("backends").get(1);
    assertEquals("vector", cpu.get("backend").asString());
    assertEquals("cuda-sim:sm_89", gpu.get("backend").asString());
    assertCosineOfVectors(cpu.get("vector"), gpu.get("vector"));
  }

  /** Computed here anew: the same to what sums in another order change. */
  private static void assertCosineOfVectors(JsonNode expected, JsonNode actual) {
    assertEquals(384, expected.size());
    assertEquals(384, actual.size());
    double dot = 0;
    double squares = 0;
    for (int i = 0; i < expected.size(); i++) {
      dot += expected.get(i).asDouble() * actual.get(i).asDouble();
      squares += Math.pow(expected.get(i).asDouble(), 2);
      assertEquals(expected.get(i).asDouble(), actual.get(i).asDouble(), 1e-4);
    }
    assertEquals(1, squares, 1e-6);
    assertEquals(1, dot, 1e-6);
  }

  @Test
  void aSentenceIsComparedAndPrinted() {
    Cli result =
        Cli.run(
            "demo",
            "--models",
            MODELS,
            "--backend=vector",
            "--sentence",
            "Rain.",
            "--model=minilm");

    assertEquals(0, result.code(), result.err());
    assertTrue(result.out().contains("sentence: \"Rain.\", 4 tokens"), result.out());
    assertTrue(result.out().contains("quantized on reference for both"), result.out());
    assertTrue(result.out().contains("The cosine of the two is "), result.out());
  }

  @Test
  void vectorsAgreeUpToTheOrderOfSums() {
    float[] ones = {1, 0, 0, 0};
    float[] off = {1, 2e-4f, 0, 0};

    assertTrue(compared(ones, ones).agrees());
    assertFalse(compared(ones, off).agrees());
    assertFalse(compared(ones, new float[] {1, Float.NaN, 0, 0}).agrees());
    assertFalse(compared(ones, new float[] {Float.NaN, 0, 0, 0}).agrees());
    assertEquals(2e-4, compared(ones, off).largestDifference(), 1e-9);
  }

  private static SentenceDemo.Result compared(float[] cpu, float[] other) {
    return new SentenceDemo.Result(KnownModel.named("minilm"), "", 0, 0, run(cpu), run(other));
  }

  private static SentenceDemo.Run run(float[] vector) {
    return new SentenceDemo.Run("abacus", new BackendInfo("beads", 0, 1), 0, 0, vector);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--backend=all", "--report=r.html"})
  void whatASentenceHasNoUseForIsWrongUsage(String option) {
    Cli result = Cli.run("demo", "--models", MODELS, "--sentence", "Rain.", option);

    assertEquals(2, result.code());
    assertTrue(result.err().contains(option.substring(0, option.indexOf('='))), result.err());
  }

  @Test
  void anUnknownModelIsBlamedOnItsOption() {
    Cli result = Cli.run("demo", "--model", "gpt");
    assertTrue(result.err().startsWith("minifloat demo: --model: no model"), result.err());
  }
}
