package dev.minifloat.cuda.internal.ops;

import dev.minifloat.DType;
import dev.minifloat.HostTensor;
import dev.minifloat.Scaling;
import dev.minifloat.Shape;
import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.internal.driver.Closing;
import dev.minifloat.cuda.internal.driver.Device;
import dev.minifloat.cuda.internal.driver.DeviceAllocator;
import dev.minifloat.cuda.internal.driver.DeviceMemory;
import dev.minifloat.cuda.internal.driver.Event;
import dev.minifloat.cuda.internal.driver.Holder;
import dev.minifloat.cuda.internal.driver.KernelCache;
import dev.minifloat.cuda.internal.driver.PrimaryContext;
import dev.minifloat.cuda.internal.driver.Stream;
import dev.minifloat.cuda.internal.driver.Transfers;
import dev.minifloat.cuda.internal.plan.DeviceStorage;
import dev.minifloat.cuda.internal.plan.KernelSet;
import dev.minifloat.kernels.KernelCatalog;
import dev.minifloat.spi.Kernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What a backend holds on a device: a context, a stream in it, memory, kernels. */
public final class DeviceSession implements AutoCloseable {
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final Device device;
  private final Stream stream;
  private final DeviceAllocator allocator;
  private final Transfers transfers;
  private final KernelCache cache;
  private final Kernels kernels;

  /**
   * Opens a session.
   *
   * @param name of the backend
   * @param makers classes through which backends are opened
   * @throws dev.minifloat.cuda.CudaException if the driver fails
   */
  public DeviceSession(Device device, String name, Set<Class<?>> makers) {
    this.device = device;
    Set<Class<?>> all = new HashSet<>(makers);
    all.add(DeviceSession.class);
    Holder holder = Holder.of(this, "Backend " + name, all);
    try {
      PrimaryContext context = owned(PrimaryContext.retain(device, holder));
      stream = owned(Stream.create(context));
      allocator = owned(new DeviceAllocator(stream));
      transfers = owned(new Transfers(stream));
      cache = owned(new KernelCache(context, KernelCatalog.load()));
      kernels =
          new CudaKernels(
              new CommandQueue(stream, allocator, transfers, cache),
              new KernelSet(cache.catalog(), cache::takes, device.capability()));
    } catch (RuntimeException | Error e) {
      Closing.because(e, this);
      throw e;
    }
  }

  private <T extends AutoCloseable> T owned(T resource) {
    opened.addFirst(resource);
    return resource;
  }

  /** The device. */
  public Device device() {
    return device;
  }

  /** The operations. */
  public Kernels kernels() {
    return kernels;
  }

  /**
   * Memory for a tensor.
   *
   * @throws CudaException if there isn't enough
   */
  public DeviceStorage allocate(DType dtype, Shape shape, Scaling scaling) {
    try {
      DeviceMemory memory = allocator.allocate(DeviceStorage.allocationSize(dtype, shape, scaling));
      return new DeviceStorage(dtype, shape, scaling, memory);
    } catch (CudaException e) {
      throw new CudaException(
          "Can't allocate a tensor %s %s: %s".formatted(dtype, shape, e.getMessage()), e);
    }
  }

  /** Copies a host tensor to a storage of the same layout. */
  public void upload(HostTensor source, DeviceStorage target) {
    transfers.upload(source.data().asSlice(0, target.dataBytes()), target.memory(), 0);
    transfers.upload(
        source.scales().asSlice(0, target.scaleBytes()), target.memory(), target.scalesOffset());
    if (target.hasGlobal()) {
      MemorySegment global = MemorySegment.ofArray(new float[] {source.globalScale()});
      transfers.upload(global, target.memory(), target.globalOffset());
    }
  }

  /** Copies a storage to host memory of {@code arena}; waits for it. */
  public HostTensor download(DeviceStorage source, Arena arena) {
    float[] global = {1};
    if (source.hasGlobal()) {
      transfers.download(source.memory(), source.globalOffset(), MemorySegment.ofArray(global));
    }
    HostTensor host =
        HostTensor.allocate(arena, source.dtype(), source.shape(), source.scaling(), global[0]);
    transfers.download(source.memory(), 0, host.data().asSlice(0, source.dataBytes()));
    transfers.download(
        source.memory(), source.scalesOffset(), host.scales().asSlice(0, source.scaleBytes()));
    return host;
  }

  /** Entries of the kernels that were loaded, sorted. */
  public List<String> loadedKernels() {
    return cache.loaded();
  }

  /** Seconds of the device's clock between what was given before a body and what it gives. */
  public double seconds(Runnable body) {
    try (Event start = Event.timed(stream.context());
        Event end = Event.timed(stream.context())) {
      stream.record(start);
      body.run();
      stream.record(end);
      end.synchronize();
      return end.millisecondsSince(start) * 1e-3;
    }
  }

  /** Waits for all work given so far. */
  public void synchronize() {
    stream.synchronize();
  }

  /**
   * Gives everything back, in the reverse of the order in which it was taken, also when something
   * of it fails.
   *
   * @throws dev.minifloat.cuda.CudaException the first failure
   */
  @Override
  public void close() {
    List<AutoCloseable> closing = List.copyOf(opened);
    opened.clear();
    Closing.all(closing);
  }
}
