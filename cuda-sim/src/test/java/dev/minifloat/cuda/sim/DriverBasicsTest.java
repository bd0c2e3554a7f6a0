package dev.minifloat.cuda.sim;

import static dev.minifloat.cuda.driver.DriverFunction.*;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.driver.DriverFunction;
import dev.minifloat.cuda.sim.internal.driver.CuResult;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Initialisation, devices, contexts, names of errors, and what every function has in common. */
class DriverBasicsTest {
  /** What the simulator refuses by name. */
  private static final Set<DriverFunction> REFUSED =
      EnumSet.of(
          cuLinkCreate_v2,
          cuLinkAddData_v2,
          cuLinkComplete,
          cuLinkDestroy,
          cuOccupancyMaxPotentialClusterSize,
          cuOccupancyMaxActiveClusters,
          cuTensorMapEncodeTiled,
          cuTensorMapReplaceAddress,
          cuMemHostGetDevicePointer_v2,
          cuMemAllocManaged);

  private static Object[] arguments(DriverFunction function, long value) {
    List<Object> arguments = new ArrayList<>();
    for (MemoryLayout layout : function.descriptor().argumentLayouts()) {
      arguments.add(
          switch ((ValueLayout) layout) {
            case ValueLayout.OfByte _ -> (byte) value;
            case ValueLayout.OfShort _ -> (short) value;
            case ValueLayout.OfInt _ -> (int) value;
            default -> value;
          });
    }
    return arguments.toArray();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 77, -1})
  void everyFunctionAnswersNonsense(long value) {
    try (Client client = Client.ready("sim:sm_80")) {
      for (DriverFunction function : DriverFunction.values()) {
        boolean wouldReadIt = value == -1 && takesPointers(function);
        if (!wouldReadIt) {
          client.ok(cuCtxSetCurrent, client.retain(0));
          CuResult result = client.call(function, arguments(function, value));
          assertNotEquals(CuResult.UNKNOWN, result, function.symbol());
        }
      }
    }
  }

  /** Addresses at the top of memory look like some and are none: reading there ends a process. */
  private static boolean takesPointers(DriverFunction function) {
    return function.descriptor().argumentLayouts().stream()
        .anyMatch(layout -> layout instanceof AddressLayout);
  }

  @Test
  void nothingButTheRefusedIsUnsupported() {
    try (Client client = Client.ready("sim:sm_80")) {
      Set<DriverFunction> unsupported = EnumSet.noneOf(DriverFunction.class);
      for (DriverFunction function : DriverFunction.values()) {
        client.ok(cuCtxSetCurrent, client.retain(0));
        if (client.call(function, arguments(function, 0)) == CuResult.NOT_SUPPORTED) {
          unsupported.add(function);
        }
      }
      assertEquals(REFUSED, unsupported);
    }
  }

  @Test
  void nothingWorksBeforeInit() {
    try (Client client = new Client(SimulatedDriver.of("sim:sm_80"))) {
      client.fails(CuResult.NOT_INITIALIZED, cuDeviceGetCount, client.slot());
      client.fails(CuResult.NOT_INITIALIZED, cuCtxSynchronize);
      assertEquals(13000, client.getInt(cuDriverGetVersion));
      client.fails(CuResult.INVALID_VALUE, cuInit, 1);
      client.ok(cuInit, 0);
      assertEquals(1, client.getInt(cuDeviceGetCount));
    }
  }

  @Test
  void noDeviceIsSaidByInit() {
    try (Client client = new Client(SimulatedDriver.builder().noDevices().build())) {
      client.fails(CuResult.NO_DEVICE, cuInit, 0);
    }
  }

  @Test
  void callsAfterTheEndAreTold() {
    SimulatedDriver driver = SimulatedDriver.of("sim:sm_80");
    Client client = Client.ready(driver);
    driver.close();
    client.fails(CuResult.DEINITIALIZED, cuCtxSynchronize);
    assertEquals("CUDA_ERROR_DEINITIALIZED", text(client, cuGetErrorName, 4));
    client.close();
  }

  @Test
  void errorsHaveNamesAndTexts() {
    try (Client client = new Client(SimulatedDriver.of("sim:sm_80"))) {
      for (CuResult result : CuResult.values()) {
        assertEquals(result.symbol(), text(client, cuGetErrorName, result.code()));
        assertEquals(result.text(), text(client, cuGetErrorString, result.code()));
      }
      MemorySegment out = client.slot();
      out.set(ValueLayout.JAVA_LONG, 0, 5);
      client.fails(CuResult.INVALID_VALUE, cuGetErrorName, 12345, out);
      assertEquals(0, out.get(ValueLayout.JAVA_LONG, 0));
      assertEquals("CUDA_ERROR_OUT_OF_MEMORY", text(client, cuGetErrorName, 2));
      assertEquals("out of memory", text(client, cuGetErrorString, 2));
    }
  }

  private static String text(Client client, DriverFunction function, int code) {
    MemorySegment out = client.slot();
    client.ok(function, code, out);
    return out.get(ValueLayout.ADDRESS, 0).reinterpret(1000).getString(0);
  }

  @ParameterizedTest
  @CsvSource({
    "sim:sm_80, 8, 0, 166912, 2048",
    "sim:sm_86, 8, 6, 101376, 1536",
    "sim:sm_89, 8, 9, 101376, 1536",
    "sim:sm_90, 9, 0, 232448, 2048",
    "sim:sm_100, 10, 0, 232448, 2048",
    "sim:sm_120, 12, 0, 101376, 1536"
  })
  void devicesSayWhatTheyAre(String name, int major, int minor, int shared, int threads) {
    try (Client client = Client.ready(name)) {
      assertEquals(major, client.getInt(cuDeviceGetAttribute, 75, 0));
      assertEquals(minor, client.getInt(cuDeviceGetAttribute, 76, 0));
      assertEquals(shared, client.getInt(cuDeviceGetAttribute, 97, 0));
      assertEquals(threads, client.getInt(cuDeviceGetAttribute, 39, 0));
      assertEquals(32, client.getInt(cuDeviceGetAttribute, 10, 0));
      assertEquals(1L << 30, client.get(cuDeviceTotalMem_v2, 0));
      client.fails(CuResult.INVALID_VALUE, cuDeviceGetAttribute, client.slot(), 9999, 0);
      client.fails(CuResult.INVALID_DEVICE, cuDeviceGetAttribute, client.slot(), 75, 1);
      MemorySegment text = client.arena.allocate(64);
      client.ok(cuDeviceGetName, text, 64, 0);
      assertEquals("Simulated " + name.substring(4), text.getString(0));
      client.ok(cuDeviceGetName, text, 5, 0);
      assertEquals("Simu", text.getString(0));
      client.ok(cuDeviceGetPCIBusId, text, 64, 0);
      assertEquals("0000:01:00.0", text.getString(0));
    }
  }

  @Test
  void aTargetForFewDevicesNamesTheDeviceToo() {
    for (String name : new String[] {"sim:sm_90a", "sim:sm_100f", "sim:sm_120a", "sim:sm_120f"}) {
      try (Client client = Client.ready(name)) {
        int major = client.getInt(cuDeviceGetAttribute, 75, 0);
        assertEquals(name.replaceAll("[^0-9]", ""), major + "0");
      }
    }
    for (String name : new String[] {"sim:sm_90f", "sim:sm_89a", "sim:sm_80f"}) {
      assertThrows(IllegalArgumentException.class, () -> SimulatedDriver.of(name));
    }
  }

  @Test
  void devicesAreToldApart() {
    try (Client client = Client.ready("sim:sm_80,sim:sm_89")) {
      assertEquals(2, client.getInt(cuDeviceGetCount));
      assertEquals(1, client.getInt(cuDeviceGet, 1));
      client.fails(CuResult.INVALID_DEVICE, cuDeviceGet, client.slot(), 2);
      assertEquals(9, client.getInt(cuDeviceGetAttribute, 76, 1));
      MemorySegment first = client.arena.allocate(16);
      MemorySegment second = client.arena.allocate(16);
      client.ok(cuDeviceGetUuid_v2, first, 0);
      client.ok(cuDeviceGetUuid_v2, second, 1);
      assertNotEquals(-1, first.mismatch(second));
      assertEquals(0, client.getInt(cuDeviceCanAccessPeer, 0, 1));
      long other = client.retain(1);
      assertNotEquals(other, client.get(cuCtxGetCurrent));
      client.ok(cuCtxPushCurrent_v2, other);
      assertEquals(1, client.getInt(cuCtxGetDevice));
      assertEquals(other, client.get(cuCtxPopCurrent_v2));
      assertEquals(0, client.getInt(cuCtxGetDevice));
    }
  }

  @Test
  void contextsAreCounted() {
    try (Client client = Client.ready("sim:sm_80")) {
      long context = client.get(cuCtxGetCurrent);
      assertEquals(context, client.retain(0));
      assertArrayEquals(new int[] {0, 1}, state(client));
      client.ok(cuDevicePrimaryCtxRelease_v2, 0);
      assertArrayEquals(new int[] {0, 1}, state(client));
      client.ok(cuDevicePrimaryCtxRelease_v2, 0);
      assertArrayEquals(new int[] {0, 0}, state(client));
      client.fails(CuResult.CONTEXT_IS_DESTROYED, cuCtxSynchronize);
      client.fails(CuResult.INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2, 0);
      client.fails(CuResult.INVALID_CONTEXT, cuCtxSetCurrent, context);
      client.ok(cuDevicePrimaryCtxSetFlags_v2, 0, 4);
      client.fails(CuResult.INVALID_VALUE, cuDevicePrimaryCtxSetFlags_v2, 0, 3);
      assertArrayEquals(new int[] {4, 0}, state(client));
      assertEquals(List.of(), client.driver.leaks());
      client.ok(cuCtxSetCurrent, 0);
      client.fails(CuResult.INVALID_CONTEXT, cuCtxSynchronize);
      client.fails(CuResult.INVALID_CONTEXT, cuCtxPopCurrent_v2, 0);
      client.retain(0);
      client.ok(cuDevicePrimaryCtxReset_v2, 0);
      assertArrayEquals(new int[] {4, 0}, state(client));
    }
  }

  private static int[] state(Client client) {
    MemorySegment flags = client.slot();
    MemorySegment active = client.slot();
    client.ok(cuDevicePrimaryCtxGetState, 0, flags, active);
    return new int[] {flags.get(ValueLayout.JAVA_INT, 0), active.get(ValueLayout.JAVA_INT, 0)};
  }

  @Test
  void limitsAndPrioritiesAreKept() {
    try (Client client = Client.ready("sim:sm_80")) {
      assertEquals(1024, client.get(cuCtxGetLimit, 0));
      client.ok(cuCtxSetLimit, 0, 4096L);
      assertEquals(4096, client.get(cuCtxGetLimit, 0));
      client.fails(CuResult.UNSUPPORTED_LIMIT, cuCtxGetLimit, client.slot(), 3);
      client.fails(CuResult.INVALID_VALUE, cuCtxGetLimit, client.slot(), 99);
      MemorySegment least = client.slot();
      MemorySegment greatest = client.slot();
      client.ok(cuCtxGetStreamPriorityRange, least, greatest);
      assertEquals(-5, greatest.get(ValueLayout.JAVA_INT, 0));
      MemorySegment out = client.slot();
      client.ok(cuStreamCreateWithPriority, out, 1, -100);
      long stream = out.get(ValueLayout.JAVA_LONG, 0);
      client.ok(cuStreamGetPriority, stream, out);
      assertEquals(-5, out.get(ValueLayout.JAVA_INT, 0));
      client.ok(cuStreamGetFlags, stream, out);
      assertEquals(1, out.get(ValueLayout.JAVA_INT, 0));
      client.ok(cuProfilerStart);
      client.ok(cuProfilerStop);
    }
  }

  @Test
  void symbolsAreFoundByTheirNames() {
    try (Client client = Client.ready("sim:sm_80")) {
      MemorySegment out = client.slot();
      MemorySegment status = client.slot();
      client.ok(
          cuGetProcAddress_v2, client.arena.allocateFrom("cuMemAlloc"), out, 13000, 0L, status);
      long expected = client.driver.lookup().find("cuMemAlloc_v2").orElseThrow().address();
      assertEquals(expected, out.get(ValueLayout.JAVA_LONG, 0));
      client.fails(
          CuResult.NOT_FOUND,
          cuGetProcAddress_v2,
          client.arena.allocateFrom("cuNothing"),
          out,
          13000,
          0L,
          status);
      assertEquals(1, status.get(ValueLayout.JAVA_INT, 0));
      assertTrue(client.driver.lookup().find("cuNothing").isEmpty());
    }
  }

  @Test
  void unknownDevicesAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> SimulatedDriver.of("sim:sm_42"));
    assertThrows(IllegalArgumentException.class, () -> SimulatedDriver.of("cuda"));
    String message =
        assertThrows(IllegalArgumentException.class, () -> SimulatedDriver.of("sim:sm_99999999999"))
            .getMessage();
    for (String kind : SimulatedDriver.kinds()) {
      assertTrue(message.contains(kind), message);
    }
  }

  @Test
  void everyKindIsThere() {
    for (String kind : SimulatedDriver.kinds()) {
      try (SimulatedDriver driver = SimulatedDriver.of("sim:" + kind)) {
        assertTrue(driver.lookup().find("cuInit").isPresent(), kind);
      }
    }
  }
}
