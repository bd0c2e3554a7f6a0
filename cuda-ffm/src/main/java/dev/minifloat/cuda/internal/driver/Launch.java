package dev.minifloat.cuda.internal.driver;

import dev.minifloat.kernels.KernelEntry;

/**
 * A kernel with everything that a launch needs; no driver is needed to make it. The block is the
 * catalog's.
 *
 * @param arguments of the kernel, all of them
 * @param gridX blocks, 1 or more
 * @param gridY blocks, 1 to 65,535
 * @param gridZ blocks, 1 to 65,535
 * @param sharedBytes dynamic shared memory
 */
public record Launch(Arguments arguments, int gridX, int gridY, int gridZ, int sharedBytes) {
  private static final int MOST = 65_535;

  /** Checks what can be checked without a device. */
  public Launch {
    arguments.requireComplete();
    if (gridX < 1 || gridY < 1 || gridZ < 1 || gridY > MOST || gridZ > MOST) {
      throw new IllegalArgumentException(
          "grid: %s can't have %d × %d × %d blocks"
              .formatted(arguments.kernel().entry(), gridX, gridY, gridZ));
    }
    if (sharedBytes < 0) {
      throw new IllegalArgumentException("sharedBytes: " + sharedBytes);
    }
  }

  /** A launch with the dynamic shared memory that the catalog says. */
  public static Launch of(Arguments arguments, int gridX, int gridY, int gridZ) {
    return new Launch(arguments, gridX, gridY, gridZ, arguments.kernel().dynamicShared());
  }

  /** The kernel. */
  public KernelEntry kernel() {
    return arguments.kernel();
  }

  /** Threads of a block along x. */
  public int blockX() {
    return kernel().threads().get(0);
  }

  /** Threads of a block along y. */
  public int blockY() {
    return kernel().threads().size() > 1 ? kernel().threads().get(1) : 1;
  }

  @Override
  public String toString() {
    return "%s, grid %d × %d × %d, block %d × %d, %d bytes of shared memory"
        .formatted(kernel().entry(), gridX, gridY, gridZ, blockX(), blockY(), sharedBytes);
  }
}
