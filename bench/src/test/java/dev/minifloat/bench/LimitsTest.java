package dev.minifloat.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class LimitsTest {
  @Test
  void aDotProductIsLimitedByTheCacheThatHoldsIt() {
    // 2 operations for each 8 bytes, 32 KiB in L1.
    assertEquals(250 / 4.0, Samples.LIMITS.of(new Workload.Dot(Format.F32, 4096)));
    // 512 KiB in L2.
    assertEquals(130 / 4.0, Samples.LIMITS.of(new Workload.Dot(Format.F32, 65536)));
    // 256 KiB in L2, 2 operations for each 4 bytes.
    assertEquals(130 / 2.0, Samples.LIMITS.of(new Workload.Dot(Format.BF16, 65536)));
  }

  @Test
  void aLargeProductIsLimitedByTheMultiplyAdds() {
    assertEquals(160, Samples.LIMITS.of(new Workload.Gemm(Format.BF16, 1024, 1024, 1024, 1)));
    assertEquals(320, Samples.LIMITS.of(new Workload.Gemm(Format.BF16, 1024, 1024, 1024, 2)));
  }

  @Test
  void weightsInMemoryAreLimitedByTheMemory() {
    assertEquals(30, Samples.LIMITS.of(new Workload.Gemv(Format.BF16, 12288, 16384, 2)));
  }

  @Test
  void theLoopOfLoadsReadsEveryByte() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(4096, 64);
      for (int at = 0; at < 4096; at += 4 * LimitLoops.LOADS) {
        memory.fill((byte) 0);
        // Lane 0 of a vector is what the loop returns.
        memory.set(ValueLayout.JAVA_INT, at / LimitLoops.BYTES * LimitLoops.BYTES, 1 << 7);
        assertEquals(1 << 7, LimitLoops.load(memory, 0, 4096));
      }
    }
  }

  @Test
  void theLoopOfCopiesCopies() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = arena.allocate(8192, 64);
      MemorySegment target = arena.allocate(8192, 64);
      byte[] bytes = new byte[8192];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = (byte) (i * 31);
      }
      MemorySegment.copy(bytes, 0, source, ValueLayout.JAVA_BYTE, 0, bytes.length);
      LimitLoops.copy(source, target, 4096, 4096);
      byte[] expected = bytes.clone();
      Arrays.fill(expected, 0, 4096, (byte) 0);
      assertEquals(-1, MemorySegment.ofArray(expected).mismatch(target));
    }
  }
}
