package dev.minifloat.cuda.internal.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One stream, used by many threads. */
class ThreadsTest {
  private static boolean work(
      Stream stream, DeviceAllocator allocator, Transfers transfers, Kernel kernel, int seed) {
    float[] values = new float[50 + seed % 13];
    try (Arena arena = Arena.ofConfined()) {
      for (int turn = 0; turn < 3; turn++) {
        java.util.Arrays.fill(values, seed);
        try (DeviceMemory x = allocator.allocate(4L * values.length)) {
          transfers.upload(MemorySegment.ofArray(values), x, 0);
          stream.launch(kernel, TestKernels.scale(arena, x, 2, turn));
          transfers.download(x, 0, MemorySegment.ofArray(values));
        }
        for (float value : values) {
          if (value != 2f * seed + turn) {
            return false;
          }
        }
      }
    }
    return true;
  }

  @Test
  @Timeout(120)
  void platformAndVirtualThreadsShareAStream() throws Exception {
    try (Simulated sim = Simulated.of("sim:sm_80");
        PrimaryContext context = sim.context();
        Stream stream = Stream.create(context);
        DeviceAllocator allocator = new DeviceAllocator(stream);
        Transfers transfers = new Transfers(stream, 512);
        PtxModule module = TestKernels.load(context, TestKernels.SCALE);
        ExecutorService virtual = Executors.newVirtualThreadPerTaskExecutor();
        ExecutorService platform = Executors.newFixedThreadPool(64)) {
      Kernel kernel = module.kernel(TestKernels.SCALE_ENTRY);
      List<Future<Boolean>> all = new ArrayList<>();
      for (int i = 0; i < 1064; i++) {
        int seed = i;
        Callable<Boolean> task = () -> work(stream, allocator, transfers, kernel, seed);
        all.add((i % 17 == 0 ? platform : virtual).submit(task));
      }
      for (Future<Boolean> one : all) {
        assertTrue(one.get());
      }
      assertEquals(0, allocator.heldBytes());
    }
  }
}
