package dev.minifloat.cuda.internal.plan;

import dev.minifloat.DType;
import dev.minifloat.spi.TensorView;

/**
 * A tensor that a kernel fills, each thread whole words of it (store.cuh).
 *
 * @param address of its elements
 * @param dtype their type
 * @param count how many
 */
public record Whole(long address, DType dtype, long count) {
  private static final int THREADS = 256;

  /** A whole tensor. */
  public static Whole of(TensorView out) {
    return new Whole(((DeviceStorage) out.storage()).data(), out.dtype(), out.shape().elements());
  }

  /** Whether there is nothing to fill, and so nothing to launch. */
  public boolean isEmpty() {
    return count == 0;
  }

  /** Elements of a thread: a word of 4 bytes, or 3 bytes of 6-bit elements. */
  private int run() {
    return dtype.bits() == 6 ? 4 : 32 / dtype.bits();
  }

  /** CTAs of 256 threads. */
  public LaunchGrid grid(DeviceTraits device) {
    return LaunchGrid.of(count, (long) run() * THREADS, device);
  }
}
