package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Backend;
import dev.minifloat.Backends;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class BackendsCommandTest {
  @Test
  void listsEveryBackend() {
    Cli result = Cli.run("backends");

    assertEquals(0, result.code());
    for (String name : Backends.names()) {
      assertTrue(result.out().lines().anyMatch(line -> line.startsWith(name + " ")), result.out());
    }
  }

  @Test
  void jsonSaysWhatTheReferenceRunsOn() {
    JsonNode list = Cli.run("backends", "--json").json();

    assertEquals(Backends.names().size(), list.size());
    JsonNode reference = named(list, "reference");
    assertTrue(reference.get("usable").asBoolean());
    assertTrue(reference.get("threads").asInt() >= 1);
  }

  private static JsonNode named(JsonNode list, String name) {
    for (JsonNode backend : list) {
      if (backend.get("name").asString().equals(name)) {
        return backend;
      }
    }
    throw new AssertionError("there is no " + name + " in " + list);
  }

  @Test
  void withoutADriverTheGpuSaysWhatToDo() {
    JsonNode cuda = named(Cli.run("backends", "--json").json(), "cuda");

    assertTrue(
        cuda.get("usable").asBoolean() || cuda.get("remedy").asString().contains("cuda-sim:sm_89"),
        cuda.toString());
  }

  @Test
  void saysWhyABackendCantRunAndWhichIsUsed() {
    String out = Cli.run("backends").out();
    JsonNode list = Cli.run("backends", "--json").json();

    for (JsonNode backend : list) {
      String name = backend.get("name").asString();
      assertEquals(
          backend.get("default").asBoolean(),
          out.contains("Backend " + name + " is used where --backend names no other."),
          out);
      if (!backend.get("usable").asBoolean()) {
        assertTrue(out.contains("Backend " + name + " can't run here:"), out);
        assertTrue(out.contains("  why:  " + backend.get("why").asString()), out);
        assertTrue(out.contains("  help: " + backend.get("remedy").asString()), out);
      }
    }
  }

  @Test
  void theDefaultIsTheOneThatBestOpens() {
    JsonNode list = Cli.run("backends", "--json").json();

    try (Backend best = Backends.best()) {
      for (JsonNode backend : list) {
        assertEquals(
            backend.get("name").asString().equals(best.name()),
            backend.get("default").asBoolean(),
            list.toString());
      }
    }
  }

  @Test
  void aSimulatedGpuIsNeverTheDefault() {
    Cli result = Cli.run("backends");

    assertFalse(named(Cli.run("backends", "--json").json(), "cuda-sim").get("default").asBoolean());
    assertTrue(
        result.out().contains("Backend cuda-sim is used only if it is named: "), result.out());
  }

  @Test
  void aSimulatedGpuIsNamedWithItsDevice() {
    Cli result = Cli.run("backends", "--support=cuda-sim:sm_80");

    assertEquals(0, result.code(), result.err());
    assertTrue(result.out().contains("| F4_E2M1 | nvfp4 | yes | yes |"), result.out());
    Cli unknown = Cli.run("backends", "--support=cuda-sim:sm_12");
    assertEquals(2, unknown.code());
    assertTrue(unknown.err().contains("--support: "), unknown.err());
  }

  @Test
  void supportIsAMarkdownTable() {
    Cli result = Cli.run("backends", "--support=reference");

    assertEquals(0, result.code());
    assertTrue(result.out().startsWith("| format | scaling |"), result.out());
    assertTrue(result.out().contains("| F4_E2M1 | nvfp4 |"), result.out());
  }

  @Test
  void supportOfAnUnknownBackendIsWrongUsage() {
    Cli result = Cli.run("backends", "--support=abacus");

    assertEquals(2, result.code());
    assertTrue(
        result.err().startsWith("minifloat backends: --support: there is no \"abacus\""),
        result.err());
    assertTrue(result.err().contains("reference"), result.err());
  }
}
