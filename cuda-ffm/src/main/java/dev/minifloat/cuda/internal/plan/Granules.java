package dev.minifloat.cuda.internal.plan;

import dev.minifloat.kernels.KernelEntry;

/** How many elements of K a kernel multiplies before their scale. */
final class Granules {
  /** Of the kernels for few rows. */
  static final int SKINNY = 16;

  private static final int DEEP_TILE = 128;
  private static final int TILE = 32;

  private Granules() {}

  /**
   * Of a kernel for the tensor cores: all of a tile of 128 elements, of bytes that are multiplied
   * as they are; 32, a block of MX, of what is decoded and of what takes MX.
   */
  static int of(KernelEntry kernel) {
    boolean deep = kernel.tile().get(2) == DEEP_TILE && !kernel.scalings().contains("mx");
    return deep ? DEEP_TILE : TILE;
  }

  /** Whether a kernel for products fetches tiles ahead, as those for the tensor cores do. */
  static boolean usesTensorCores(KernelEntry kernel) {
    return kernel.dynamicShared() > 0;
  }
}
