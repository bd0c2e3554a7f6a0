package dev.minifloat.cuda.sim;

import static dev.minifloat.cuda.driver.DriverFunction.*;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.cuda.sim.internal.driver.CuResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Contexts belong to threads of the operating system, and many threads may call at once. */
class ThreadsTest {
  @Test
  void aNewThreadHasNoContext() throws InterruptedException {
    try (Client client = Client.ready("sim:sm_80")) {
      long stream = client.stream(1);
      List<CuResult> told = new ArrayList<>();
      Thread thread =
          Thread.ofPlatform()
              .start(
                  () -> {
                    told.add(client.call(cuCtxSynchronize));
                    told.add(client.call(cuStreamSynchronize, stream));
                  });
      thread.join();
      assertEquals(List.of(CuResult.INVALID_CONTEXT, CuResult.INVALID_CONTEXT), told);
    }
  }

  @Test
  void aVirtualThreadSeesItsCarriersContext() throws InterruptedException {
    try (Client client = Client.ready("sim:sm_80")) {
      long context = client.get(cuCtxGetCurrent);
      List<CuResult> told = new ArrayList<>();
      Thread virtual =
          Thread.ofVirtual()
              .start(
                  () -> {
                    told.add(client.call(cuCtxSetCurrent, context));
                    told.add(client.call(cuCtxSynchronize));
                    told.add(client.call(cuCtxSetCurrent, 0L));
                    told.add(client.call(cuCtxSynchronize));
                  });
      virtual.join();
      // Between two calls it may have gone to another carrier; without any wait it stays.
      assertEquals(CuResult.SUCCESS, told.getFirst());
      assertEquals(CuResult.INVALID_CONTEXT, told.getLast());
    }
  }

  private static void work(Client client, long context, long add) {
    client.ok(cuCtxSetCurrent, context);
    long stream = client.stream(1);
    long a = client.get(cuMemAllocAsync, 256L, stream);
    long b = client.get(cuMemAllocAsync, 256L, stream);
    client.ok(cuMemsetD32Async, a, 40, 64L, stream);
    client.ok(cuMemsetD32Async, b, 2, 64L, stream);
    assertEquals(CuResult.SUCCESS, client.launch(add, 2, 32, 0, stream, a, b, b, 64));
    client.ok(cuStreamSynchronize, stream);
    int[] expected = new int[64];
    java.util.Arrays.fill(expected, 42);
    assertArrayEquals(expected, client.peek(b, 64));
    client.ok(cuMemFreeAsync, a, stream);
    client.ok(cuMemFreeAsync, b, stream);
    client.ok(cuStreamDestroy_v2, stream);
  }

  @Test
  void sixtyFourThreadsWorkAtOnce() throws InterruptedException, ExecutionException {
    try (Client client = Client.ready("sim:sm_80");
        ExecutorService threads = Executors.newFixedThreadPool(64)) {
      long context = client.get(cuCtxGetCurrent);
      long module = client.module(Ptx.ADD);
      long add = client.function(module, "add");
      List<Future<?>> results = new ArrayList<>();
      for (int i = 0; i < 256; i++) {
        results.add(threads.submit(() -> work(client, context, add)));
      }
      for (Future<?> result : results) {
        result.get();
      }
      client.ok(cuModuleUnload, module);
      client.ok(cuDevicePrimaryCtxRelease_v2, 0);
      assertEquals(List.of(), client.driver.leaks());
    }
  }
}
