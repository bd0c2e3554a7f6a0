package dev.minifloat.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.BackendUnavailableException;
import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Operations;
import dev.minifloat.QuantSpec;
import dev.minifloat.Scaling;
import dev.minifloat.Scope;
import dev.minifloat.Softmax;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.internal.driver.Device;
import dev.minifloat.cuda.sim.SimulatedDriver;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CudaBackendTest {
  /** {@code CUDA_ERROR_DEVICE_UNAVAILABLE}. */
  private static final int DEVICE_UNAVAILABLE = 46;

  @Test
  void itSaysWhatItRunsOn() {
    try (SimulatedBackend simulated = new SimulatedBackend("sm_89")) {
      assertEquals("cuda-sim", simulated.backend().name());
      String device = simulated.backend().info().device();
      assertTrue(device.contains("sm_89") && device.contains("1,024 MiB"), device);
    }
  }

  @Test
  void factsAreTheDevicesOwn() {
    try (SimulatedBackend simulated = new SimulatedBackend("sm_90")) {
      DeviceFacts facts = simulated.backend().facts();

      assertEquals(90, facts.capability());
      assertEquals(1L << 30, facts.memoryBytes());
      assertEquals(132, facts.attributes().get("MULTIPROCESSOR_COUNT"));
      assertEquals(227 << 10, facts.attributes().get("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"));
    }
  }

  @Test
  void kernelsAreLoadedWhenTheyRunAndTheDeviceTellsHowLong() {
    try (SimulatedBackend simulated = new SimulatedBackend("sm_80");
        Scope scope = simulated.backend().scope()) {
      CudaBackend backend = simulated.backend();
      Tensor x = scope.upload(HostTensor.of(new float[] {1, 2, 3}));
      assertEquals(List.of(), backend.loadedKernels());
      double nothing = backend.deviceSeconds(() -> {});
      double conversion = backend.deviceSeconds(() -> scope.convert(x, DType.BF16));

      assertEquals(0, nothing);
      assertTrue(conversion > 0);
      assertEquals(1, backend.loadedKernels().size(), backend.loadedKernels().toString());
    }
  }

  @Test
  void aDeviceThatIsNotThereIsRefused() {
    try (SimulatedDriver driver = SimulatedDriver.of("sim:sm_80,sim:sm_90")) {
      CudaBackend.on("second", driver.lookup(), 1).close();
      IllegalArgumentException refusal =
          assertThrows(
              IllegalArgumentException.class, () -> CudaBackend.on("third", driver.lookup(), 2));
      assertTrue(refusal.getMessage().startsWith("ordinal"), refusal.getMessage());
      assertThrows(
          IllegalArgumentException.class, () -> CudaBackend.on("none", driver.lookup(), -1));
      assertEquals(List.of(), driver.leaks());
    }
  }

  @Test
  void aDriverWithoutDevicesIsUnavailable() {
    try (SimulatedDriver driver = SimulatedDriver.builder().noDevices().build()) {
      BackendUnavailableException refusal =
          assertThrows(
              BackendUnavailableException.class, () -> CudaBackend.on("x", driver.lookup(), 0));
      assertTrue(refusal.getMessage().startsWith("Backend x can't run here: "));
    }
  }

  /** As one that another process has to itself; so that the next best backend is taken. */
  @Test
  void aDeviceThatDoesNotOpenIsUnavailable() {
    try (SimulatedDriver driver = SimulatedDriver.of("sim:sm_80")) {
      driver.faults().record(true);
      CudaBackend.on("x", driver.lookup(), 0).close();
      List<String> calls = driver.faults().calls();
      int opening = calls.indexOf("cuMemPoolSetAttribute") + 1;
      assertTrue(opening > 0, calls.toString());
      for (int n = 1; n <= opening; n++) {
        driver.faults().failCall(n, DEVICE_UNAVAILABLE);
        BackendUnavailableException refusal =
            assertThrows(
                BackendUnavailableException.class, () -> CudaBackend.on("x", driver.lookup(), 0));
        String message = refusal.getMessage();
        assertTrue(message.startsWith("Backend x can't run here: "), message);
        assertTrue(message.contains(calls.get(n - 1)), message);
        assertTrue(message.contains("CUDA_ERROR_DEVICE_UNAVAILABLE (46)"), message);
        assertEquals(List.of(), driver.leaks(), message);
      }
    }
  }

  private static Device device(int ordinal, int capability) {
    return new Device(null, ordinal, ordinal, "a device", capability, 1 << 30, 1, 1 << 16, true);
  }

  /** An old card for the display may come before the one that computes. */
  @Test
  void theFirstDeviceThatThereAreKernelsForIsTaken() {
    Device old = device(0, 75);
    Device one = device(1, 80);
    assertEquals(one, CudaBackend.first(List.of(old, one, device(2, 89))));
    assertEquals(old, CudaBackend.first(List.of(old, device(1, 61))));
  }

  /** As at the end of a process, or where a simulated driver is closed first. */
  @Test
  void closingItAfterItsDriverEndedIsQuiet() {
    SimulatedDriver driver = SimulatedDriver.of("sim:sm_80");
    CudaBackend backend = CudaBackend.on("x", driver.lookup(), 0);
    Scope scope = backend.scope();
    Tensor x = scope.upload(Uses.matrix());
    scope.download(scope.add(x, x));
    driver.close();
    CudaException failure = assertThrows(CudaException.class, () -> scope.add(x, x));
    assertTrue(failure.getMessage().contains("CUDA_ERROR_DEINITIALIZED (4)"), failure.toString());
    scope.close();
    backend.close();
    assertEquals(0, backend.liveTensors());
  }

  @Test
  void closingItGivesEverythingBack() {
    SimulatedBackend simulated = new SimulatedBackend("sm_80");
    CudaBackend backend = simulated.backend();
    Tensor x = backend.upload(Uses.matrix());
    Tensor y = backend.softmax(Softmax.of(x));
    assertFalse(simulated.driver().leaks().isEmpty());
    simulated.close();
    assertTrue(x.isClosed() && y.isClosed());
    assertThrows(IllegalStateException.class, () -> backend.amax(x));
    assertThrows(IllegalStateException.class, backend::synchronize);
  }

  private static void forgetOne(SimulatedDriver driver) {
    CudaBackend backend = CudaBackend.on("forgotten", driver.lookup(), 0);
    Tensor x = backend.upload(Uses.matrix());
    backend.download(softmaxOfQuantized(backend, x));
  }

  @Test
  @Timeout(60)
  void aForgottenBackendIsNamedOnceWithWhereItWasOpened() {
    PrintStream before = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    try (SimulatedDriver driver = SimulatedDriver.of("sim:sm_80")) {
      forgetOne(driver);
      assertTrue(driver.leaks().size() > 5, driver.leaks().toString());
      while (!driver.leaks().isEmpty()) {
        System.gc();
        LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
      }
    } finally {
      System.setErr(before);
    }
    String said = log.toString(StandardCharsets.UTF_8);
    List<String> warnings = said.lines().filter(line -> line.contains("never closed")).toList();
    assertEquals(1, warnings.size(), said);
    String warning = warnings.getFirst();
    assertTrue(warning.contains("WARN") && warning.contains("Backend forgotten"), warning);
    assertTrue(warning.contains("CudaBackendTest.forgetOne(CudaBackendTest.java:"), warning);
  }

  @Test
  void operationsReturnBeforeTheyAreDone() {
    try (SimulatedBackend simulated = new SimulatedBackend("sm_80");
        Scope scope = simulated.backend().scope()) {
      Tensor x = scope.upload(Uses.matrix());
      simulated.backend().synchronize();
      assertEquals(0, simulated.driver().pendingWork());
      var _ = scope.add(x, x);
      assertTrue(simulated.driver().pendingWork() > 0);
      simulated.backend().synchronize();
      assertEquals(0, simulated.driver().pendingWork());
    }
  }

  @Test
  void operationsAreComputedOnTheDevice() {
    try (SimulatedBackend simulated = new SimulatedBackend("sm_89");
        Scope outer = simulated.backend().scope()) {
      Tensor x = outer.upload(Uses.matrix());
      Uses.onTheDevice()
          .forEach(
              (name, use) -> {
                try (Scope scope = simulated.backend().scope()) {
                  simulated.driver().faults().record(true);
                  var _ = use.of(scope, x);
                  List<String> calls = simulated.driver().faults().calls();
                  assertTrue(
                      calls.contains("cuLaunchKernel") || calls.contains("cuMemcpyDtoDAsync_v2"),
                      name + ": " + calls);
                  assertTrue(
                      calls.stream()
                          .noneMatch(call -> call.contains("DtoH") || call.contains("HtoD")),
                      name + ": " + calls);
                }
              });
    }
  }

  private static Tensor softmaxOfQuantized(Operations ops, Tensor x) {
    Tensor quantized = ops.quantize(x, QuantSpec.of(DType.F8_E4M3).scaling(Scaling.rows()));
    return ops.softmax(Softmax.of(ops.dequantize(quantized, DType.F32)));
  }

  /** 64 threads of the operating system and 1,000 virtual ones. */
  @Test
  void anyThreadMayUseIt() throws Exception {
    HostTensor x = Uses.matrix();
    try (SimulatedBackend simulated = new SimulatedBackend("sm_80")) {
      CudaBackend backend = simulated.backend();
      HostTensor expected;
      try (Scope scope = backend.scope()) {
        expected = scope.download(softmaxOfQuantized(scope, scope.upload(x)));
      }
      try (ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor();
          ExecutorService platform = Executors.newFixedThreadPool(64)) {
        List<Future<Long>> mismatches = new ArrayList<>();
        for (int caller = 0; caller < 1064; caller++) {
          mismatches.add(
              (caller < 64 ? platform : virtual)
                  .submit(
                      () -> {
                        try (Scope scope = backend.scope()) {
                          Tensor y = softmaxOfQuantized(scope, scope.upload(x));
                          return expected.data().mismatch(scope.download(y).data());
                        }
                      }));
        }
        for (Future<Long> mismatch : mismatches) {
          assertEquals(-1, mismatch.get());
        }
      }
      assertEquals(0, backend.liveTensors());
    }
  }
}
