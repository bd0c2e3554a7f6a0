package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.MemorySegment;

/** Memory of the device and page-locked memory of the host. */
final class MemoryApi {
  private static final int ALLOCATION_FLAGS = 7;
  private static final int REGISTRATION_FLAGS = 15;

  private final Simulation simulation;

  MemoryApi(Simulation simulation) {
    this.simulation = simulation;
  }

  void cuMemGetInfo(MemorySegment free, MemorySegment total) {
    Device device = simulation.current().device();
    Native.require(free, "free");
    Native.require(total, "total");
    Native.putLong(free, device.free(), "free");
    Native.putLong(total, device.memory().capacity(), "total");
  }

  void cuMemAlloc(MemorySegment out, long bytes) {
    Context context = simulation.current();
    simulation.requireNoCapture();
    Native.require(out, "dptr");
    requireSize(bytes);
    DeviceAllocation made = context.device().allocate(context, null, bytes, simulation.handles());
    if (made == null) {
      throw CuResult.OUT_OF_MEMORY.because(
          "%d bytes were wanted, %d of %d are free"
              .formatted(bytes, context.device().free(), context.device().memory().capacity()));
    }
    Native.putLong(out, made.address(), "dptr");
  }

  static void requireSize(long bytes) {
    if (bytes == 0) {
      throw CuResult.INVALID_VALUE.because("0 bytes can't be allocated");
    }
    if (bytes < 0) {
      throw CuResult.OUT_OF_MEMORY.because(Long.toUnsignedString(bytes) + " bytes were wanted");
    }
  }

  /** Waits for all work first, as everybody relies on. */
  void cuMemFree(long address) {
    Context context = simulation.currentOrBroken();
    if (address == 0) {
      return;
    }
    DeviceAllocation allocation = allocation(simulation, context, address);
    if (!context.isBroken()) {
      simulation.requireNoCapture();
      simulation.scheduler().complete(allocation.context());
    }
    allocation.device().forget(allocation, simulation.handles());
    allocation.release();
    context.requireWhole();
  }

  static DeviceAllocation allocation(Simulation simulation, Context context, long address) {
    DeviceAllocation found = context.device().allocation(address);
    if (found != null) {
      return found;
    }
    for (Device device : simulation.devices()) {
      if (device.allocation(address) != null) {
        return device.allocation(address);
      }
    }
    throw CuResult.INVALID_VALUE.because("no allocation begins at 0x%x".formatted(address));
  }

  void cuMemAllocHost(MemorySegment out, long bytes) {
    cuMemHostAlloc(out, bytes, 0);
  }

  void cuMemHostAlloc(MemorySegment out, long bytes, int flags) {
    Context context = simulation.current();
    simulation.requireNoCapture();
    Native.require(out, "pp");
    requireFlags(flags, ALLOCATION_FLAGS);
    requireSize(bytes);
    HostRange range = simulation.hostMemory().allocate(context, bytes, flags);
    Native.putLong(out, range.address(), "pp");
  }

  private static void requireFlags(int flags, int allowed) {
    if ((flags & ~allowed) != 0) {
      throw CuResult.INVALID_VALUE.because("flags 0x%x".formatted(flags));
    }
  }

  void cuMemFreeHost(MemorySegment pointer) {
    release(pointer, false, CuResult.INVALID_VALUE);
  }

  void cuMemHostRegister(MemorySegment pointer, long bytes, int flags) {
    Context context = simulation.current();
    simulation.requireNoCapture();
    requireFlags(flags, REGISTRATION_FLAGS);
    Native.require(pointer, "p");
    if (bytes <= 0) {
      throw CuResult.INVALID_VALUE.because(Long.toUnsignedString(bytes) + " bytes");
    }
    simulation.hostMemory().register(context, pointer.address(), bytes, flags);
  }

  void cuMemHostUnregister(MemorySegment pointer) {
    release(pointer, true, CuResult.HOST_MEMORY_NOT_REGISTERED);
  }

  private void release(MemorySegment pointer, boolean registered, CuResult otherwise) {
    Context context = simulation.currentOrBroken();
    Native.require(pointer, "p");
    HostRange range = simulation.hostMemory().beginning(pointer.address());
    if (range == null || range.isRegistered() != registered) {
      throw otherwise.because("0x%x begins no such memory".formatted(pointer.address()));
    }
    if (!context.isBroken()) {
      // Work that is left may read or write it.
      for (Device device : simulation.devices()) {
        simulation.scheduler().complete(device.primary());
      }
    }
    simulation.hostMemory().release(range);
    context.requireWhole();
  }

  void cuMemHostGetDevicePointer(MemorySegment out, MemorySegment pointer, int flags) {
    simulation.current();
    throw CuResult.NOT_SUPPORTED.because("simulated kernels don't see the host's memory");
  }

  void cuMemAllocManaged(MemorySegment out, long bytes, int flags) {
    simulation.current();
    throw CuResult.NOT_SUPPORTED.because("simulated devices have no managed memory");
  }
}
