package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.kernels.KernelCatalog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The file that {@code minifloat verify --report} writes. */
class VerifyReportTest {
  @TempDir Path directory;

  private static JsonNode read(Path file) throws IOException {
    return new JsonMapper().readTree(Files.readString(file));
  }

  @Test
  void aSimulatedDeviceTellsItsDriverItsAttributesAndWhichKernelsRan() throws IOException {
    Path file = directory.resolve("sim.json");
    Cli result =
        Cli.run(
            "verify",
            "--backend=cuda-sim:sm_89",
            "--only=^transfer/F16 copy$|^gemm/.*F8_E4M3 × F8_E4M3.*",
            "--report=" + file);
    JsonNode json = read(file);

    assertEquals(0, result.code(), result.err());
    assertTrue(result.err().contains("Wrote " + file), result.err());
    assertEquals(VerifyReport.FORMAT, json.get("format").asString());
    assertTrue(json.get("ok").asBoolean());
    assertTrue(json.get("endedBy").isNull());
    assertEquals(
        KernelCatalog.sha256(), json.get("minifloat").get("kernelCatalogSha256").asString());
    assertEquals(
        System.getProperty("java.runtime.version"),
        json.get("java").get("java.runtime.version").asString());
    assertEquals(1, json.get("tested").size());
    JsonNode cuda = json.get("tested").get(0).get("cuda");
    assertEquals(89, cuda.get("capability").asInt());
    assertEquals(128, cuda.get("attributes").get("MULTIPROCESSOR_COUNT").asInt());
    assertTrue(cuda.get("driverVersion").asInt() >= 11000, cuda.toString());
    assertTrue(cuda.get("attributes").has("L2_CACHE_SIZE"), cuda.toString());
    assertTrue(json.get("checks").size() > 0, json.toString());
    for (JsonNode check : json.get("checks")) {
      assertTrue(check.get("ok").asBoolean(), check.toString());
      assertTrue(check.get("seconds").asDouble() > 0, check.toString());
    }
  }

  @Test
  void theCpuHasNoPartForCuda() throws IOException {
    Path file = directory.resolve("cpu.json");
    Cli result =
        Cli.run("verify", "--backend=reference", "--only=^transfer/", "--report", file.toString());
    JsonNode json = read(file);

    assertEquals(0, result.code(), result.err());
    assertEquals("reference", json.get("tested").get(0).get("name").asString());
    assertFalse(json.get("tested").get(0).has("cuda"));
    assertTrue(json.get("system").get("memoryMiB").asLong() > 0);
    assertTrue(json.get("command").asString().startsWith("minifloat verify --backend=reference"));
  }

  @Test
  void aDeviceThatCanNotBeOpenedIsReportedToo() throws IOException {
    Path file = directory.resolve("none.json");
    Cli result = Cli.run("verify", "--backend=cuda:999", "--report", file.toString());
    JsonNode json = read(file);

    assertTrue(result.code() != 0, result.out());
    assertFalse(json.get("ok").asBoolean());
    assertTrue(json.get("endedBy").asString().contains("999"), json.toString());
    assertTrue(json.get("endedBy").asString().contains("\tat "), json.toString());
    assertEquals(0, json.get("checks").size());
    assertTrue(json.get("backends").size() > 0);
  }

  @Test
  void whatCanNotBeWrittenIsSaidBeforeAnythingIsChecked() {
    Cli result =
        Cli.run(
            "verify", "--backend=reference", "--report", directory.resolve("no/file").toString());

    assertEquals(1, result.code());
    assertEquals("", result.out());
    assertTrue(result.err().contains("there is no directory "), result.err());
  }

  @Test
  void listHasNothingToReport() {
    Cli result = Cli.run("verify", "--list", "--report", directory.resolve("x").toString());

    assertEquals(2, result.code());
    assertTrue(result.err().contains("--report"), result.err());
  }

  @ParameterizedTest
  @CsvSource({
    "/home/ada/x.jar, ~/x.jar",
    "file:/home/ada, file:~",
    "/home/adalbert/x, /home/adalbert/x",
    "/media/ada/disk, /media/USER/disk",
    "ada is a language, ada is a language",
    "C:\\Users\\ada\\x, C:\\Users\\USER\\x"
  })
  void noTextNamesTheUser(String text, String hidden) {
    Function<String, String> hide = VerifyReport.hiding("/home/ada", "ada");

    assertEquals(hidden, hide.apply(text));
  }

  @Test
  void aHomeThatIsTheRootLeavesPathsAlone() {
    assertEquals("/usr/lib", VerifyReport.hiding("/", "nobody").apply("/usr/lib"));
  }

  @Test
  void theFileIsWithoutWhatIsPrivate() throws IOException {
    Path file = directory.resolve("hidden.json");
    VerifyReport report =
        new VerifyReport("minifloat verify", VerifyReport.hiding("/home/ada", "ada"));
    Outcome outcome =
        Outcome.thrown("x", "check", new IllegalStateException("no /home/ada/libcuda.so"));
    report.write(file, List.of(outcome), new IOException("/media/ada/disk"));

    String text = Files.readString(file);
    assertFalse(text.contains("ada/"), text);
    assertTrue(text.contains("no ~/libcuda.so"), text);
    assertTrue(text.contains("/media/USER/disk"), text);
    assertTrue(text.contains("\\tat "), text);
  }
}
