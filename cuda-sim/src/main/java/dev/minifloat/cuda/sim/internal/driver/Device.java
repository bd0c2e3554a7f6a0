package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.GlobalMemory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A device: its memory, its primary context, its pools, its clock. */
final class Device {
  private final int ordinal;
  private final DeviceProperties properties;
  private final GlobalMemory memory;
  private final Context primary;
  private final Pool defaultPool;
  private final List<Pool> pools = new ArrayList<>();
  private final Map<Long, DeviceAllocation> allocations = new LinkedHashMap<>();
  private Pool currentPool;
  private long time;

  Device(int ordinal, DeviceProperties properties, Handles handles) {
    this.ordinal = ordinal;
    this.properties = properties;
    this.memory = new GlobalMemory(properties.memoryBytes());
    this.primary = handles.add(new Context(this, handles));
    this.defaultPool = handles.add(new Pool(this, null, true, 0));
    this.currentPool = defaultPool;
    pools.add(defaultPool);
  }

  int ordinal() {
    return ordinal;
  }

  DeviceProperties properties() {
    return properties;
  }

  GlobalMemory memory() {
    return memory;
  }

  Context primary() {
    return primary;
  }

  Pool defaultPool() {
    return defaultPool;
  }

  Pool currentPool() {
    return currentPool;
  }

  void currentPool(Pool pool) {
    currentPool = pool;
  }

  List<Pool> pools() {
    return pools;
  }

  /** Simulated nanoseconds since the driver was made. */
  long time() {
    return time;
  }

  void advance(long nanoseconds) {
    time += nanoseconds;
  }

  /** Bytes that neither allocations nor pools hold. */
  long free() {
    long slack = pools.stream().mapToLong(Pool::slack).sum();
    return memory.capacity() - memory.used() - slack;
  }

  /**
   * Allocates memory; null if it doesn't fit.
   *
   * @param pool whose reserve it may use; null for none
   */
  DeviceAllocation allocate(Context context, Pool pool, long bytes, Handles handles) {
    long available = free() + (pool == null ? 0 : pool.slack());
    if (bytes > available || (pool != null && !pool.hasRoom(bytes))) {
      return null;
    }
    Allocation allocation = memory.allocate(bytes, "an allocation");
    if (allocation == null) {
      return null;
    }
    if (pool != null) {
      pool.took(bytes);
    }
    DeviceAllocation made = new DeviceAllocation(context, this, pool, allocation);
    allocations.put(made.address(), handles.add(made));
    return made;
  }

  /** The allocation that begins at an address; null if there is none. */
  DeviceAllocation allocation(long address) {
    return allocations.get(address);
  }

  /** Takes an allocation out of the books; its memory lives on until it is released. */
  void forget(DeviceAllocation allocation, Handles handles) {
    allocations.remove(allocation.address());
    handles.remove(allocation);
  }
}
