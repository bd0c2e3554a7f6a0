package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.contract.GoldenConversion;
import dev.minifloat.spi.BackendProvider;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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
