package dev.minifloat.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.MinifloatException;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.reference.ReferenceBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class UnreadableMemoryTest {
  /** Memory that can't be read, on any system. */
  private static final class Faulty extends GatedBackend {
    @Override
    protected void upload(HostTensor source, Storage target) {
      throw new InternalError("a fault");
    }
  }

  @Test
  void anUploadThatFaultsSaysWhatMayHaveHappenedAndFreesItsMemory() {
    try (Faulty backend = new Faulty()) {
      HostTensor host = HostTensor.of(new float[12], 3, 4);
      String message =
          assertThrows(MinifloatException.class, () -> backend.upload(host)).getMessage();
      assertTrue(message.contains("F32 [3, 4]"), message);
      assertTrue(message.contains("a fault"), message);
      assertTrue(message.contains("truncated while mapped"), message);
      assertEquals(0, backend.liveTensors());
      assertEquals("freed", backend.events.getFirst());
    }
  }

  @Test
  void memoryOfAnotherThreadIsRefusedByName() throws InterruptedException {
    AtomicReference<HostTensor> foreign = new AtomicReference<>();
    CountDownLatch used = new CountDownLatch(1);
    CountDownLatch made = new CountDownLatch(1);
    Thread owner =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (Arena arena = Arena.ofConfined()) {
                    foreign.set(
                        HostTensor.allocate(arena, DType.F32, Shape.of(3), Scaling.none(), 1));
                    made.countDown();
                    used.await();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                });
    made.await();
    try (ReferenceBackend backend = new ReferenceBackend()) {
      String message =
          assertThrows(IllegalArgumentException.class, () -> backend.upload(foreign.get()))
              .getMessage();
      assertTrue(message.contains("host") && message.contains("another thread"), message);
      used.countDown();
      owner.join();
      message =
          assertThrows(IllegalStateException.class, () -> backend.upload(foreign.get()))
              .getMessage();
      assertTrue(message.contains("host") && message.contains("closed"), message);
      assertEquals(0, backend.liveTensors());
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX) // other systems refuse to truncate a mapped file
  void aFileThatWasTruncatedWhileMappedDoesNotEndTheProcess(@TempDir Path folder)
      throws IOException {
    Path file = Files.write(folder.resolve("mapped"), new byte[1 << 20]);
    try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        Arena arena = Arena.ofShared();
        ReferenceBackend backend = new ReferenceBackend()) {
      MemorySegment mapped = channel.map(MapMode.READ_ONLY, 0, 1 << 20, arena);
      HostTensor host = HostTensor.wrap(DType.F32, Shape.of(1 << 18), mapped);
      channel.truncate(0);
      assertThrows(MinifloatException.class, () -> backend.upload(host));
      assertEquals(0, backend.liveTensors());
    }
  }
}
