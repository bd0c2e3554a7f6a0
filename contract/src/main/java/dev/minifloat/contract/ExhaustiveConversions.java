package dev.minifloat.contract;

import dev.minifloat.codec.PackedElements;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/**
 * Compares conversions of every F32 with recorded numbers, in {@link #CHUNKS} parts that any thread
 * may work on.
 */
public final class ExhaustiveConversions {
  /** Parts of the 2^32 inputs: all that share their upper byte. */
  public static final int CHUNKS = 256;

  private static final int INPUTS = 1 << 24;

  private final Map<String, long[]> recorded = GoldenData.chunks();

  /** Reads what is recorded. */
  public ExhaustiveConversions() {}

  /**
   * Converts the 2^24 inputs of one part, in unsigned order, and compares the hash of the results.
   *
   * @param top the upper byte of the inputs, from 0 to 255
   */
  public GoldenResult chunk(ConversionEngine engine, GoldenConversion conversion, int top) {
    if (top < 0 || top >= CHUNKS) {
      throw new IllegalArgumentException("top: " + top + " is not a byte");
    }
    Fnv hash = new Fnv();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment inputs = arena.allocate(4L * GoldenConversions.BATCH, 64);
      for (int from = 0; from < INPUTS; from += GoldenConversions.BATCH) {
        for (int i = 0; i < GoldenConversions.BATCH; i++) {
          inputs.set(PackedElements.INT, 4L * i, top << 24 | (from + i));
        }
        GoldenConversions.addTo(hash, engine, conversion, inputs, GoldenConversions.BATCH);
      }
    }
    long expected = recorded.get(conversion.recordedName())[top];
    String name =
        "%s, inputs %02x000000 to %02xffffff".formatted(conversion.recordedName(), top, top);
    return new GoldenResult(name, expected, hash.value(), "");
  }
}
