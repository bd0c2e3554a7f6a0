package dev.minifloat.cuda.sim;

import static dev.minifloat.cuda.driver.DriverFunction.*;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.driver.CUhostFn;
import dev.minifloat.cuda.sim.internal.driver.CuResult;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Work runs when somebody waits for it, and not before. */
class LatenessTest {
  private static final int NON_BLOCKING = 1;

  private static long filled(Client client, int value) {
    return client.upload(client.ints(value, value));
  }

  @Test
  void nothingRunsBeforeItsStreamIsWaitedFor() {
    try (Client client = Client.ready("sim:sm_80")) {
      long data = filled(client, 1);
      client.ok(cuCtxSynchronize);
      long stream = client.stream(NON_BLOCKING);
      client.ok(cuMemsetD32Async, data, 2, 2L, stream);
      assertArrayEquals(new int[] {1, 1}, client.peek(data, 2));
      client.ok(cuStreamSynchronize, stream);
      assertArrayEquals(new int[] {2, 2}, client.peek(data, 2));
    }
  }

  @Test
  void pinnedMemoryIsReadLateAndPageableMemoryAtOnce() {
    try (Client client = Client.ready("sim:sm_80")) {
      long stream = client.stream(NON_BLOCKING);
      long fromPinned = client.alloc(4);
      long fromPageable = client.alloc(4);
      MemorySegment pinned = client.pinned(4);
      MemorySegment pageable = client.ints(5);
      pinned.set(ValueLayout.JAVA_INT, 0, 5);
      client.ok(cuMemcpyHtoDAsync_v2, fromPinned, pinned, 4L, stream);
      client.ok(cuMemcpyHtoDAsync_v2, fromPageable, pageable, 4L, stream);
      pinned.set(ValueLayout.JAVA_INT, 0, 6);
      pageable.set(ValueLayout.JAVA_INT, 0, 6);
      client.ok(cuStreamSynchronize, stream);
      assertEquals(6, client.peek(fromPinned, 1)[0]);
      assertEquals(5, client.peek(fromPageable, 1)[0]);
    }
  }

  @Test
  void pinnedMemoryIsWrittenLateAndPageableMemoryAtOnce() {
    try (Client client = Client.ready("sim:sm_80")) {
      long stream = client.stream(NON_BLOCKING);
      long data = filled(client, 7);
      client.ok(cuCtxSynchronize);
      MemorySegment pinned = client.pinned(4);
      pinned.set(ValueLayout.JAVA_INT, 0, 0);
      client.ok(cuMemcpyDtoHAsync_v2, pinned, data, 4L, stream);
      assertEquals(0, pinned.get(ValueLayout.JAVA_INT, 0));
      MemorySegment pageable = client.ints(0);
      client.ok(cuMemcpyDtoHAsync_v2, pageable, data, 4L, stream);
      assertEquals(7, pageable.get(ValueLayout.JAVA_INT, 0));
      assertEquals(7, pinned.get(ValueLayout.JAVA_INT, 0));
    }
  }

  @Test
  void aBlockingCopyWaitsForBlockingStreamsOnly() {
    try (Client client = Client.ready("sim:sm_80")) {
      long first = filled(client, 0);
      long second = filled(client, 0);
      client.ok(cuCtxSynchronize);
      client.ok(cuMemsetD32Async, first, 1, 2L, client.stream(0));
      client.ok(cuMemsetD32Async, second, 1, 2L, client.stream(NON_BLOCKING));
      MemorySegment out = client.ints(9, 9);
      client.ok(cuMemcpyDtoH_v2, out, first, 8L);
      assertEquals(1, out.get(ValueLayout.JAVA_INT, 0));
      client.ok(cuMemcpyDtoH_v2, out, second, 8L);
      assertEquals(0, out.get(ValueLayout.JAVA_INT, 0));
    }
  }

  @Test
  void aPerThreadStreamKeepsOrderWithTheDefaultStream() {
    try (Client client = Client.ready("sim:sm_80")) {
      long data = filled(client, 0);
      client.ok(cuMemsetD32Async, data, 1, 2L, 2L);
      client.ok(cuMemsetD32Async, data, 2, 1L, 1L);
      client.ok(cuStreamSynchronize, 1L);
      assertArrayEquals(new int[] {2, 1}, client.peek(data, 2));
    }
  }

  @Test
  void eventsOrderStreams() {
    try (Client client = Client.ready("sim:sm_80")) {
      long data = filled(client, 0);
      client.ok(cuCtxSynchronize);
      long first = client.stream(NON_BLOCKING);
      long second = client.stream(NON_BLOCKING);
      long event = client.event();
      client.ok(cuStreamWaitEvent, second, event, 0);
      client.ok(cuMemsetD32Async, data, 1, 2L, first);
      client.ok(cuEventRecord, event, first);
      client.ok(cuMemsetD32Async, data, 3, 1L, first);
      client.ok(cuStreamWaitEvent, second, event, 0);
      client.ok(cuMemsetD32Async, data + 4, 2, 1L, second);
      client.ok(cuStreamSynchronize, second);
      assertArrayEquals(new int[] {1, 2}, client.peek(data, 2));
      client.ok(cuStreamSynchronize, first);
      assertArrayEquals(new int[] {3, 2}, client.peek(data, 2));
    }
  }

  @Test
  void queriesMakeProgress() {
    try (Client client = Client.ready("sim:sm_80")) {
      long data = filled(client, 0);
      client.ok(cuCtxSynchronize);
      long stream = client.stream(NON_BLOCKING);
      long event = client.event();
      client.ok(cuStreamQuery, stream);
      client.ok(cuEventQuery, event);
      client.ok(cuMemsetD32Async, data, 1, 2L, stream);
      client.ok(cuEventRecordWithFlags, event, stream, 0);
      client.fails(CuResult.NOT_READY, cuEventQuery, event);
      client.fails(CuResult.NOT_READY, cuStreamQuery, stream);
      client.ok(cuStreamQuery, stream);
      client.ok(cuEventQuery, event);
      assertEquals(1, client.peek(data, 1)[0]);
    }
  }

  @Test
  void eventsMeasureTheSimulatedClock() {
    try (Client client = Client.ready("sim:sm_80")) {
      long data = filled(client, 0);
      long start = client.event();
      long end = client.event();
      MemorySegment out = client.slot();
      client.fails(CuResult.INVALID_HANDLE, cuEventElapsedTime_v2, out, start, end);
      client.ok(cuEventRecord, start, 0L);
      client.ok(cuMemsetD32Async, data, 1, 2L, 0L);
      client.ok(cuEventRecord, end, 0L);
      client.fails(CuResult.NOT_READY, cuEventElapsedTime_v2, out, start, end);
      client.ok(cuEventSynchronize, end);
      client.ok(cuEventElapsedTime_v2, out, start, end);
      assertTrue(out.get(ValueLayout.JAVA_FLOAT, 0) > 0);
      long untimed = client.get(cuEventCreate, 2);
      client.ok(cuEventRecord, untimed, 0L);
      client.ok(cuCtxSynchronize);
      client.fails(CuResult.INVALID_HANDLE, cuEventElapsedTime_v2, out, start, untimed);
      client.fails(CuResult.NOT_SUPPORTED, cuEventCreate, out, 6);
      client.ok(cuEventDestroy_v2, start);
      client.fails(CuResult.INVALID_HANDLE, cuEventDestroy_v2, start);
    }
  }

  @Test
  void destroyedStreamsFinishTheirWork() {
    try (Client client = Client.ready("sim:sm_80")) {
      long data = filled(client, 0);
      client.ok(cuCtxSynchronize);
      long stream = client.stream(NON_BLOCKING);
      client.ok(cuMemsetD32Async, data, 1, 2L, stream);
      client.ok(cuStreamDestroy_v2, stream);
      client.fails(CuResult.INVALID_HANDLE, cuStreamSynchronize, stream);
      assertEquals(0, client.peek(data, 1)[0]);
      client.ok(cuCtxSynchronize);
      assertEquals(1, client.peek(data, 1)[0]);
      assertEquals(0, client.driver.pendingWork());
    }
  }

  @Test
  void queuesHaveAnEnd() {
    try (Client client = Client.ready("sim:sm_80")) {
      long data = filled(client, 0);
      long stream = client.stream(NON_BLOCKING);
      for (int i = 0; i < 5000; i++) {
        client.ok(cuMemsetD32Async, data, i, 1L, stream);
      }
      assertEquals(4096 + 1, client.driver.pendingWork());
      client.ok(cuStreamSynchronize, stream);
      assertEquals(4999, client.peek(data, 1)[0]);
    }
  }

  @Test
  void freeingWaits() {
    try (Client client = Client.ready("sim:sm_80")) {
      long data = filled(client, 0);
      long other = client.alloc(4);
      client.ok(cuMemsetD32Async, data, 1, 2L, client.stream(NON_BLOCKING));
      client.ok(cuMemFree_v2, other);
      assertEquals(1, client.peek(data, 1)[0]);
    }
  }

  @Test
  void hostFunctionsRunInOrderAndMayNotCallTheDriver() {
    try (Client client = Client.ready("sim:sm_80");
        Arena arena = Arena.ofShared()) {
      long stream = client.stream(NON_BLOCKING);
      MemorySegment pinned = client.pinned(4);
      long data = filled(client, 3);
      client.ok(cuCtxSynchronize);
      List<Integer> seen = new ArrayList<>();
      AtomicReference<CuResult> within = new AtomicReference<>();
      MemorySegment function =
          CUhostFn.allocate(
              argument -> {
                seen.add(pinned.get(ValueLayout.JAVA_INT, 0));
                seen.add((int) argument.address());
                within.set(client.call(cuCtxSynchronize));
              },
              arena);
      client.ok(cuMemcpyDtoHAsync_v2, pinned, data, 4L, stream);
      client.ok(cuLaunchHostFunc, stream, function, 42L);
      assertEquals(List.of(), seen);
      client.ok(cuStreamSynchronize, stream);
      assertEquals(List.of(3, 42), seen);
      assertEquals(CuResult.NOT_PERMITTED, within.get());
      client.fails(CuResult.INVALID_VALUE, cuLaunchHostFunc, stream, 0L, 0L);
    }
  }

  @Test
  void aHostFunctionDoesNotHoldOtherStreamsUp() throws InterruptedException {
    try (Client client = Client.ready("sim:sm_80");
        Arena arena = Arena.ofShared()) {
      long waiting = client.stream(NON_BLOCKING);
      long other = client.stream(NON_BLOCKING);
      long data = filled(client, 0);
      CountDownLatch began = new CountDownLatch(1);
      CountDownLatch goOn = new CountDownLatch(1);
      MemorySegment function =
          CUhostFn.allocate(
              _ -> {
                began.countDown();
                try {
                  goOn.await();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              },
              arena);
      client.ok(cuLaunchHostFunc, waiting, function, 0L);
      AtomicReference<CuResult> result = new AtomicReference<>();
      long context = client.get(cuCtxGetCurrent);
      Thread thread =
          Thread.ofPlatform()
              .start(
                  () -> {
                    client.ok(cuCtxSetCurrent, context);
                    result.set(client.call(cuStreamSynchronize, waiting));
                  });
      began.await();
      client.ok(cuMemsetD32Async, data, 1, 2L, other);
      client.ok(cuStreamSynchronize, other);
      client.fails(CuResult.NOT_READY, cuStreamQuery, waiting);
      goOn.countDown();
      thread.join();
      assertEquals(CuResult.SUCCESS, result.get());
      client.ok(cuStreamSynchronize, waiting);
    }
  }
}
