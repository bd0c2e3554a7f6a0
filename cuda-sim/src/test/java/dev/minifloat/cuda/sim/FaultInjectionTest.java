package dev.minifloat.cuda.sim;

import static dev.minifloat.cuda.driver.DriverFunction.*;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.driver.DriverFunction;
import dev.minifloat.cuda.sim.internal.driver.CuResult;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Calls that are made to fail. */
class FaultInjectionTest {
  /** A small client's run: goes on whatever fails, and returns what it was told. */
  private static List<CuResult> program(Client client) {
    List<CuResult> told = new ArrayList<>();
    told.add(client.call(cuInit, 0));
    var out = client.slot();
    told.add(client.call(cuDevicePrimaryCtxRetain, out, 0));
    long context = out.get(java.lang.foreign.ValueLayout.JAVA_LONG, 0);
    told.add(client.call(cuCtxSetCurrent, context));
    long stream = made(client, told, cuStreamCreate, 1);
    long module = made(client, told, cuModuleLoadData, client.arena.allocateFrom(Ptx.OTHERS));
    long fill = made(client, told, cuModuleGetFunction, module, client.arena.allocateFrom("fill"));
    long data = made(client, told, cuMemAllocAsync, 64L, stream);
    told.add(client.launch(fill, 1, 16, 0, stream, data, 16, 1));
    told.add(client.call(cuMemFreeAsync, data, stream));
    told.add(client.call(cuStreamSynchronize, stream));
    told.add(client.call(cuModuleUnload, module));
    told.add(client.call(cuStreamDestroy_v2, stream));
    told.add(client.call(cuDevicePrimaryCtxRelease_v2, 0));
    return told;
  }

  private static long made(
      Client client, List<CuResult> told, DriverFunction function, Object... rest) {
    var out = client.slot();
    told.add(client.call(function, Client.prepend(out, rest)));
    return out.get(java.lang.foreign.ValueLayout.JAVA_LONG, 0);
  }

  @Test
  void everyCallOfAProgramCanFail() {
    List<String> calls;
    try (Client client = new Client(SimulatedDriver.of("sim:sm_80"))) {
      client.driver.faults().record(true);
      assertTrue(program(client).stream().allMatch(result -> result == CuResult.SUCCESS));
      assertEquals(List.of(), client.driver.leaks());
      calls = client.driver.faults().calls();
    }
    assertEquals(13, calls.size());
    for (int n = 1; n <= calls.size(); n++) {
      try (Client client = new Client(SimulatedDriver.of("sim:sm_80"))) {
        client.driver.faults().failCall(n, CuResult.OPERATING_SYSTEM.code());
        List<CuResult> told = program(client);
        assertEquals(CuResult.OPERATING_SYSTEM, told.get(n - 1), calls.get(n - 1));
        assertEquals(List.of(), client.driver.leaks(), calls.get(n - 1));
      }
    }
  }

  @Test
  void theNthCallOfAFunctionFailsOnce() {
    try (Client client = Client.ready("sim:sm_80")) {
      FaultInjector faults = client.driver.faults();
      long before = faults.count("cuMemAlloc_v2");
      faults.failCall("cuMemAlloc_v2", 2, 2);
      client.alloc(4);
      client.fails(CuResult.OUT_OF_MEMORY, cuMemAlloc_v2, client.slot(), 4L);
      client.alloc(4);
      assertEquals(before + 3, faults.count("cuMemAlloc_v2"));
      faults.failCall("cuMemAlloc_v2", 1, 2);
      faults.clear();
      client.alloc(4);
      assertThrows(IllegalArgumentException.class, () -> faults.failCall(0, 2));
      assertThrows(IllegalArgumentException.class, () -> faults.failCall("", 1, 2));
    }
  }
}
