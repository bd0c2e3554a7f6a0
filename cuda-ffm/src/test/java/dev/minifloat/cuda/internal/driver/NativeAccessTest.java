package dev.minifloat.cuda.internal.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.MinifloatException;
import dev.minifloat.cuda.driver.DriverFunction;
import dev.minifloat.cuda.sim.SimulatedDriver;
import dev.minifloat.kernels.KernelCatalog;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import tools.jackson.core.JsonParser;

/** JVMs that deny native access to whom it isn't given, on the class path and the module path. */
class NativeAccessTest {
  private static final String DENIED = "the JVM denies native access";

  /** The program of those JVMs: tries to open the system's driver. */
  static final class OpenDriver {
    private OpenDriver() {}

    public static void main(String[] arguments) {
      try {
        System.out.println("opened " + Driver.open());
      } catch (DriverUnavailableException e) {
        System.out.println("reasons " + e.why().reasons());
      }
    }
  }

  /** Tries to make a simulated driver. */
  static final class OpenSimulator {
    private OpenSimulator() {}

    public static void main(String[] arguments) {
      try (SimulatedDriver driver = SimulatedDriver.of("sim:sm_80")) {
        System.out.println("opened " + driver.leaks());
      } catch (IllegalCallerException e) {
        System.out.println("reasons " + e.getMessage());
      }
    }
  }

  private static String java(List<String> arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--illegal-native-access=deny");
    command.addAll(arguments);
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
    assertTrue(said.contains("opened") || said.contains("reasons"), said);
    return said;
  }

  private static String onClassPath(Class<?> program, String... flags) throws Exception {
    List<String> arguments = new ArrayList<>(List.of(flags));
    arguments.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
    return java(arguments);
  }

  private static String onModulePath(String... flags) throws Exception {
    List<String> arguments = new ArrayList<>(List.of(flags));
    List<String> path = new ArrayList<>();
    for (Class<?> member :
        List.of(
            Driver.class,
            DriverFunction.class,
            KernelCatalog.class,
            MinifloatException.class,
            Logger.class,
            JsonParser.class)) {
      path.add(place(member));
    }
    arguments.addAll(
        List.of(
            "-p",
            String.join(File.pathSeparator, path),
            "--patch-module",
            "dev.minifloat.cuda=" + place(OpenDriver.class),
            "-m",
            "dev.minifloat.cuda/" + OpenDriver.class.getName()));
    return java(arguments);
  }

  private static String place(Class<?> member) throws URISyntaxException {
    return Path.of(member.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }

  @Test
  void deniedAccessIsAReason() throws Exception {
    String classPath = onClassPath(OpenDriver.class);
    assertTrue(classPath.contains(DENIED), classPath);
    assertTrue(classPath.contains("--enable-native-access=ALL-UNNAMED"), classPath);
    String modulePath = onModulePath();
    assertTrue(modulePath.contains(DENIED), modulePath);
    String half = onModulePath("--enable-native-access=dev.minifloat.bindings");
    assertTrue(half.contains(DENIED), half);
  }

  @Test
  void theSimulatorSaysWhichFlagItNeeds() throws Exception {
    String denied = onClassPath(OpenSimulator.class);
    assertTrue(denied.contains(DENIED), denied);
    assertTrue(denied.contains("--enable-native-access=ALL-UNNAMED"), denied);
    assertTrue(denied.contains("dev.minifloat.cuda.sim"), denied);
    String given = onClassPath(OpenSimulator.class, "--enable-native-access=ALL-UNNAMED");
    assertFalse(given.contains(DENIED), given);
  }

  @Test
  void theFlagsThatMessagesNameHelp() throws Exception {
    String classPath = onClassPath(OpenDriver.class, "--enable-native-access=ALL-UNNAMED");
    assertFalse(classPath.contains(DENIED), classPath);
    String modulePath =
        onModulePath("--enable-native-access=dev.minifloat.bindings,dev.minifloat.cuda");
    assertFalse(modulePath.contains(DENIED), modulePath);
  }
}
