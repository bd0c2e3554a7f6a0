package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class KernelsCommandTest {
  private static final List<String> EIGHT =
      List.of("kernels", "--types", "f8_e4m3,f8_e4m3", "--scalings", "rows,128x128");

  private static Cli run(List<String> command, String... more) {
    List<String> line = new ArrayList<>(command);
    line.addAll(List.of(more));
    return Cli.run(line.toArray(String[]::new));
  }

  @ParameterizedTest
  @CsvSource({
    "sm_80, gemm_f8_e4m3_f8_e4m3",
    "8.6, gemm_f8_e4m3_f8_e4m3",
    "sm_89, gemm_f8_native_e4m3_e4m3"
  })
  void theDeviceDecides(String device, String kernel) {
    Cli result = run(EIGHT, "--device", device);

    assertEquals(0, result.code(), result.err());
    assertTrue(result.out().startsWith("kernel:      " + kernel + ", sm_"), result.out());
  }

  @Test
  void everyOtherKernelHasItsReason() {
    JsonNode choice = run(EIGHT, "--device", "sm_89", "--json").json();

    assertEquals("gemm_f8_native_e4m3_e4m3", choice.get("kernel").asString());
    assertEquals("[64,32,1]", choice.get("grid").toString());
    assertEquals(
        "would do, but gemm_f8_native_e4m3_e4m3, made for sm_89, comes first",
        reason(choice, "gemm_f8_e4m3_f8_e4m3"));
    assertEquals("is for 16 rows of a at most, not 4,096", reason(choice, "skinny_8_f8_e4m3"));
    assertEquals("a is I8, not F8_E4M3", reason(choice, "gemm_i8"));
    JsonNode older = run(EIGHT, "--device", "sm_80", "--json").json();
    assertEquals("is for sm_89 and newer", reason(older, "gemm_f8_native_e4m3_e4m3"));
  }

  private static String reason(JsonNode choice, String kernel) {
    for (JsonNode refused : choice.get("notTaken")) {
      if (refused.get("kernel").asString().equals(kernel)) {
        return refused.get("reason").asString();
      }
    }
    throw new AssertionError("nothing is said of " + kernel + " in " + choice);
  }

  @Test
  void fewRowsReadTheWeightsOnce() {
    Cli result =
        Cli.run("kernels", "--types", "f16,nvfp4", "--shape", "1,1024,4096", "--device", "sm_80");

    assertEquals(0, result.code(), result.err());
    assertTrue(result.out().startsWith("kernel:      skinny_1_f4_e2m1, "), result.out());
    assertTrue(result.out().contains("shares of K: "), result.out());
    assertTrue(
        result.out().contains("would do, but one for few rows reads the weights once"),
        result.out());
  }

  @Test
  void anOperandWithoutKSideBySideIsTurnedFirst() {
    Cli large = Cli.run("kernels", "--types", "f16,f16", "--layout", "nn");
    Cli small = Cli.run("kernels", "--types", "f16,f16", "--layout", "nn", "--shape", "32,32,32");

    assertTrue(
        large.out().contains("before:      b is copied first, turned so that K lies side by side"),
        large.out());
    assertTrue(small.out().startsWith("kernel:      gemm_any, "), small.out());
    assertTrue(
        small.out().contains("turning an operand so that K lies side by side pays from 262,144"),
        small.out());
    assertTrue(
        small.out().contains("wants K side by side, and in b it lies 32 apart"), small.out());
  }

  @Test
  void withoutTypesAllPairsAreListed() {
    Cli result = Cli.run("kernels", "--device", "sm_120");

    assertEquals(0, result.code(), result.err());
    assertEquals(2 + 10 * 10, result.out().lines().count());
    assertTrue(
        result.out().lines().anyMatch(line -> line.matches("F16 +I4 +gemm_f16_i4 +sm_80 .*")),
        result.out());
  }

  @Test
  void countsAndBoundsAreMarkedAsSuch() {
    Cli text = Cli.run("kernels", "--static", "--types", "f16,f16", "--device", "sm_80");
    JsonNode kernel =
        Cli.run("kernels", "--static", "--types", "f16,f16", "--device", "sm_80", "--json")
            .json()
            .get(0);

    assertEquals(0, text.code(), text.err());
    assertTrue(text.out().contains("\nBOUND for a product of 4096 × 4096 × 4096: "), text.out());
    assertTrue(text.out().contains("- A bound, not a result: "), text.out());
    assertTrue(text.out().contains("scales none, for each mma: integer "), text.out());
    assertEquals("gemm_f16", kernel.get("kernel").asString());
    assertEquals(0, kernel.get("spilledBytes").asInt());
    assertEquals(0, kernel.get("loopConflicts").asInt());
    assertEquals(5, kernel.get("bounds").size());
    for (JsonNode bound : kernel.get("bounds")) {
      assertTrue(bound.get("boundOfPeak").asDouble() <= 1, bound.toString());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--device sm_75 | the kernels need sm_80, not sm_75",
        "--device turing | --device: \"turing\" is not a target",
        "--shape 1,2 | --shape: ",
        "--shape 0,2,2 | --shape: a product of 1 × 0 × 2 × 2 has no kernel",
        "--types f16 | --types: ",
        "--types f16,f15 | --types: ",
        "--types f16,f16 --scalings none,nvfp4 | --scalings: elements of F16",
        "--scalings rows | say --types too",
        "--layout tx | --layout: ",
        "--static --scalings rows | --static goes with "
      })
  void whatCantBeIsWrongUsage(String options, String complaint) {
    Cli result = run(List.of("kernels"), options.split(" ", -1));

    assertEquals(2, result.code(), result.out());
    assertTrue(result.err().contains(complaint), result.err());
  }
}
