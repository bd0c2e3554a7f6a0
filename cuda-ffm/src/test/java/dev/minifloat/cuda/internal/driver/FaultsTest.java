package dev.minifloat.cuda.internal.driver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.sim.FaultInjector;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Every call that a program makes, failing once. */
class FaultsTest {
  private static final int OPERATING_SYSTEM = 304;

  /** Uses everything, and returns 1, 3, 5, …, 79. */
  private static float[] program(Simulated sim) {
    float[] values = new float[40];
    for (int i = 0; i < values.length; i++) {
      values[i] = i;
    }
    try (PrimaryContext context = sim.context();
        Stream stream = Stream.create(context);
        Stream other = Stream.create(context);
        DeviceAllocator allocator = new DeviceAllocator(stream);
        Transfers transfers = new Transfers(stream, 64);
        Event start = Event.timed(context);
        Event end = Event.timed(context);
        PtxModule module = TestKernels.load(context, TestKernels.SCALE);
        Arena arena = Arena.ofConfined();
        DeviceMemory x = allocator.allocate(4L * values.length);
        DeviceMemory y = allocator.allocate(4L * values.length)) {
      Kernel kernel = module.kernel(TestKernels.SCALE_ENTRY);
      stream.record(start);
      transfers.upload(MemorySegment.ofArray(values), x, 0);
      stream.launch(kernel, TestKernels.scale(arena, x, 2, 0));
      stream.copy(x, 0, y, 0, y.byteSize());
      stream.fill(x, 0, x.byteSize(), (byte) 0);
      stream.fillWords(x, 0, 1, 1);
      try (Graph graph =
          Graph.record(
              context, record -> record.launch(kernel, TestKernels.scale(arena, y, 1, 1)))) {
        stream.launch(graph);
      }
      stream.record(end);
      other.waitFor(end);
      other.synchronize();
      end.isDone();
      end.millisecondsSince(start);
      stream.isIdle();
      context.memory();
      context.synchronize();
      allocator.trim();
      float[] out = new float[values.length];
      transfers.download(y, 0, MemorySegment.ofArray(out));
      return out;
    }
  }

  private static float[] odd() {
    float[] odd = new float[40];
    for (int i = 0; i < odd.length; i++) {
      odd[i] = 2 * i + 1;
    }
    return odd;
  }

  @Test
  void everyFailureIsToldAndLeavesNothing() {
    try (Simulated sim = Simulated.of("sim:sm_80")) {
      FaultInjector faults = sim.simulator().faults();
      faults.record(true);
      assertArrayEquals(odd(), program(sim));
      List<String> calls = faults.calls();
      faults.record(false);
      for (int n = 1; n <= calls.size(); n++) {
        String what = "call " + n + ", " + calls.get(n - 1);
        faults.failCall(n, OPERATING_SYSTEM);
        CudaException e = assertThrows(CudaException.class, () -> program(sim), what);
        assertEquals(calls.get(n - 1), e.function(), what + ": " + e.getMessage());
        assertEquals(OPERATING_SYSTEM, e.result(), what);
        assertEquals(List.of(), sim.simulator().leaks(), what);
      }
      assertArrayEquals(odd(), program(sim), "the driver is as good as before");
      assertTrue(Set.copyOf(calls).size() >= 30, "functions called: " + Set.copyOf(calls));
    }
  }

  @Test
  void memoryThatRunsOutOnceIsFoundByTrimming() {
    try (Simulated sim = Simulated.of("sim:sm_80")) {
      sim.simulator().faults().failCall("cuMemAllocFromPoolAsync", 2, 2);
      assertArrayEquals(odd(), program(sim));
      assertEquals(2, sim.simulator().faults().count("cuMemPoolTrimTo"));
    }
  }
}
