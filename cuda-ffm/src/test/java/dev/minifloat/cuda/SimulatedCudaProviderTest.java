package dev.minifloat.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.example.SimulatedGpu;
import dev.minifloat.Backend;
import dev.minifloat.Backends;
import dev.minifloat.DType;
import dev.minifloat.Gemm;
import dev.minifloat.HostTensor;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.driver.DriverFunction;
import dev.minifloat.cuda.sim.SimulatedDriver;
import dev.minifloat.kernels.KernelCatalog;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import tools.jackson.core.JsonParser;

/** Simulated devices by their names, from the artifacts alone. */
class SimulatedCudaProviderTest {
  private static final String DENIED = "the JVM denies native access";

  @Test
  void namesChooseDevices() {
    for (String device : List.of("sm_80", "sm_120")) {
      try (Backend backend = Backends.open("cuda-sim:" + device)) {
        assertEquals("cuda-sim:" + device, backend.name());
        assertTrue(backend.info().device().contains(device), backend.info().toString());
      }
    }
    try (Backend backend = Backends.open("cuda-sim")) {
      assertEquals("cuda-sim", backend.name());
      assertTrue(backend.info().device().contains("sm_89"), backend.info().toString());
    }
  }

  @Test
  void unknownDevicesAreRefusedWithThoseThatThereAre() {
    for (String device : List.of("", "sm_70", "sim:sm_89", "sm_80,sm_89")) {
      IllegalArgumentException refusal =
          assertThrows(
              IllegalArgumentException.class, () -> Backends.open("cuda-sim:" + device).close());
      assertEquals(
          "name: there is no simulated device \"%s\"; there are %s"
              .formatted(device, String.join(", ", SimulatedDriver.kinds())),
          refusal.getMessage());
    }
  }

  /**
   * Products of E4M3 on 9.0, 64 · 64 and 31 times 2⁻⁶ · 2⁻⁸, which make four units in the last
   * place of F32. Tensor cores that keep 13 fraction bits lose each of the 31.
   */
  @Test
  void namesChooseHowTensorCoresAddUp() {
    assertEquals(4096 + 0x1p-9f, sumOn("cuda-sim:sm_90a"));
    assertEquals(4096 + 0x1p-9f, sumOn("cuda-sim:sm_90a:exact"));
    assertEquals(4096, sumOn("cuda-sim:sm_90a:hardware-model"));
    IllegalArgumentException refusal =
        assertThrows(
            IllegalArgumentException.class, () -> Backends.open("cuda-sim:sm_90a:coarse").close());
    assertEquals(
        "name: simulated tensor cores can't add up as \"coarse\"; there are exact,"
            + " sequential-f32, hardware-model",
        refusal.getMessage());
  }

  private static float sumOn(String name) {
    int rows = 20;
    float[] left = new float[rows * 32];
    float[] right = new float[rows * 32];
    for (int i = 0; i < left.length; i++) {
      left[i] = i % 32 == 0 ? 64 : 0x1p-6f;
      right[i] = i % 32 == 0 ? 64 : 0x1p-8f;
    }
    try (Backend backend = Backends.open(name);
        Scope scope = backend.scope()) {
      Tensor a = scope.convert(scope.upload(HostTensor.of(left, rows, 32)), DType.F8_E4M3);
      Tensor b = scope.convert(scope.upload(HostTensor.of(right, rows, 32)), DType.F8_E4M3);
      return scope.download(scope.gemm(Gemm.of(a, b.transposed()))).toFloats()[rows + 1];
    }
  }

  @Test
  void theClassPathIsEnough() throws Exception {
    String said = onClassPath(_ -> true, "--enable-native-access=ALL-UNNAMED");
    assertTrue(said.contains("cuda-sim: usable, on simulated sm_89\n"), said);
    assertTrue(said.contains("cuda-sim:sm_89 gives 14.0\n"), said);
    assertFalse(said.contains("best cuda-sim"), said);
  }

  @Test
  void withoutTheSimulatorItSaysWhatToAdd() throws Exception {
    String said =
        onClassPath(
            entry -> !Path.of(entry).equals(Path.of(place(SimulatedDriver.class))),
            "--enable-native-access=ALL-UNNAMED");
    String why =
        "there is no simulator on the module path or the class path; add the artifact"
            + " minifloat-cuda-sim";
    assertTrue(said.contains("cuda-sim: not usable: " + why), said);
    assertTrue(said.contains("Backend cuda-sim:sm_89 can't run here: " + why), said);
  }

  @Test
  void theModulePathIsEnough() throws Exception {
    String said =
        onModulePath(
            "--enable-native-access=dev.minifloat.bindings,dev.minifloat.cuda,"
                + "dev.minifloat.cuda.sim");
    assertTrue(said.contains("cuda-sim:sm_89 gives 14.0\n"), said);
    assertFalse(said.contains("best cuda-sim"), said);
  }

  @Test
  void deniedAccessIsAReason() throws Exception {
    String classPath = onClassPath(_ -> true);
    assertTrue(classPath.contains("cuda-sim: not usable: " + DENIED), classPath);
    assertTrue(classPath.contains("--enable-native-access=ALL-UNNAMED"), classPath);
    String half = onModulePath("--enable-native-access=dev.minifloat.bindings,dev.minifloat.cuda");
    assertTrue(half.contains("cuda-sim: not usable: " + DENIED), half);
    assertTrue(
        half.contains(
            "--enable-native-access=dev.minifloat.bindings,dev.minifloat.cuda,"
                + "dev.minifloat.cuda.sim"),
        half);
  }

  private static String place(Class<?> member) {
    try {
      return Path.of(member.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String onClassPath(Predicate<String> entries, String... flags)
      throws IOException, InterruptedException {
    String path = System.getProperty("java.class.path");
    List<String> arguments = new ArrayList<>(List.of(flags));
    arguments.add("-cp");
    arguments.add(
        Arrays.stream(path.split(File.pathSeparator))
            .filter(entries)
            .collect(Collectors.joining(File.pathSeparator)));
    return java(arguments);
  }

  /** The program itself stays on the class path; the module that it uses is the API only. */
  private static String onModulePath(String... flags) throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of(flags));
    arguments.addAll(
        List.of(
            "--module-path",
            Stream.of(
                    Backends.class,
                    DriverFunction.class,
                    KernelCatalog.class,
                    CudaBackend.class,
                    SimulatedDriver.class,
                    Logger.class,
                    JsonParser.class)
                .map(SimulatedCudaProviderTest::place)
                .collect(Collectors.joining(File.pathSeparator)),
            "--add-modules",
            "dev.minifloat",
            "-cp",
            place(SimulatedGpu.class)));
    return java(arguments);
  }

  private static String java(List<String> arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--illegal-native-access=deny");
    command.addAll(arguments);
    command.add(SimulatedGpu.class.getName());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
    return said;
  }
}
