package dev.minifloat.cuda.internal.plan;

import dev.minifloat.UnsupportedOpException;

/**
 * The CTAs of a launch, at least one.
 *
 * @param x at most 2^31 − 1
 * @param y at most 65,535
 * @param z at most 65,535
 */
public record LaunchGrid(int x, int y, int z) {
  /** The largest y and z: CUDA C++ Programming Guide, "Technical Specifications". */
  public static final int MAX_YZ = 65_535;

  /** CTAs of which a multiprocessor is given no more: kernels that take any grid go round. */
  private static final int CTAS_OF_A_MULTIPROCESSOR = 16;

  /** Checks the extents. */
  public LaunchGrid {
    if (x < 1 || y < 1 || z < 1 || y > MAX_YZ || z > MAX_YZ) {
      throw new IllegalArgumentException("a grid of " + x + " × " + y + " × " + z + " CTAs");
    }
  }

  /** One dimension. */
  public static LaunchGrid of(long x) {
    return of(x, 1, 1);
  }

  /**
   * Three dimensions.
   *
   * @throws UnsupportedOpException if it is larger than CUDA's largest
   */
  public static LaunchGrid of(long x, long y, long z) {
    if (x > Integer.MAX_VALUE || y > MAX_YZ || z > MAX_YZ) {
      throw new UnsupportedOpException(
          ("An operand of this size needs a grid of %d × %d × %d CTAs, and CUDA's largest has"
                  + " 2147483647 × 65535 × 65535; cut it into slices")
              .formatted(x, y, z));
    }
    return new LaunchGrid((int) x, (int) y, (int) z);
  }

  /**
   * Enough CTAs for some pieces of work, or as many as keep a device busy.
   *
   * @param pieces of work, at least 1
   * @param ofCta how many a CTA takes at once
   */
  public static LaunchGrid of(long pieces, long ofCta, DeviceTraits device) {
    long most = (long) device.multiprocessors() * CTAS_OF_A_MULTIPROCESSOR;
    return of(Math.clamp(Math.ceilDiv(pieces, ofCta), 1, most));
  }

  @Override
  public String toString() {
    return x + " × " + y + " × " + z;
  }
}
