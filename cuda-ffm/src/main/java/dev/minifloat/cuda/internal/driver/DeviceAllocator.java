package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.driver.CUmemLocation;
import dev.minifloat.cuda.driver.CUmemPoolProps;
import dev.minifloat.cuda.driver.Cuda;
import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Device memory in a stream's order: what is freed can be allocated again at once, for later work
 * of the stream, and nobody waits. It comes from a pool of its own, which keeps what was freed, so
 * that the next allocation costs about a microsecond; a device without pools allocates and frees
 * with {@code cuMemAlloc} and {@code cuMemFree}, which wait for all its work.
 */
public final class DeviceAllocator implements AutoCloseable {
  private static final String KIND = "device memory";

  private final Stream stream;
  private final PrimaryContext context;
  private final Handle pool;
  private final Cleaner.Cleanable cleanable;
  private final AtomicLong held = new AtomicLong();

  /**
   * An allocator.
   *
   * @param stream whose work the memory is for; it stays alive until all of it is freed
   */
  public DeviceAllocator(Stream stream) {
    this.stream = stream;
    this.context = stream.context();
    this.pool = context.device().hasMemoryPools() ? createPool(context) : null;
    this.cleanable = pool == null ? () -> {} : pool.watch(this);
  }

  private static Handle createPool(PrimaryContext context) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment properties = CUmemPoolProps.allocate(arena).fill((byte) 0);
      CUmemPoolProps.allocType(properties, Cuda.CU_MEM_ALLOCATION_TYPE_PINNED());
      MemorySegment location = CUmemPoolProps.location(properties);
      CUmemLocation.type(location, Cuda.CU_MEM_LOCATION_TYPE_DEVICE());
      CUmemLocation.id(location, context.device().ordinal());
      Handle pool =
          Handle.create(
              context,
              "memory pool",
              DriverFunction.cuMemPoolDestroy,
              DriverFunction.cuMemPoolCreate,
              properties);
      try {
        // All bits set: keep everything that was freed.
        MemorySegment threshold = arena.allocateFrom(ValueLayout.JAVA_LONG, -1L);
        context.call(
            DriverFunction.cuMemPoolSetAttribute,
            pool,
            Cuda.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD(),
            threshold);
        return pool;
      } catch (RuntimeException e) {
        Closing.because(e, pool);
        throw e;
      }
    }
  }

  /** The stream. */
  public Stream stream() {
    return stream;
  }

  /** Bytes allocated and not freed. */
  public long heldBytes() {
    return held.get();
  }

  /**
   * Allocates.
   *
   * @param bytes 0 or more
   * @throws CudaException if there is no memory left: the message has the size, what is free, and
   *     what this allocator holds
   */
  public DeviceMemory allocate(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("bytes: " + bytes);
    }
    try {
      return tryAllocate(bytes);
    } catch (CudaException e) {
      if (e.result() != Cuda.CUDA_ERROR_OUT_OF_MEMORY()) {
        throw e;
      }
    }
    trim();
    try {
      return tryAllocate(bytes);
    } catch (CudaException e) {
      throw e.result() == Cuda.CUDA_ERROR_OUT_OF_MEMORY() ? outOfMemory(bytes, e) : e;
    }
  }

  private CudaException outOfMemory(long bytes, CudaException cause) {
    PrimaryContext.MemoryInfo memory = context.memory();
    return new CudaException(
        "%s; %d bytes were wanted, %d of the %d bytes of %s are free, and %d are held by tensors here: close what isn't needed"
            .formatted(
                cause.getMessage(),
                bytes,
                memory.free(),
                memory.total(),
                context.device(),
                heldBytes()),
        cause);
  }

  private DeviceMemory tryAllocate(long bytes) {
    // An address even for nothing: kernels take 0 for an operand that isn't there.
    long wanted = Math.max(1, bytes);
    Share share = new Share(stream.handle(), held, bytes);
    try {
      Handle made =
          pool == null
              ? Handle.create(
                  context,
                  KIND,
                  Handle.Made.FIRST,
                  share.freeing(),
                  DriverFunction.cuMemAlloc_v2,
                  wanted)
              : Handle.create(
                  context,
                  KIND,
                  Handle.Made.FIRST,
                  share.freeingInOrder(),
                  DriverFunction.cuMemAllocFromPoolAsync,
                  wanted,
                  pool,
                  stream.handle());
      return new DeviceMemory(made, bytes);
    } catch (RuntimeException e) {
      share.end();
      throw e;
    }
  }

  /**
   * What an allocation holds besides its memory: its stream, which frees it, and a part of the
   * account. It doesn't know the allocator: memory that nobody closed must not keep that alive.
   */
  private static final class Share {
    private final Handle stream;
    private final AtomicLong account;
    private final long bytes;
    private final AtomicBoolean ended = new AtomicBoolean();

    Share(Handle stream, AtomicLong account, long bytes) {
      stream.hold();
      account.addAndGet(bytes);
      this.stream = stream;
      this.account = account;
      this.bytes = bytes;
    }

    Handle.Release freeing() {
      return (context, memory) -> {
        try {
          context.giveBack(DriverFunction.cuMemFree_v2, memory.address());
        } finally {
          end();
        }
      };
    }

    Handle.Release freeingInOrder() {
      return (context, memory) -> {
        try {
          // The stream may be closed for others: it is held for this.
          context.giveBack(DriverFunction.cuMemFreeAsync, memory.address(), stream.address());
        } finally {
          end();
        }
      };
    }

    void end() {
      if (ended.compareAndSet(false, true)) {
        account.addAndGet(-bytes);
        stream.release();
      }
    }
  }

  /** Waits, and gives what was freed back to the device. */
  public void trim() {
    stream.synchronize();
    if (pool != null) {
      context.call(DriverFunction.cuMemPoolTrimTo, pool, 0L);
    }
  }

  /** Ends the pool; memory from it lives on until it is freed. */
  @Override
  public void close() {
    if (pool != null) {
      pool.close();
      cleanable.clean();
    }
  }
}
