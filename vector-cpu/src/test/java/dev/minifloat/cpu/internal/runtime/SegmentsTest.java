package dev.minifloat.cpu.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class SegmentsTest {
  @Test
  void nativeMemoryPassesFromEveryArena() {
    try (Memory memory = new Memory();
        Memory.Block block = memory.take(100);
        Arena confined = Arena.ofConfined()) {
      MemorySegment slice = block.segment().asSlice(8, 16);
      assertSame(block.segment(), Segments.exact(block.segment()));
      assertSame(slice, Segments.exact(slice));
      MemorySegment other = confined.allocate(10);
      assertSame(other, Segments.exact(other));
    }
  }

  @Test
  void anArrayIsRefused() {
    MemorySegment array = MemorySegment.ofArray(new float[4]);
    assertThrows(IllegalArgumentException.class, () -> Segments.exact(array));
  }
}
