package dev.minifloat.cuda.internal.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.driver.DriverFunction;
import dev.minifloat.cuda.sim.SimulatedDriver;
import dev.minifloat.spi.Availability;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Opening drivers, and calls that need no context. */
class DriverTest {
  private static Availability.Reason refused(SymbolLookup lookup) {
    DriverUnavailableException e =
        assertThrows(DriverUnavailableException.class, () -> Driver.open(lookup, "libtest.so"));
    return e.why().reasons().getFirst();
  }

  @Test
  void devicesTellWhatTheyAre() {
    try (Simulated sim =
        Simulated.of(
            SimulatedDriver.builder()
                .device("sim:sm_80", 3 << 20)
                .device("sim:sm_89", 5 << 20)
                .build())) {
      assertEquals(13000, sim.driver().version());
      List<Device> devices = sim.driver().devices();
      assertEquals(2, devices.size());
      assertEquals(80, devices.get(0).capability());
      assertEquals(3 << 20, devices.get(0).memoryBytes());
      assertEquals(163 << 10, devices.get(0).sharedBytesPerBlock());
      assertEquals(108, devices.get(0).multiprocessors());
      assertTrue(devices.get(0).hasMemoryPools());
      assertEquals(89, devices.get(1).capability());
      assertEquals(1, devices.get(1).ordinal());
      assertEquals(32, devices.get(1).attribute(10), "threads of a warp");
      assertEquals("Simulated sm_89 (device 1 of the simulator, sm_89)", devices.get(1).toString());
    }
  }

  /** Stands for cuDeviceGetName, and leaves no room for the 0 that ends a name. */
  static int fill(MemorySegment name, int bytes, int device) {
    name.reinterpret(bytes).fill((byte) 'x');
    return Driver.SUCCESS;
  }

  @Test
  void aNameWithoutAnEndIsCut() throws Exception {
    MethodHandle fill =
        MethodHandles.lookup()
            .findStatic(
                DriverTest.class,
                "fill",
                MethodType.methodType(int.class, MemorySegment.class, int.class, int.class));
    try (SimulatedDriver simulator = SimulatedDriver.of("sim:sm_80");
        Arena arena = Arena.ofShared()) {
      MemorySegment stub =
          Linker.nativeLinker()
              .upcallStub(fill, DriverFunction.cuDeviceGetName.descriptor(), arena);
      SymbolLookup lookup =
          name ->
              name.equals("cuDeviceGetName") ? Optional.of(stub) : simulator.lookup().find(name);
      String name = Driver.open(lookup, "a driver").devices().getFirst().name();
      assertEquals("x".repeat(256), name);
    }
  }

  @Test
  void failuresNameFunctionArgumentsAndResult() {
    try (Simulated sim = Simulated.of("sim:sm_80");
        Arena arena = Arena.ofConfined()) {
      var out = arena.allocate(ValueLayout.JAVA_INT);
      CudaException e =
          assertThrows(
              CudaException.class, () -> sim.driver().call(DriverFunction.cuDeviceGet, out, 7));
      assertEquals("cuDeviceGet", e.function());
      assertEquals(101, e.result());
      assertEquals("CUDA_ERROR_INVALID_DEVICE", e.resultName());
      assertEquals(
          "cuDeviceGet(0x%x, 7) of the simulator failed with CUDA_ERROR_INVALID_DEVICE (101): invalid device ordinal"
              .formatted(out.address()),
          e.getMessage());
    }
  }

  @Test
  void resultsThatTheDriverDoesNotKnowAreNumbers() {
    try (Simulated sim = Simulated.of("sim:sm_80")) {
      sim.simulator().faults().failCall("cuDriverGetVersion", 1, 12345);
      CudaException e = assertThrows(CudaException.class, () -> sim.driver().version());
      assertTrue(e.getMessage().endsWith("failed with unknown (12345): unknown"), e.getMessage());
    }
  }

  @Test
  void functionsThatAnOlderDriverLacksAreNamed() {
    try (Simulated sim = Simulated.without(SimulatedDriver.of("sim:sm_80"), "cuDeviceGetUuid_v2")) {
      CudaException e =
          assertThrows(
              CudaException.class, () -> sim.driver().bind(DriverFunction.cuDeviceGetUuid_v2));
      assertEquals("CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", e.resultName());
      assertTrue(e.getMessage().startsWith("cuDeviceGetUuid_v2() of an older simulator"));
    }
  }

  @Test
  void argumentsOfTheWrongTypeAreTheCallersFault() {
    try (Simulated sim = Simulated.of("sim:sm_80")) {
      assertThrows(
          ClassCastException.class, () -> sim.driver().call(DriverFunction.cuInit, "zero"));
      assertThrows(
          IllegalArgumentException.class, () -> sim.driver().call(DriverFunction.cuInit, 0, 0));
    }
  }

  @Test
  void absentLibraryIsAReason() {
    Availability.Reason reason =
        assertThrows(
                DriverUnavailableException.class,
                () -> DriverLibrary.library("libminifloat-is-no-driver.so.1"))
            .why()
            .reasons()
            .getFirst();
    assertEquals(
        "libminifloat-is-no-driver.so.1 was not found: there is no NVIDIA driver here",
        reason.what());
    assertTrue(reason.remedy().contains("cuda-sim:sm_89"), reason.remedy());
  }

  @Test
  void librariesThatAreNoDriverAreAReason() {
    assertEquals(
        "libtest.so has no function cuInit: it is no CUDA driver",
        refused(_ -> Optional.empty()).what());
  }

  @Test
  void oldDriversAreAReason() {
    try (SimulatedDriver old = SimulatedDriver.builder().driverVersion(10020).build()) {
      Availability.Reason reason = refused(old.lookup());
      assertEquals("libtest.so supports CUDA 10.2 only", reason.what());
      assertEquals("install a driver that supports CUDA 11.0 or newer", reason.remedy());
    }
  }

  @Test
  void driversThatDoNotStartAreAReason() {
    try (SimulatedDriver broken = SimulatedDriver.of("sim:sm_80")) {
      broken.faults().failCall("cuInit", 1, 803);
      Availability.Reason reason = refused(broken.lookup());
      assertTrue(reason.what().contains("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"), reason.what());
      assertTrue(reason.remedy().contains("restart"), reason.remedy());
    }
  }

  @Test
  void driversWithoutDevicesAreAReason() {
    try (SimulatedDriver empty = SimulatedDriver.builder().noDevices().build()) {
      Availability.Reason reason = refused(empty.lookup());
      assertTrue(reason.remedy().contains("make a GPU visible"), reason.toString());
    }
  }
}
