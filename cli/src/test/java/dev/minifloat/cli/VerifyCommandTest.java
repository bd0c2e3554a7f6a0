package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.contract.GoldenConversion;
import dev.minifloat.spi.BackendProvider;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class VerifyCommandTest {
  @TempDir Path directory;

  @Test
  void aBackendThatFailsIsFailureAndEveryCheckIsRunAllTheSame() throws Exception {
    Cli result = withBrokenBackend(() -> Cli.run("verify", "--backend=broken"));

    assertEquals(1, result.code(), result.err());
    for (GoldenConversion conversion : GoldenConversion.values()) {
      String failed = conversion.recordedName() + " quick: FAILED, threw ";
      assertTrue(result.out().contains(failed), result.out());
    }
    assertTrue(result.out().contains(BrokenBackendProvider.MESSAGE), result.out());
    assertTrue(result.out().contains(" checks failed:"), result.out());
    assertFalse(result.out().contains("All "), result.out());
  }

  @Test
  void jsonListsWhatFailed() throws Exception {
    Cli result = withBrokenBackend(() -> Cli.run("verify", "--backend=broken", "--json"));

    assertEquals(1, result.code(), result.err());
    JsonNode json = result.json();
    assertFalse(json.get("ok").asBoolean());
    List<JsonNode> failed =
        StreamSupport.stream(json.get("checks").spliterator(), false)
            .filter(check -> !check.get("ok").asBoolean())
            .toList();
    assertEquals(failed.size(), json.get("failed").asInt());
    assertTrue(failed.size() > GoldenConversion.values().length, result.out());
    for (JsonNode check : failed) {
      assertEquals("broken", check.get("backend").asString());
      assertFalse(check.get("failure").asString().isBlank(), check.toString());
    }
  }

  @Test
  void allInputsOfABackendThatFailsAreFailures() throws Exception {
    Cli result = withBrokenBackend(() -> Cli.run("verify", "--exhaustive", "--backend=broken"));

    assertEquals(1, result.code(), result.err());
    for (GoldenConversion conversion : GoldenConversion.values()) {
      String failed = conversion.recordedName() + ": FAILED, 256 of 256 chunks, the first: ";
      assertTrue(result.out().contains(failed), result.out());
    }
  }

  @Test
  void anUnknownBackendIsWrongUsage() {
    Cli result = Cli.run("verify", "--backend=abacus");

    assertEquals(2, result.code());
    assertTrue(result.err().contains("abacus"), result.err());
  }

  @Test
  void onlyRunsWhatItFindsAndListPrintsTheNames() {
    List<String> names = Cli.run("verify", "--backend=reference", "--list").out().lines().toList();
    List<String> found =
        Cli.run("verify", "--backend=reference", "--list", "--only=^transfer/F32 copy$|F16 and")
            .out()
            .lines()
            .toList();
    JsonNode json =
        Cli.run("verify", "--backend=reference", "--only=^transfer/F32 copy$", "--json").json();

    assertEquals(List.of("conversions/F16 and BF16", "transfer/F32 copy"), found);
    assertTrue(names.containsAll(found), names.toString());
    assertEquals(names.stream().distinct().toList(), names);
    assertTrue(names.size() > 100, names.toString());
    assertTrue(json.get("ok").asBoolean(), json.toString());
    assertEquals(1, json.get("checks").size());
    assertEquals("transfer/F32 copy", json.get("checks").get(0).get("check").asString());
  }

  @Test
  void aGroupHasALineWhenItIsDone() {
    Cli result = Cli.run("verify", "--backend=reference", "--only=^transfer/B?F16 copy$");

    assertEquals(0, result.code(), result.err());
    assertTrue(
        Pattern.compile("^  transfer: 2 checks, OK, \\d+\\.\\d s$", Pattern.MULTILINE)
            .matcher(result.out())
            .find(),
        result.out());
    assertTrue(result.out().endsWith("\nAll 2 checks passed.\n"), result.out());
  }

  @Test
  void aViolationIsToldAtOnceAndAgainAtTheEnd() throws Exception {
    Cli result = withBrokenBackend(() -> Cli.run("verify", "--backend=broken", "--only=^pack/"));

    assertEquals(1, result.code(), result.err());
    List<String> lines = result.out().lines().toList();
    long told = lines.stream().filter(line -> line.matches("  pack/.*: FAILED, .*")).count();
    assertTrue(told > 0, result.out());
    int group =
        IntStream.range(0, lines.size())
            .filter(i -> lines.get(i).matches("  pack: \\d+ checks, " + told + " FAILED, .* s"))
            .findFirst()
            .orElseThrow(() -> new AssertionError(result.out()));
    long atTheEnd =
        lines.stream().skip(group).filter(line -> line.startsWith("  broken: pack/")).count();
    assertEquals(told, atTheEnd, result.out());
  }

  @Test
  void allInputsOfOneConversion() throws Exception {
    GoldenConversion one = GoldenConversion.E5M2_IEEE;
    String only = "--only=^conversions/" + one.recordedName() + "$";
    Cli result =
        withBrokenBackend(() -> Cli.run("verify", "--exhaustive", "--backend=broken", only));

    assertEquals(1, result.code(), result.err());
    assertTrue(result.out().contains("1 of 1 check failed:"), result.out());
    assertTrue(result.out().contains(one.recordedName() + ": FAILED, "), result.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"--only=no such check", "--only=(", "--json"})
  void whatSelectsNothingIsWrongUsage(String option) {
    String list = option.equals("--json") ? "--list" : "--exhaustive";
    Cli result = Cli.run("verify", "--backend=reference", list, option);

    assertEquals(2, result.code(), result.out());
    assertEquals(1, result.err().lines().count(), result.err());
    assertTrue(result.err().startsWith("minifloat verify: --"), result.err());
    assertEquals("", result.out());
  }

  @Test
  void fullMemoryIsOneLineThatSaysWhatHelps() throws Exception {
    Cli result = withBrokenBackend(() -> Cli.run("verify", "--backend=broken:full"));

    assertEquals(1, result.code());
    assertEquals(
        "minifloat: Java's memory is full (full); MINIFLOAT_JAVA_OPTS=-Xmx4g gives it 4 GB\n",
        result.err());
  }

  @Test
  void nobodyIsCheckedForWhenTheReaderIsGone() {
    PrintStream closed =
        new PrintStream(
            new OutputStream() {
              @Override
              public void write(int b) throws IOException {
                throw new IOException("Broken pipe");
              }
            });
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int code =
        Main.run(
            new String[] {"verify", "--backend=reference"},
            closed,
            new PrintStream(err, true, StandardCharsets.UTF_8));

    assertEquals(1, code);
    assertEquals(
        "minifloat verify: standard output was closed, so this ends\n",
        err.toString(StandardCharsets.UTF_8));
  }

  /** Runs a command with one backend more to be found. */
  private Cli withBrokenBackend(Callable<Cli> command) throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {services()}, before)) {
      thread.setContextClassLoader(loader);
      return command.call();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private URL services() throws IOException {
    Path services = Files.createDirectories(directory.resolve("META-INF/services"));
    Files.writeString(
        services.resolve(BackendProvider.class.getName()), BrokenBackendProvider.class.getName());
    return directory.toUri().toURL();
  }
}
