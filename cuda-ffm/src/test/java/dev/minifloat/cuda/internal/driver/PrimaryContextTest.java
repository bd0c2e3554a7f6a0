package dev.minifloat.cuda.internal.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.driver.DriverFunction;
import dev.minifloat.cuda.sim.SimulatedDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Contexts: current where they are used, alive while they are needed. */
class PrimaryContextTest {
  private static SimulatedDriver two() {
    return SimulatedDriver.builder()
        .device("sim:sm_80", 1 << 20)
        .device("sim:sm_89", 2 << 20)
        .build();
  }

  private static MemorySegment current(Driver driver) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
      driver.call(DriverFunction.cuCtxGetCurrent, out);
      return out.get(ValueLayout.ADDRESS, 0);
    }
  }

  @Test
  void callsLeaveTheThreadsContextAsItWas() {
    try (Simulated sim = Simulated.of(two());
        PrimaryContext first = PrimaryContext.retain(sim.driver().devices().get(0));
        PrimaryContext second = PrimaryContext.retain(sim.driver().devices().get(1))) {
      assertEquals(1 << 20, first.memory().total());
      assertEquals(MemorySegment.NULL, current(sim.driver()));
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
        sim.driver().call(DriverFunction.cuDevicePrimaryCtxRetain, out, second.device().handle());
        MemorySegment mine = out.get(ValueLayout.ADDRESS, 0);
        sim.driver().call(DriverFunction.cuCtxSetCurrent, mine);
        assertEquals(1 << 20, first.memory().total());
        assertEquals(mine, current(sim.driver()));
        assertThrows(
            CudaException.class, () -> first.call(DriverFunction.cuMemFree_v2, 0xDEAD_0000L));
        assertEquals(mine, current(sim.driver()));
        sim.driver().call(DriverFunction.cuCtxSetCurrent, MemorySegment.NULL);
        sim.driver().call(DriverFunction.cuDevicePrimaryCtxRelease_v2, second.device().handle());
      }
    }
  }

  @Test
  void everyThreadUsesTheContextItMeans() throws Exception {
    try (Simulated sim = Simulated.of(two());
        PrimaryContext first = PrimaryContext.retain(sim.driver().devices().get(0));
        PrimaryContext second = PrimaryContext.retain(sim.driver().devices().get(1));
        ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor();
        ExecutorService platform = Executors.newFixedThreadPool(16)) {
      List<Future<Boolean>> all = new ArrayList<>();
      for (int i = 0; i < 600; i++) {
        PrimaryContext one = i % 2 == 0 ? first : second;
        long expected = i % 2 == 0 ? 1 << 20 : 2 << 20;
        all.add(
            (i % 3 == 0 ? platform : virtual)
                .submit(
                    () -> {
                      for (int turn = 0; turn < 20; turn++) {
                        if (one.memory().total() != expected) {
                          return false;
                        }
                        LockSupport.parkNanos(1);
                      }
                      return true;
                    }));
      }
      for (Future<Boolean> one : all) {
        assertTrue(one.get());
      }
    }
  }

  @Test
  void itLivesAsLongAsWhatWasMadeInIt() {
    try (Simulated sim = Simulated.of("sim:sm_80")) {
      PrimaryContext context = sim.context();
      Stream stream = Stream.create(context);
      Event event = Event.untimed(context);
      context.close();
      context.close();
      stream.record(event);
      assertThrows(IllegalStateException.class, () -> Stream.create(context));
      stream.close();
      assertFalse(sim.simulator().leaks().isEmpty());
      event.close();
      sim.requireNoLeaks();
      assertThrows(IllegalStateException.class, context::synchronize);
      assertThrows(IllegalStateException.class, context::memory);
    }
  }

  @Test
  void closedThingsAreRefused() {
    try (Simulated sim = Simulated.of("sim:sm_80");
        PrimaryContext context = sim.context()) {
      Stream stream = Stream.create(context);
      Event event = Event.untimed(context);
      event.close();
      event.close();
      IllegalStateException e =
          assertThrows(IllegalStateException.class, () -> stream.record(event));
      assertEquals("the event is closed", e.getMessage());
      stream.close();
      assertEquals(
          "the stream is closed",
          assertThrows(IllegalStateException.class, stream::synchronize).getMessage());
      assertThrows(IllegalStateException.class, event::isDone);
    }
  }

  @Test
  void aContextThatCannotBeMadeCurrentIsNamed() {
    try (Simulated sim = Simulated.of("sim:sm_80");
        PrimaryContext context = sim.context()) {
      sim.simulator().faults().failCall("cuCtxPushCurrent_v2", 1, 304);
      CudaException push = assertThrows(CudaException.class, context::memory);
      assertEquals("cuCtxPushCurrent_v2", push.function());
      sim.simulator().faults().failCall("cuCtxPopCurrent_v2", 1, 304);
      CudaException pop = assertThrows(CudaException.class, context::memory);
      assertEquals("cuCtxPopCurrent_v2", pop.function());
      assertEquals(MemorySegment.NULL, current(sim.driver()), "the thread kept the context");
      assertTrue(context.memory().free() > 0);
    }
  }

  @Test
  void whatStoppedTheDeviceIsToldAgain() {
    try (Simulated sim = Simulated.of("sim:sm_80");
        Arena arena = Arena.ofConfined()) {
      PrimaryContext context = sim.context();
      Stream stream = Stream.create(context);
      Event event = Event.untimed(context);
      DeviceAllocator allocator = new DeviceAllocator(stream);
      DeviceMemory memory = allocator.allocate(64);
      PtxModule module = TestKernels.load(context, TestKernels.STRAY);
      stream.launch(module.kernel(TestKernels.STRAY_ENTRY), TestKernels.stray(arena));
      CudaException first = assertThrows(CudaException.class, stream::synchronize);
      assertEquals("CUDA_ERROR_ILLEGAL_ADDRESS", first.resultName());
      assertTrue(
          first.getMessage().endsWith("since the last wait the stream was given stray"),
          first.getMessage());
      assertTrue(sim.simulator().lastTrap().orElseThrow().contains("stray"));
      CudaException second = assertThrows(CudaException.class, () -> Stream.create(context));
      assertTrue(second.getMessage().startsWith("cuStreamCreate("), second.getMessage());
      assertTrue(
          second.getMessage().contains("; the device stopped earlier: cuStreamSynchronize("),
          second.getMessage());
      // Nothing of it can be used any more, and yet all of it can be closed.
      Closing.all(List.of(module, memory, allocator, event, stream, context));
      sim.requireNoLeaks();
    }
  }
}
