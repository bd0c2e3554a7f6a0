package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.sim.internal.memory.Allocation;

/** Device memory that a client asked for. */
final class DeviceAllocation extends Resource {
  private final Context context;
  private final Device device;
  private final Pool pool;
  private final Allocation allocation;

  /**
   * An allocation that is in its device's memory.
   *
   * @param pool the pool it came from; null if none
   */
  DeviceAllocation(Context context, Device device, Pool pool, Allocation allocation) {
    this.context = context;
    this.device = device;
    this.pool = pool;
    this.allocation = allocation;
  }

  @Override
  String kind() {
    return "device memory";
  }

  @Override
  String details() {
    return "%d bytes at 0x%x".formatted(size(), address());
  }

  @Override
  Context context() {
    return context;
  }

  Device device() {
    return device;
  }

  Pool pool() {
    return pool;
  }

  long address() {
    return allocation.base();
  }

  long size() {
    return allocation.size();
  }

  /** Gives the memory back to its pool or its device. */
  void release() {
    device.memory().free(address());
    if (pool != null) {
      pool.gaveBack(size());
    }
  }
}
