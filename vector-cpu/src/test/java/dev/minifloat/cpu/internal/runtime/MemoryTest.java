package dev.minifloat.cpu.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.DType;
import dev.minifloat.MinifloatException;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.spi.HostStorage;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class MemoryTest {
  @Test
  void blocksAreAlignedAndLargeEnough() {
    try (Memory memory = new Memory()) {
      for (long bytes : new long[] {0, 1, 63, 1024, 1025, 5000, 65_537, 1 << 20, (1 << 20) + 1}) {
        try (Memory.Block block = memory.take(bytes)) {
          assertEquals(0, block.segment().address() % 64);
          assertTrue(block.segment().byteSize() >= bytes);
          assertTrue(block.segment().byteSize() <= Math.max(1024, bytes + bytes / 4 + 1));
        }
      }
    }
  }

  @Test
  void aReturnedBlockIsUsedAgain() {
    try (Memory memory = new Memory()) {
      long address;
      try (Memory.Block block = memory.take(5000)) {
        address = block.segment().address();
        assertEquals(block.segment().byteSize(), memory.usedBytes());
      }
      assertEquals(0, memory.usedBytes());
      assertTrue(memory.freeBytes() >= 5000);
      try (Memory.Block block = memory.take(5000);
          Memory.Block other = memory.take(5000)) {
        assertEquals(address, block.segment().address());
        assertNotEquals(address, other.segment().address());
      }
    }
  }

  @Test
  void everySizeClassKeepsItsOwnBlocks() {
    try (Memory memory = new Memory()) {
      for (long bytes = 1024; bytes <= 1 << 20; bytes = Memory.sizeClass(bytes + 1)) {
        assertEquals(bytes, Memory.sizeClass(bytes));
        memory.take(bytes).close();
      }
      for (long bytes = 1024; bytes <= 1 << 20; bytes = Memory.sizeClass(bytes + 1)) {
        try (Memory.Block block = memory.take(bytes)) {
          assertEquals(bytes, block.segment().byteSize());
        }
      }
    }
  }

  @Test
  void aRefusalNamesTheSizeAndCountsOnlyWhatIsTaken() {
    try (Memory memory = new Memory();
        Memory.Block taken = memory.take(5000)) {
      String used = " with " + taken.segment().byteSize() + " in use";
      for (long bytes : new long[] {1L << 46, 1L << 60, (1L << 60) + 1, Long.MAX_VALUE}) {
        String message =
            assertThrows(MinifloatException.class, () -> memory.take(bytes)).getMessage();
        assertTrue(message.contains(bytes + " bytes"), message);
        assertTrue(message.contains(used), message);
      }
      assertEquals(taken.segment().byteSize(), memory.usedBytes());
      Shape shape = Shape.of(Long.MAX_VALUE / 4);
      assertThrows(
          MinifloatException.class, () -> memory.allocate(DType.F32, shape, Scaling.none()));
      assertThrows(MinifloatException.class, () -> memory.allocate(DType.I8, shape, Scaling.mx()));
    }
  }

  @Test
  void closingABlockTwiceReturnsItOnce() {
    try (Memory memory = new Memory()) {
      Memory.Block block = memory.take(100);
      block.close();
      block.close();
      assertEquals(0, memory.usedBytes());
      assertEquals(1024, memory.freeBytes());
    }
  }

  @Test
  void freeBlocksBeyondTheCapGoBackToTheSystem() {
    try (Memory memory = new Memory(10_000)) {
      Memory.Block large = memory.take(8192);
      Memory.Block small = memory.take(4096);
      MemorySegment gone = large.segment();
      large.close();
      assertEquals(8192, memory.freeBytes());
      small.close();
      assertEquals(4096, memory.freeBytes());
      assertThrows(IllegalStateException.class, () -> gone.get(ValueLayout.JAVA_BYTE, 0));
    }
  }

  @Test
  void closingFreesEverythingAndWhatComesBackLater() {
    Memory memory = new Memory();
    Memory.Block kept = memory.take(2000);
    MemorySegment returned;
    try (Memory.Block block = memory.take(3000)) {
      returned = block.segment();
    }
    memory.close();
    memory.close();
    assertEquals(0, memory.freeBytes());
    assertFalse(returned.scope().isAlive());
    assertTrue(kept.segment().scope().isAlive());
    kept.close();
    assertFalse(kept.segment().scope().isAlive());
    assertEquals(0, memory.usedBytes());
  }

  @Test
  void aRequestThatCannotBeMetSaysHowMuchAndWhatToDo() {
    try (Memory memory = new Memory()) {
      memory.take(4096).close();
      MinifloatException refused =
          assertThrows(MinifloatException.class, () -> memory.take(1L << 50));
      assertTrue(refused.getMessage().contains(Long.toString(1L << 50)), refused.getMessage());
      assertTrue(refused.getMessage().contains("close tensors"), refused.getMessage());
      assertEquals(0, memory.usedBytes());
      // What was kept for later was given up first.
      assertEquals(0, memory.freeBytes());
    }
  }

  @Test
  void aTensorsScalesLieBehindItsElements() {
    try (Memory memory = new Memory()) {
      HostStorage storage = memory.allocate(DType.F4_E2M1, Shape.of(3, 33), Scaling.nvfp4());
      assertEquals(50, storage.data().byteSize());
      assertEquals(9, storage.scales().byteSize());
      long gap = storage.scales().address() - storage.data().address() - storage.data().byteSize();
      assertTrue(gap >= 64);
      assertEquals(0, storage.scales().address() % 64);
      storage.close();
      assertEquals(0, memory.usedBytes());
    }
  }

  @Test
  void bitsBehindTheLastElementAreZero() {
    try (Memory memory = new Memory()) {
      try (Memory.Block dirty = memory.take(200)) {
        dirty.segment().fill((byte) 0xFF);
      }
      HostStorage storage = memory.allocate(DType.I4, Shape.of(3), Scaling.none());
      assertEquals(0, storage.data().get(ValueLayout.JAVA_BYTE, 1));
      storage.close();
    }
  }
}
