package dev.minifloat.cuda.sim.internal.driver;

/**
 * A pool that stream-ordered allocations come from. What is freed stays reserved, up to the release
 * threshold, when somebody synchronises.
 */
final class Pool extends Resource {
  private final Device device;
  private final Context context;
  private final boolean isDefault;
  private final long maxBytes;
  private final int[] reuse = {1, 1, 1};
  private boolean retired;
  private long threshold;
  private long used;
  private long usedHigh;
  private long reserved;
  private long reservedHigh;

  Pool(Device device, Context context, boolean isDefault, long maxBytes) {
    this.device = device;
    this.context = context;
    this.isDefault = isDefault;
    this.maxBytes = maxBytes;
  }

  @Override
  String kind() {
    return "memory pool";
  }

  /** A pool belongs to its device and outlives every context. */
  @Override
  Context context() {
    return context;
  }

  @Override
  boolean isOwned() {
    return !isDefault;
  }

  boolean isDefault() {
    return isDefault;
  }

  Device device() {
    return device;
  }

  long used() {
    return used;
  }

  /** Bytes that it holds and nobody uses. */
  long slack() {
    return reserved - used;
  }

  /** Whether it may grow so far. */
  boolean hasRoom(long bytes) {
    return maxBytes == 0 || used + bytes <= maxBytes;
  }

  void took(long bytes) {
    used += bytes;
    usedHigh = Math.max(usedHigh, used);
    reserved = Math.max(reserved, used);
    reservedHigh = Math.max(reservedHigh, reserved);
  }

  void gaveBack(long bytes) {
    used -= bytes;
    if (retired) {
      retire();
    }
  }

  /** Keeps nothing in reserve from now on, and is forgotten when nothing is left of it. */
  void retire() {
    retired = true;
    threshold = 0;
    trim(0);
    if (used == 0) {
      device.pools().remove(this);
    }
  }

  /** Gives up what exceeds a size and isn't used. */
  void trim(long keep) {
    reserved = Math.min(reserved, Math.max(used, keep));
  }

  void releaseOverThreshold() {
    // An unsigned number: all bits set means that nothing is ever released.
    if (Long.compareUnsigned(reserved, threshold) > 0) {
      trim(threshold);
    }
  }

  /** An attribute's value (CUmemPool_attribute). */
  long attribute(int attribute) {
    return switch (attribute) {
      case 1, 2, 3 -> reuse[attribute - 1];
      case 4 -> threshold;
      case 5 -> reserved;
      case 6 -> reservedHigh;
      case 7 -> used;
      case 8 -> usedHigh;
      default -> throw CuResult.INVALID_VALUE.because("a pool has no attribute " + attribute);
    };
  }

  void attribute(int attribute, long value) {
    switch (attribute) {
      case 1, 2, 3 -> reuse[attribute - 1] = value == 0 ? 0 : 1;
      case 4 -> threshold = value;
      case 6, 8 -> {
        if (value != 0) {
          throw CuResult.INVALID_VALUE.because("a high watermark can only be set to 0");
        }
        if (attribute == 6) {
          reservedHigh = reserved;
        } else {
          usedHigh = used;
        }
      }
      default ->
          throw CuResult.INVALID_VALUE.because("a pool's attribute " + attribute + " can't be set");
    }
  }

  /** Whether an attribute is an int and not 64 bits wide. */
  static boolean isInt(int attribute) {
    return attribute >= 1 && attribute <= 3;
  }
}
