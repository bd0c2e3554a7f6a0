package dev.minifloat;

import static dev.minifloat.Refusals.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.outside.ListBackends;
import dev.minifloat.reference.ReferenceBackend;
import dev.minifloat.spi.Availability;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Finding backends among providers that can't run, fail, or are opened by name only. */
class BackendsTest {
  private static final List<String> ALL = List.of("absent", "broken", "fickle", "reference", "shy");

  @Test
  void namesAreOrderedByPriority() {
    assertEquals(ALL, Backends.names());
  }

  @Test
  void reportSaysOfEachWhyItCannotRun() {
    List<Backends.Report> reports = Backends.report();
    assertEquals(ALL, reports.stream().map(Backends.Report::name).toList());
    assertEquals(
        "absent: not usable: there is no such card; insert one;"
            + " there is no driver; install libabsent",
        reports.get(0).toString());
    String broken = reports.get(1).toString();
    assertTrue(broken.contains("not usable") && broken.contains("not today"), broken);
    assertEquals("reference: usable, on any JVM", reports.get(3).toString());
    assertEquals(-1, reports.get(4).priority());
    assertTrue(reports.get(4).availability() instanceof Availability.Available);
  }

  @Test
  void bestGoesOnToTheFirstThatRunsAndSaysSoOnce() {
    List<String> log =
        capturingLog(
            () -> {
              try (Backend backend = Backends.best()) {
                assertEquals("reference", backend.name());
              }
            });
    assertEquals(1, log.size(), log.toString());
    String line = log.getFirst();
    assertTrue(line.contains("INFO " + Backends.class.getName()), line);
    assertTrue(line.contains("Using backend reference on any JVM"), line);
    for (String reason :
        List.of("absent (there is no such card", "broken (", "fickle (the card fell off")) {
      assertTrue(line.contains(reason), line);
    }
  }

  @Test
  void openTakesABackendOfNegativePriority() {
    try (Backend backend = Backends.open("shy")) {
      assertEquals(ReferenceBackend.class, backend.getClass());
    }
  }

  @Test
  void openTakesADeviceBehindAColon() {
    Backends.open("shy:corner").close();
    assertRefused("name", () -> Backends.open("shy:stage"));
    assertRefused("name", () -> Backends.open("reference:1"));
    assertTrue(Backends.isKnown("shy") && Backends.isKnown("shy:stage"));
    assertTrue(!Backends.isKnown("cudda") && !Backends.isKnown("cudda:1"));
  }

  @Test
  void openSaysWhyABackendCannotRun() {
    String message =
        assertThrows(BackendUnavailableException.class, () -> Backends.open("absent")).getMessage();
    assertTrue(message.contains("absent") && message.contains("install libabsent"), message);
    message =
        assertThrows(BackendUnavailableException.class, () -> Backends.open("broken")).getMessage();
    assertTrue(message.contains("not today"), message);
    assertThrows(BackendUnavailableException.class, () -> Backends.open("fickle"));
  }

  @Test
  void openOfAnUnknownNameListsTheKnown() {
    assertRefused("name", () -> Backends.open("cudda"));
    String message =
        assertThrows(IllegalArgumentException.class, () -> Backends.open("cudda")).getMessage();
    assertTrue(message.contains("cudda") && message.contains("reference"), message);
  }

  @Test
  void unavailabilityNeedsAReason() {
    assertRefused("reasons", () -> new Availability.Unavailable(List.of()));
    assertEquals(
        "no card; insert one",
        Availability.Unavailable.because("no card", "insert one").reasons().get(0).toString());
  }

  /** {@code provides} and {@code META-INF/services} are both seen from the module path. */
  @Test
  void modulePathFindsItsOwnProviderAndThoseOfTheClassPath()
      throws IOException, InterruptedException, URISyntaxException {
    String modules = location(Backends.class) + File.pathSeparator + location(LoggerFactory.class);
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--module-path",
            modules,
            "--add-modules",
            "dev.minifloat",
            "--class-path",
            location(ListBackends.class),
            ListBackends.class.getName());
    List<String> lines = run(command);
    assertEquals(List.of("dev.minifloat", String.join(" ", ALL), "reference"), lines);
  }

  @Test
  void modulePathAloneFindsTheReference()
      throws IOException, InterruptedException, URISyntaxException {
    String descriptor =
        String.join(
            "\n",
            run(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--module-path",
                    location(Backends.class) + File.pathSeparator + location(LoggerFactory.class),
                    "--describe-module",
                    "dev.minifloat")));
    assertTrue(
        descriptor.contains(
            "provides dev.minifloat.spi.BackendProvider with"
                + " dev.minifloat.reference.ReferenceProvider"),
        descriptor);
  }

  private static String location(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }

  private static List<String> run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), output);
    // No binding of SLF4J is on the module path, which it mentions.
    return output.lines().filter(line -> !line.startsWith("SLF4J")).toList();
  }

  /** The lines that slf4j-simple, which writes to the present standard error, wrote meanwhile. */
  private static List<String> capturingLog(Runnable action) {
    PrintStream before = System.err;
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
    try {
      action.run();
    } finally {
      System.setErr(before);
    }
    return new ArrayList<>(written.toString(StandardCharsets.UTF_8).lines().toList());
  }
}
