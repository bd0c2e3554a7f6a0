package dev.minifloat.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.Scope;
import dev.minifloat.Tensor;
import dev.minifloat.cuda.sim.FaultInjector;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Each call of the driver that an operation makes fails once, from the upload of its operand to the
 * download of its result: the failure names the call, nothing is left behind, and the next
 * operation is right.
 */
class OperationFaultsTest {
  /** {@code CUDA_ERROR_UNKNOWN}. */
  private static final int UNKNOWN = 999;

  @TestFactory
  Stream<DynamicTest> aFailedCallIsNamedAndLeavesNothing() {
    Map<String, Uses.Use> uses = new LinkedHashMap<>(Uses.onTheDevice());
    uses.putAll(Uses.withTheHost());
    return uses.entrySet().stream()
        .map(use -> DynamicTest.dynamicTest(use.getKey(), () -> failEachCall(use.getValue())));
  }

  private static HostTensor run(CudaBackend backend, Uses.Use use) {
    try (Scope scope = backend.scope()) {
      Tensor x = scope.upload(Uses.matrix());
      return scope.download(use.of(scope, x));
    }
  }

  private static void failEachCall(Uses.Use use) {
    try (SimulatedBackend simulated = new SimulatedBackend("sm_89")) {
      CudaBackend backend = simulated.backend();
      FaultInjector faults = simulated.driver().faults();
      // The first run loads kernels and page-locked memory.
      HostTensor expected = run(backend, use);
      faults.record(true);
      requireSame(expected, run(backend, use));
      List<String> calls = faults.calls();
      for (int n = 1; n <= calls.size(); n++) {
        faults.failCall(n, UNKNOWN);
        MinifloatException failure = failureOf(backend, use, calls.get(n - 1) + ", call " + n);
        assertTrue(
            failure.getMessage().contains(calls.get(n - 1))
                && failure.getMessage().contains("CUDA_ERROR_UNKNOWN"),
            failure.getMessage());
        assertEquals(0, backend.liveTensors());
        faults.clear();
        requireSame(expected, run(backend, use));
      }
    }
  }

  private static MinifloatException failureOf(CudaBackend backend, Uses.Use use, String call) {
    try {
      run(backend, use);
    } catch (MinifloatException e) {
      return e;
    }
    throw new AssertionError(call + " failed, and nobody said so");
  }

  private static void requireSame(HostTensor expected, HostTensor actual) {
    assertEquals(-1, expected.data().mismatch(actual.data()));
    assertEquals(-1, expected.scales().mismatch(actual.scales()));
    assertEquals(expected.globalScale(), actual.globalScale());
  }
}
