package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import java.lang.foreign.MemorySegment;

/** What addresses belong to. */
final class PointerApi {
  private static final int HOST = 1;
  private static final int DEVICE = 2;
  private static final int LAST = 21;

  private final Simulation simulation;

  PointerApi(Simulation simulation) {
    this.simulation = simulation;
  }

  void cuMemGetAddressRange(MemorySegment base, MemorySegment size, long address) {
    Allocation allocation = device(address);
    if (allocation == null) {
      throw CuResult.NOT_FOUND.because("0x%x lies in no allocation".formatted(address));
    }
    if (!Native.isNull(base)) {
      Native.putLong(base, allocation.base(), "pbase");
    }
    if (!Native.isNull(size)) {
      Native.putLong(size, allocation.size(), "psize");
    }
  }

  private Allocation device(long address) {
    Device holder = simulation.holder(address, simulation.current().device());
    return holder == null ? null : holder.memory().at(address);
  }

  void cuPointerGetAttribute(MemorySegment out, int attribute, long address) {
    Context current = simulation.current();
    Native.require(out, "data");
    if (attribute < 1 || attribute > LAST) {
      throw CuResult.INVALID_VALUE.because("a pointer has no attribute " + attribute);
    }
    Allocation allocation = device(address);
    if (allocation != null) {
      device(out, attribute, address, allocation, current);
      return;
    }
    HostRange range = simulation.hostMemory().around(address, 1);
    if (range == null) {
      throw CuResult.INVALID_VALUE.because("0x%x isn't known to the driver".formatted(address));
    }
    host(out, attribute, address, range);
  }

  private void device(
      MemorySegment out, int attribute, long address, Allocation allocation, Context current) {
    Device holder = simulation.holder(address, current.device());
    DeviceAllocation known = holder.allocation(allocation.base());
    switch (attribute) {
      case 1 -> Native.putHandle(out, holder.primary(), "data");
      case 2 -> Native.putInt(out, DEVICE, "data");
      case 3 -> Native.putLong(out, address, "data");
      case 6, 8, 10, 15, 21 -> Native.putInt(out, 0, "data");
      case 7 -> Native.putLong(out, allocation.base(), "data");
      case 9 -> Native.putInt(out, holder.ordinal(), "data");
      case 11 -> Native.putLong(out, allocation.base(), "data");
      case 12 -> Native.putLong(out, allocation.size(), "data");
      case 13 -> Native.putInt(out, 1, "data");
      case 17 -> Native.putHandle(out, known == null ? null : known.pool(), "data");
      default -> throw unsupported(attribute);
    }
  }

  private static void host(MemorySegment out, int attribute, long address, HostRange range) {
    switch (attribute) {
      case 1 -> Native.putHandle(out, range.context(), "data");
      case 2 -> Native.putInt(out, HOST, "data");
      case 4 -> Native.putLong(out, address, "data");
      case 6, 8, 10, 15, 21 -> Native.putInt(out, 0, "data");
      case 7 -> Native.putLong(out, range.address(), "data");
      case 9 -> Native.putInt(out, range.context().device().ordinal(), "data");
      case 11 -> Native.putLong(out, range.address(), "data");
      case 12 -> Native.putLong(out, range.bytes(), "data");
      case 13 -> Native.putInt(out, 1, "data");
      case 17 -> Native.putLong(out, 0, "data");
      default -> throw unsupported(attribute);
    }
  }

  private static CudaFailure unsupported(int attribute) {
    return attribute == 3 || attribute == 4
        ? CuResult.INVALID_VALUE.because("the memory isn't mapped on that side")
        : CuResult.NOT_SUPPORTED.because("attribute " + attribute + " isn't simulated");
  }
}
