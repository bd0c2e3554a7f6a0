package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
    JsonNode reference = list.get(list.size() - 1);
    assertEquals("reference", reference.get("name").asString());
    assertTrue(reference.get("usable").asBoolean());
    assertTrue(reference.get("threads").asInt() >= 1);
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
