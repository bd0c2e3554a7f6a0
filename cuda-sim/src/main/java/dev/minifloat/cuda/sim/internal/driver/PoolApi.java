package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.driver.CUmemAccessDesc_st;
import dev.minifloat.cuda.driver.CUmemLocation_st;
import dev.minifloat.cuda.driver.CUmemPoolProps_st;
import java.lang.foreign.MemorySegment;

/** Pools, and memory that comes and goes in a stream's order. */
final class PoolApi {
  private static final int PINNED = 1;
  private static final int ON_DEVICE = 1;
  private static final int READ_WRITE = 3;

  private final Simulation simulation;

  PoolApi(Simulation simulation) {
    this.simulation = simulation;
  }

  void cuMemAllocAsync(MemorySegment out, long bytes, MemorySegment hStream) {
    Stream stream = simulation.stream(hStream);
    allocate(out, bytes, stream.context().device().currentPool(), stream);
  }

  void cuMemAllocFromPoolAsync(
      MemorySegment out, long bytes, MemorySegment pool, MemorySegment hStream) {
    Stream stream = simulation.stream(hStream);
    allocate(out, bytes, pool(pool), stream);
  }

  private void allocate(MemorySegment out, long bytes, Pool pool, Stream stream) {
    Native.require(out, "dptr");
    MemoryApi.requireSize(bytes);
    if (stream.capture != null) {
      throw CuResult.NOT_SUPPORTED.because("the simulator doesn't capture allocations");
    }
    simulation.requireNoImplicitCapture(stream);
    Context context = stream.context();
    DeviceAllocation made = pool.device().allocate(context, pool, bytes, simulation.handles());
    if (made == null) {
      // What was freed and not yet released serves this allocation, after some waiting.
      simulation.scheduler().complete(context);
      context.requireWhole();
      made = pool.device().allocate(context, pool, bytes, simulation.handles());
    }
    if (made == null) {
      throw CuResult.OUT_OF_MEMORY.because(
          "%d bytes were wanted of the pool, %d of the device's %d are free"
              .formatted(bytes, pool.device().free(), pool.device().memory().capacity()));
    }
    Native.putLong(out, made.address(), "dptr");
  }

  void cuMemFreeAsync(long address, MemorySegment hStream) {
    Context context = simulation.currentOrBroken();
    DeviceAllocation allocation = MemoryApi.allocation(simulation, context, address);
    if (context.isBroken()) {
      allocation.device().forget(allocation, simulation.handles());
      allocation.release();
      context.requireWhole();
    }
    Stream stream = simulation.stream(hStream);
    if (stream.capture != null) {
      throw CuResult.NOT_SUPPORTED.because("the simulator doesn't capture frees");
    }
    simulation.submit(stream, new Work.Free(allocation));
    allocation.device().forget(allocation, simulation.handles());
  }

  private Pool pool(MemorySegment handle) {
    return simulation.handles().get(handle, Pool.class, "pool", CuResult.INVALID_VALUE);
  }

  void cuMemPoolTrimTo(MemorySegment pool, long keep) {
    pool(pool).trim(keep);
  }

  void cuMemPoolSetAttribute(MemorySegment pool, int attribute, MemorySegment value) {
    Pool target = pool(pool);
    long number =
        Pool.isInt(attribute)
            ? Native.getInt(value, 0, "value")
            : Native.getLong(value, 0, "value");
    target.attribute(attribute, number);
  }

  void cuMemPoolGetAttribute(MemorySegment pool, int attribute, MemorySegment value) {
    long number = pool(pool).attribute(attribute);
    if (Pool.isInt(attribute)) {
      Native.putInt(value, (int) number, "value");
    } else {
      Native.putLong(value, number, "value");
    }
  }

  void cuMemPoolSetAccess(MemorySegment pool, MemorySegment map, long count) {
    Pool target = pool(pool);
    if (count <= 0 || count > simulation.devices().size()) {
      throw CuResult.INVALID_VALUE.because(count + " descriptions");
    }
    MemorySegment all = Native.at(map, CUmemAccessDesc_st.sizeof() * count, "map");
    for (long i = 0; i < count; i++) {
      MemorySegment one = CUmemAccessDesc_st.asSlice(all, i);
      MemorySegment location = CUmemAccessDesc_st.location(one);
      if (CUmemLocation_st.type(location) != ON_DEVICE) {
        throw CuResult.INVALID_VALUE.because("access from elsewhere than a device");
      }
      Device device = simulation.device(CUmemLocation_st.id(location));
      boolean own = device == target.device();
      int flags = CUmemAccessDesc_st.flags(one);
      if (own && flags != READ_WRITE) {
        throw CuResult.INVALID_DEVICE.because("a device's access to its own pool stays as it is");
      }
      if (!own && flags != 0) {
        throw CuResult.INVALID_DEVICE.because("simulated devices don't see each other's memory");
      }
    }
  }

  void cuMemPoolCreate(MemorySegment out, MemorySegment properties) {
    Native.require(out, "pool");
    MemorySegment given = Native.at(properties, CUmemPoolProps_st.sizeof(), "poolProps");
    MemorySegment location = CUmemPoolProps_st.location(given);
    if (CUmemPoolProps_st.allocType(given) != PINNED) {
      throw CuResult.INVALID_VALUE.because("a pool's allocations are pinned");
    }
    if (CUmemLocation_st.type(location) != ON_DEVICE) {
      throw CuResult.NOT_SUPPORTED.because("simulated pools lie on devices");
    }
    if (CUmemPoolProps_st.handleTypes(given) != 0) {
      throw CuResult.NOT_SUPPORTED.because("simulated pools can't be shared with other processes");
    }
    Device device = simulation.device(CUmemLocation_st.id(location));
    long most = CUmemPoolProps_st.maxSize(given);
    Pool pool = simulation.handles().add(new Pool(device, null, false, most));
    device.pools().add(pool);
    Native.putHandle(out, pool, "pool");
  }

  void cuMemPoolDestroy(MemorySegment handle) {
    Pool pool = pool(handle);
    if (pool.isDefault()) {
      throw CuResult.INVALID_VALUE.because("a default pool can't be destroyed");
    }
    Device device = pool.device();
    if (device.currentPool() == pool) {
      device.currentPool(device.defaultPool());
    }
    // Allocations from it live on; the pool counts them until the last one is freed.
    pool.retire();
    simulation.handles().remove(pool);
  }
}
