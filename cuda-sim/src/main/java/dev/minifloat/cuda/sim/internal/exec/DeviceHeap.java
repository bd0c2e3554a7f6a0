package dev.minifloat.cuda.sim.internal.exec;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.memory.GlobalMemory;
import java.util.HashMap;
import java.util.Map;

/**
 * What a module's kernels allocate with {@code malloc} (CUDA C++ Programming Guide, "Dynamic Global
 * Memory Allocation and Operations"). It lives on after the kernel, until it is freed or the module
 * is unloaded.
 */
final class DeviceHeap {
  /** How much there is unless a client sets {@code CU_LIMIT_MALLOC_HEAP_SIZE}. */
  private static final long INITIAL_LIMIT = 8 << 20;

  private final GlobalMemory memory;
  private final Map<Long, Allocation> living = new HashMap<>();
  private long limit = INITIAL_LIMIT;
  private long used;

  DeviceHeap(GlobalMemory memory) {
    this.memory = memory;
  }

  void limit(long bytes) {
    limit = bytes;
  }

  /** Bytes for a kernel; their address, or 0 if there is no room for them. */
  long allocate(long bytes) {
    if (bytes <= 0 || bytes > limit - used) {
      return 0;
    }
    Allocation allocation = memory.allocate(bytes, "malloc of a kernel");
    if (allocation == null) {
      return 0;
    }
    living.put(allocation.base(), allocation);
    used += bytes;
    return allocation.base();
  }

  /** Gives back what {@link #allocate} gave; nothing for address 0. */
  void free(long address) {
    if (address == 0) {
      return;
    }
    Allocation allocation = living.remove(address);
    if (allocation == null) {
      throw new DeviceFault(
          DeviceFault.Kind.OUT_OF_BOUNDS,
          "free of 0x%x, which no malloc of this module gave, or which was freed before"
              .formatted(address));
    }
    used -= allocation.size();
    memory.free(address);
  }

  void freeAll() {
    living.keySet().forEach(memory::free);
    living.clear();
    used = 0;
  }
}
