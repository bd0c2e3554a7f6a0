package dev.minifloat.cuda.internal.driver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.sim.SimulatedDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory of the device, page-locked memory, and copies between device and host. */
class MemoryTest {
  private static final int BUFFER = 256;

  private static SimulatedDriver small() {
    return SimulatedDriver.builder().device("sim:sm_80", 1 << 20).build();
  }

  private interface Work {
    void run(Simulated sim, Stream stream, DeviceAllocator allocator);
  }

  private static void with(Simulated simulated, Work work) {
    try (Simulated sim = simulated;
        PrimaryContext context = sim.context();
        Stream stream = Stream.create(context);
        DeviceAllocator allocator = new DeviceAllocator(stream)) {
      work.run(sim, stream, allocator);
    }
  }

  @Test
  void nothingHasAnAddressToo() {
    with(
        Simulated.of(small()),
        (_, stream, allocator) -> {
          try (DeviceMemory none = allocator.allocate(0);
              DeviceMemory one = allocator.allocate(1)) {
            assertNotEquals(0, none.address());
            assertEquals(0, none.byteSize());
            assertEquals(0, one.address() % 256);
            assertEquals(1, allocator.heldBytes());
            stream.fill(none, 0, 0, (byte) 0);
          }
          assertEquals(0, allocator.heldBytes());
          assertThrows(IllegalArgumentException.class, () -> allocator.allocate(-1));
        });
  }

  @Test
  void closedMemoryHasNoAddress() {
    with(
        Simulated.of(small()),
        (_, _, allocator) -> {
          DeviceMemory memory = allocator.allocate(8);
          memory.close();
          memory.close();
          assertThrows(IllegalStateException.class, memory::address);
          assertEquals(0, allocator.heldBytes());
        });
  }

  @Test
  void freeingAndAllocatingWaitForNothing() {
    with(
        Simulated.of(small()),
        (sim, stream, allocator) -> {
          for (int i = 0; i < 50; i++) {
            try (DeviceMemory memory = allocator.allocate(10_000)) {
              stream.fill(memory, 0, 10_000, (byte) i);
            }
          }
          assertTrue(sim.simulator().pendingWork() >= 50);
        });
  }

  @Test
  void whatWasFreedServesWhenMemoryRunsOut() {
    with(
        Simulated.of(small()),
        (sim, stream, allocator) -> {
          for (int i = 0; i < 10; i++) {
            try (DeviceMemory memory = allocator.allocate(700_000)) {
              stream.fill(memory, 0, 700_000, (byte) i);
            }
          }
          // Held by the pool, and yet free for others once asked for.
          allocator.trim();
          assertTrue(stream.context().memory().free() > 900_000);
          assertEquals(0, sim.simulator().pendingWork());
        });
  }

  @Test
  void outOfMemoryTellsWhatIsWantedFreeAndHeld() {
    with(
        Simulated.of(small()),
        (_, _, allocator) -> {
          try (DeviceMemory half = allocator.allocate(600_000)) {
            CudaException e = assertThrows(CudaException.class, () -> allocator.allocate(500_000));
            assertEquals("CUDA_ERROR_OUT_OF_MEMORY", e.resultName());
            assertTrue(e.getMessage().contains("; 500000 bytes were wanted, "), e.getMessage());
            assertTrue(e.getMessage().contains(" of the 1048576 bytes of Simulated sm_80"));
            assertTrue(e.getMessage().contains(", and 600000 are held by tensors here"));
            assertEquals(600_000, allocator.heldBytes());
            assertEquals(600_000, half.byteSize());
          }
          allocator.allocate(1_000_000).close();
        });
  }

  @Test
  void devicesWithoutPoolsAllocateAllTheSame() {
    with(
        Simulated.without(small(), "cuMemPoolCreate"),
        (_, stream, allocator) -> {
          assertEquals(false, stream.context().device().hasMemoryPools());
          try (Transfers transfers = new Transfers(stream, BUFFER);
              DeviceMemory memory = allocator.allocate(1000)) {
            stream.fill(memory, 0, 1000, (byte) 7);
            byte[] bytes = new byte[1000];
            transfers.download(memory, 0, MemorySegment.ofArray(bytes));
            assertEquals(7, bytes[999]);
            CudaException e = assertThrows(CudaException.class, () -> allocator.allocate(1 << 20));
            assertEquals("cuMemAlloc_v2", e.function());
            assertTrue(e.getMessage().contains("and 1000 are held"), e.getMessage());
          }
        });
  }

  @Test
  void memoryOutlivesWhatItCameFrom() {
    try (Simulated sim = Simulated.of(small())) {
      PrimaryContext context = sim.context();
      Stream stream = Stream.create(context);
      DeviceAllocator allocator = new DeviceAllocator(stream);
      DeviceMemory memory = allocator.allocate(64);
      stream.fill(memory, 0, 64, (byte) 1);
      allocator.close();
      stream.close();
      context.close();
      assertNotEquals(0, memory.address());
      memory.close();
      sim.requireNoLeaks();
      assertThrows(IllegalStateException.class, () -> allocator.allocate(1));
    }
  }

  @Test
  void pageLockedMemoryEndsWithItsClose() {
    with(
        Simulated.of(small()),
        (_, stream, _) -> {
          PinnedMemory pinned = PinnedMemory.allocate(stream.context(), 10);
          MemorySegment segment = pinned.segment();
          segment.set(ValueLayout.JAVA_BYTE, 9, (byte) 1);
          assertEquals(10, segment.byteSize());
          pinned.close();
          pinned.close();
          assertThrows(IllegalStateException.class, () -> segment.get(ValueLayout.JAVA_BYTE, 9));
          assertThrows(
              IllegalArgumentException.class, () -> PinnedMemory.allocate(stream.context(), 0));
        });
  }

  @ParameterizedTest
  @ValueSource(
      ints = {0, 1, 63, 64, 65, BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER, 7 * BUFFER + 13})
  void transfersKeepEveryByte(int bytes) {
    with(
        Simulated.of(small()),
        (_, stream, allocator) -> {
          byte[] source = new byte[bytes];
          new Random(bytes).nextBytes(source);
          try (Transfers transfers = new Transfers(stream, BUFFER);
              Arena arena = Arena.ofConfined();
              DeviceMemory memory = allocator.allocate(bytes + 10)) {
            stream.fill(memory, 0, bytes + 10, (byte) 0x55);
            byte[] passing = source.clone();
            transfers.upload(MemorySegment.ofArray(passing), memory, 3);
            java.util.Arrays.fill(passing, (byte) -1);
            byte[] back = new byte[bytes];
            transfers.download(memory, 3, MemorySegment.ofArray(back));
            assertArrayEquals(source, back);
            MemorySegment all = arena.allocate(bytes + 10);
            transfers.download(memory, 0, all);
            assertEquals(0x55, all.get(ValueLayout.JAVA_BYTE, 2));
            assertEquals(0x55, all.get(ValueLayout.JAVA_BYTE, bytes + 3));
          }
        });
  }

  @Test
  void manySmallUploadsShareBuffersAndLoseNothing() {
    with(
        Simulated.of(small()),
        (sim, stream, allocator) -> {
          List<DeviceMemory> all = new ArrayList<>();
          try (Transfers transfers = new Transfers(stream, BUFFER)) {
            int[] source = new int[1];
            for (int i = 0; i < 100; i++) {
              DeviceMemory memory = allocator.allocate(4);
              all.add(memory);
              source[0] = i * 7;
              transfers.upload(MemorySegment.ofArray(source), memory, 0);
            }
            assertEquals(4, sim.simulator().faults().count("cuMemHostAlloc"));
            for (int i = 0; i < 100; i++) {
              transfers.download(all.get(i), 0, MemorySegment.ofArray(source));
              assertEquals(i * 7, source[0]);
            }
            assertThrows(
                IllegalArgumentException.class,
                () -> transfers.upload(MemorySegment.ofArray(source), all.getFirst(), 1));
          }
          Closing.all(all);
        });
  }

  @Test
  void transfersEnd() {
    with(
        Simulated.of(small()),
        (_, stream, allocator) -> {
          try (DeviceMemory memory = allocator.allocate(4)) {
            Transfers transfers = new Transfers(stream, BUFFER);
            transfers.upload(MemorySegment.ofArray(new int[1]), memory, 0);
            transfers.close();
            transfers.close();
            assertThrows(
                IllegalStateException.class,
                () -> transfers.upload(MemorySegment.ofArray(new int[1]), memory, 0));
            assertThrows(
                IllegalStateException.class,
                () -> transfers.download(memory, 0, MemorySegment.ofArray(new int[1])));
          }
        });
  }
}
