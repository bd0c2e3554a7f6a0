package dev.minifloat.cpu.internal.convert;

import static dev.minifloat.cpu.internal.runtime.Exact.NARROW_BYTES;
import static dev.minifloat.cpu.internal.runtime.Exact.NARROW_SHORTS;
import static dev.minifloat.cpu.internal.runtime.Species.BITS;
import static dev.minifloat.cpu.internal.runtime.Species.BYTE;
import static dev.minifloat.cpu.internal.runtime.Species.INT;
import static dev.minifloat.cpu.internal.runtime.Species.LANES;
import static dev.minifloat.cpu.internal.runtime.Species.LE;
import static dev.minifloat.cpu.internal.runtime.Species.SHORT;

import dev.minifloat.codec.PackedElements;
import dev.minifloat.cpu.internal.runtime.Segments;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/** Stores of 32-bit lanes as the shorts or bytes in their low bits. */
public final class Narrow {
  private Narrow() {}

  /** Writes a short ({@code wide}) or a byte of each lane; nothing beyond them. */
  public static void store(IntVector lanes, MemorySegment dst, long at, boolean wide) {
    if (wide) {
      NARROW_SHORTS
          .cast(lanes.convertShape(VectorOperators.I2S, SHORT, 0))
          .intoMemorySegment(dst, at, LE);
      return;
    }
    ByteVector bytes = NARROW_BYTES.cast(lanes.convertShape(VectorOperators.I2B, BYTE, 0));
    if (BITS == 128) {
      // Four bytes: half of the smallest shape.
      dst.set(PackedElements.INT, at, bytes.reinterpretAsInts().lane(0));
    } else {
      bytes.intoMemorySegment(dst, at, LE);
    }
  }

  /** Stores as many of {@code n} ints at {@code from} as fill vectors, in {@code width} bytes. */
  static int run(MemorySegment src, long from, int n, MemorySegment dst, long to, int width) {
    return switch (width) {
      case 1 -> bytes(src, from, n, dst, to);
      case 2 -> shorts(src, from, n, dst, to);
      default -> {
        int whole = n / LANES * LANES;
        MemorySegment.copy(src, from, dst, to, 4L * whole);
        yield whole;
      }
    };
  }

  private static int bytes(MemorySegment src, long from, int n, MemorySegment dst, long to) {
    MemorySegment x = Segments.exact(src);
    MemorySegment y = Segments.exact(dst);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      store(IntVector.fromMemorySegment(INT, x, from + 4L * i, LE), y, to + i, false);
    }
    return i;
  }

  private static int shorts(MemorySegment src, long from, int n, MemorySegment dst, long to) {
    MemorySegment x = Segments.exact(src);
    MemorySegment y = Segments.exact(dst);
    int i = 0;
    for (; i <= n - LANES; i += LANES) {
      store(IntVector.fromMemorySegment(INT, x, from + 4L * i, LE), y, to + 2L * i, true);
    }
    return i;
  }
}
