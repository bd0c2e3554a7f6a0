package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Initialisation, and what devices say of themselves. */
final class DeviceApi {
  private static final int UUID_BYTES = 16;

  private final Simulation simulation;

  DeviceApi(Simulation simulation) {
    this.simulation = simulation;
  }

  void cuInit(int flags) {
    if (flags != 0) {
      throw CuResult.INVALID_VALUE.because("flags " + flags);
    }
    if (simulation.devices().isEmpty()) {
      throw CuResult.NO_DEVICE.because("the simulation has no devices");
    }
    simulation.initialize();
  }

  void cuDriverGetVersion(MemorySegment out) {
    Native.putInt(out, simulation.settings().driverVersion(), "driverVersion");
  }

  void cuDeviceGet(MemorySegment out, int ordinal) {
    Native.require(out, "device");
    Native.putInt(out, simulation.device(ordinal).ordinal(), "device");
  }

  void cuDeviceGetCount(MemorySegment out) {
    Native.putInt(out, simulation.devices().size(), "count");
  }

  void cuDeviceGetName(MemorySegment out, int length, int device) {
    Native.putString(out, length, simulation.device(device).properties().name(), "name");
  }

  void cuDeviceGetUuid(MemorySegment out, int device) {
    DeviceProperties properties = simulation.device(device).properties();
    MemorySegment bytes = Native.at(out, UUID_BYTES, "uuid");
    bytes.fill((byte) 0);
    // "sim", the architecture, and at the end which of the devices it is.
    bytes.setString(0, "sim");
    bytes.set(ValueLayout.JAVA_BYTE, 3, (byte) properties.architecture());
    bytes.set(ValueLayout.JAVA_INT_UNALIGNED, 12, device);
  }

  void cuDeviceTotalMem(MemorySegment out, int device) {
    Native.putLong(out, simulation.device(device).properties().memoryBytes(), "bytes");
  }

  void cuDeviceGetAttribute(MemorySegment out, int attribute, int device) {
    Native.require(out, "pi");
    Native.putInt(out, DeviceAttributes.value(simulation.device(device), attribute), "pi");
  }

  void cuDeviceGetPCIBusId(MemorySegment out, int length, int device) {
    String id = "%04x:%02x:%02x.0".formatted(0, simulation.device(device).ordinal() + 1, 0);
    Native.putString(out, length, id, "pciBusId");
  }

  void cuDeviceCanAccessPeer(MemorySegment out, int device, int peer) {
    Native.require(out, "canAccessPeer");
    simulation.device(device);
    simulation.device(peer);
    Native.putInt(out, 0, "canAccessPeer");
  }

  void cuDeviceGetDefaultMemPool(MemorySegment out, int device) {
    Native.putHandle(out, simulation.device(device).defaultPool(), "pool");
  }

  void cuDeviceGetMemPool(MemorySegment out, int device) {
    Native.putHandle(out, simulation.device(device).currentPool(), "pool");
  }

  void cuDeviceSetMemPool(int device, MemorySegment pool) {
    Device target = simulation.device(device);
    Pool chosen = simulation.handles().get(pool, Pool.class, "pool", CuResult.INVALID_VALUE);
    if (chosen.device() != target) {
      throw CuResult.INVALID_VALUE.because("the pool is another device's");
    }
    target.currentPool(chosen);
  }

  void cuDevicePrimaryCtxRetain(MemorySegment out, int device) {
    Native.require(out, "pctx");
    Context context = simulation.device(device).primary();
    context.retain();
    Native.putHandle(out, context, "pctx");
  }

  void cuDevicePrimaryCtxRelease(int device) {
    Context context = simulation.device(device).primary();
    if (!context.isActive()) {
      throw CuResult.INVALID_CONTEXT.because("nobody retains the primary context");
    }
    if (context.release()) {
      simulation.destroy(context);
    }
  }

  void cuDevicePrimaryCtxReset(int device) {
    Context context = simulation.device(device).primary();
    if (context.isActive()) {
      simulation.destroy(context);
    }
  }

  void cuDevicePrimaryCtxSetFlags(int device, int flags) {
    Context context = simulation.device(device).primary();
    int schedule = flags & 7;
    if ((flags & ~0xFF) != 0 || (schedule != 0 && Integer.bitCount(schedule) != 1)) {
      throw CuResult.INVALID_VALUE.because("flags 0x%x".formatted(flags));
    }
    context.flags(flags);
  }

  void cuDevicePrimaryCtxGetState(int device, MemorySegment flags, MemorySegment active) {
    Context context = simulation.device(device).primary();
    Native.require(flags, "flags");
    Native.require(active, "active");
    Native.putInt(flags, context.flags(), "flags");
    Native.putInt(active, context.isActive() ? 1 : 0, "active");
  }

  void cuProfilerStart() {
    simulation.current();
  }

  void cuProfilerStop() {
    simulation.current();
  }
}
