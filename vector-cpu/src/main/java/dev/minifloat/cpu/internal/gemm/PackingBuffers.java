package dev.minifloat.cpu.internal.gemm;

import dev.minifloat.cpu.internal.runtime.Memory;
import java.util.ArrayDeque;

/**
 * Buffers that products use again and again, so that a call allocates none once its like has run.
 *
 * <p>As many arrays are kept as were in use at a time; those above {@link #LARGEST_KEPT} floats are
 * left to the garbage collector. Native buffers come from {@link Memory}, which keeps them
 * likewise.
 */
public final class PackingBuffers {
  /** Floats of a native row buffer: 128 KiB, a cache line's alignment. */
  static final int ROW_FLOATS = 1 << 15;

  private static final int LARGEST_KEPT = 1 << 24;
  private static final int SMALLEST = 1 << 12;

  private final Memory memory;

  /** Free arrays of 2^i floats at index i. */
  private final ArrayDeque<float[]>[] arrays = newDeques();

  /** Buffers whose native part comes from {@code memory}. */
  public PackingBuffers(Memory memory) {
    this.memory = memory;
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // Java has no arrays of a generic type.
  private static ArrayDeque<float[]>[] newDeques() {
    ArrayDeque<float[]>[] deques = new ArrayDeque[Integer.SIZE];
    for (int i = 0; i < deques.length; i++) {
      deques[i] = new ArrayDeque<>(2);
    }
    return deques;
  }

  /** An array of at least {@code floats} floats, of any content. */
  public float[] take(int floats) {
    int wanted = Math.max(floats, SMALLEST);
    if (wanted > LARGEST_KEPT) {
      return new float[wanted];
    }
    int size = Integer.SIZE - Integer.numberOfLeadingZeros(wanted - 1);
    synchronized (arrays) {
      float[] free = arrays[size].pollLast();
      if (free != null) {
        return free;
      }
    }
    return new float[1 << size];
  }

  /** Gives an array back. */
  public void give(float[] array) {
    if (array.length <= LARGEST_KEPT) {
      synchronized (arrays) {
        arrays[Integer.numberOfTrailingZeros(array.length)].addLast(array);
      }
    }
  }

  /** A native buffer of at least {@code bytes} bytes, of any content. */
  public Memory.Block takeBytes(long bytes) {
    return memory.take(bytes);
  }

  /** A native buffer of {@link #ROW_FLOATS} floats, of any content. */
  public Memory.Block takeRows() {
    return memory.take((long) ROW_FLOATS * Float.BYTES);
  }
}
