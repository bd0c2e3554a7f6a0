package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.Backends;
import dev.minifloat.cuda.sim.SimulatedDriver;
import dev.minifloat.spi.Availability;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is said of GPUs that aren't there, real and simulated ones. */
class NoGpuTest {
  /** No machine has so many: where there is a driver, the device is what is missing. */
  private static final String MISSING = "cuda:999";

  static Stream<List<String>> commands() {
    return Stream.of(
        List.of("verify", "--backend"),
        List.of("verify", "--exhaustive", "--backend"),
        List.of("verify", "--list", "--backend"),
        List.of(
            "demo",
            "--models",
            Path.of("..", "encoder", "target", "models").toString(),
            "--backend"),
        List.of("demo", "--sentence", "Rain.", "--backend"),
        List.of("backends", "--support"));
  }

  private static Cli run(List<String> command, String backend) {
    return Cli.run(Stream.concat(command.stream(), Stream.of(backend)).toArray(String[]::new));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void aMissingGpuIsExplainedInOneLine(List<String> command) {
    Cli result = run(command, MISSING);

    assertEquals("", result.out());
    assertEquals(1, result.err().lines().count(), result.err());
    assertTrue(result.err().startsWith("minifloat " + command.getFirst() + ": "), result.err());
    switch (availability()) {
      case Availability.Available _ -> {
        assertEquals(2, result.code());
        assertTrue(result.err().contains("there is no device 999"), result.err());
      }
      case Availability.Unavailable(List<Availability.Reason> reasons) -> {
        assertEquals(1, result.code());
        assertTrue(result.err().contains("Backend cuda:999 can't run here: "), result.err());
        assertTrue(result.err().contains(reasons.getFirst().what()), result.err());
        assertTrue(result.err().contains(reasons.getFirst().remedy()), result.err());
      }
    }
  }

  private static Availability availability() {
    return Backends.report().stream()
        .filter(report -> report.name().equals("cuda"))
        .findFirst()
        .orElseThrow()
        .availability();
  }

  @ParameterizedTest
  @MethodSource("commands")
  void anUnknownSimulatedDeviceIsWrongUsage(List<String> command) {
    Cli result = run(command, "cuda-sim:sm_70");

    assertEquals(2, result.code(), result.err());
    assertEquals("", result.out());
    assertEquals(1, result.err().lines().count(), result.err());
    String kinds = String.join(", ", SimulatedDriver.kinds());
    assertTrue(
        result.err().contains("there is no simulated device \"sm_70\"; there are " + kinds),
        result.err());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "sm_89x", "SM_89", "89", "sm_", "sm_99999999999", "sim:sm_89", "sm_80,sm_89"})
  void aSimulatedDeviceIsNamedExactly(String device) {
    Cli result = Cli.run("verify", "--list", "--backend", "cuda-sim:" + device);

    assertEquals(2, result.code(), result.err());
    assertTrue(
        result
            .err()
            .startsWith(
                "minifloat verify: --backend: there is no simulated device \"" + device + "\""),
        result.err());
  }

  @ParameterizedTest
  @CsvSource({"vector:1, vector", "reference:x, reference"})
  void aBackendWithoutDevicesSaysSo(String name, String backend) {
    Cli result = Cli.run("verify", "--list", "--backend", name);

    assertEquals(2, result.code(), result.err());
    assertTrue(result.err().contains("backend " + backend + " has no device "), result.err());
  }

  @Test
  void anOldSimulatedGpuIsCheckedForAllThatANewOneIs() {
    String list = Cli.run("verify", "--list", "--backend", "cuda-sim:sm_80").out();

    assertFalse(list.isEmpty());
    assertEquals(list, Cli.run("verify", "--list", "--backend", "cuda-sim:sm_120").out());
  }
}
