package dev.minifloat.cpu.internal.math;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.codec.PackedElements;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnglesTest {
  @ParameterizedTest
  @ValueSource(
      doubles = {0, 1, 2, 3, 17, 1000, 100_003, Integer.MAX_VALUE, Integer.MIN_VALUE, 0x1p49, 1e30})
  void cosinesAndSinesAreRoundedFromDouble(double position) {
    double[] frequencies = new double[Angles.padded(131)];
    for (int i = 0; i < frequencies.length; i++) {
      frequencies[i] = Math.pow(10_000, -i / 131.0);
    }
    long sines = 4L * frequencies.length;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment table = arena.allocate(2 * sines);
      Angles.fill(position, frequencies, table, 0, sines);
      for (int i = 0; i < frequencies.length; i++) {
        double angle = position * frequencies[i];
        assertEquals(Math.cos(angle), table.get(PackedElements.FLOAT, 4L * i), 0x1p-24);
        assertEquals(Math.sin(angle), table.get(PackedElements.FLOAT, sines + 4L * i), 0x1p-24);
      }
    }
  }
}
