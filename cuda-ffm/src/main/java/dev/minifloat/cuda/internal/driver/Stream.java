package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.driver.Cuda;
import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;

/**
 * Work of a device in an order. All methods but those that say that they wait return at once; what
 * fails on the device is told by a later call.
 */
public final class Stream implements AutoCloseable {
  private final PrimaryContext context;
  private final Handle handle;
  private final Cleaner.Cleanable cleanable;
  private final RecentWork recent = new RecentWork();

  private Stream(PrimaryContext context) {
    this.context = context;
    this.handle =
        Handle.create(
            context,
            "stream",
            DriverFunction.cuStreamDestroy_v2,
            DriverFunction.cuStreamCreate,
            Cuda.CU_STREAM_NON_BLOCKING());
    this.cleanable = handle.watch(this);
  }

  /** A stream that doesn't wait for the default stream, which other code of the process may use. */
  public static Stream create(PrimaryContext context) {
    return new Stream(context);
  }

  /** The context. */
  public PrimaryContext context() {
    return context;
  }

  Handle handle() {
    return handle;
  }

  /**
   * Runs a kernel.
   *
   * @param kernel the kernel of {@code launch}'s entry, loaded in this stream's context
   */
  public void launch(Kernel kernel, Launch launch) {
    kernel.launch(context, launch, handle);
    recent.add(launch.kernel().entry());
  }

  /** Copies page-locked memory to the device; it must stay as it is until that happened. */
  public void copyToDevice(MemorySegment pinned, DeviceMemory target, long offset) {
    target.requireRange(offset, pinned.byteSize());
    if (pinned.byteSize() > 0) {
      context.call(
          DriverFunction.cuMemcpyHtoDAsync_v2,
          target.address() + offset,
          pinned,
          pinned.byteSize(),
          handle);
    }
  }

  /** Copies from the device to page-locked memory; the bytes are there after a wait. */
  public void copyToHost(DeviceMemory source, long offset, MemorySegment pinned) {
    source.requireRange(offset, pinned.byteSize());
    if (pinned.byteSize() > 0) {
      context.call(
          DriverFunction.cuMemcpyDtoHAsync_v2,
          pinned,
          source.address() + offset,
          pinned.byteSize(),
          handle);
    }
  }

  /** Copies within the device. */
  public void copy(
      DeviceMemory source, long sourceOffset, DeviceMemory target, long targetOffset, long bytes) {
    source.requireRange(sourceOffset, bytes);
    target.requireRange(targetOffset, bytes);
    if (bytes > 0) {
      context.call(
          DriverFunction.cuMemcpyDtoDAsync_v2,
          target.address() + targetOffset,
          source.address() + sourceOffset,
          bytes,
          handle);
    }
  }

  /** Sets bytes. */
  public void fill(DeviceMemory target, long offset, long bytes, byte value) {
    target.requireRange(offset, bytes);
    if (bytes > 0) {
      context.call(DriverFunction.cuMemsetD8Async, target.address() + offset, value, bytes, handle);
    }
  }

  /** Sets 32-bit words at an offset that is a multiple of four. */
  public void fillWords(DeviceMemory target, long offset, long words, int value) {
    target.requireRange(offset, Math.multiplyExact(words, Integer.BYTES));
    if (words > 0) {
      context.call(
          DriverFunction.cuMemsetD32Async, target.address() + offset, value, words, handle);
    }
  }

  /** Lets an event happen when all work so far is done. */
  public void record(Event event) {
    context.call(DriverFunction.cuEventRecord, event.handle(), handle);
  }

  /** Lets later work begin only after an event, which another stream may record. */
  public void waitFor(Event event) {
    context.call(DriverFunction.cuStreamWaitEvent, handle, event.handle(), 0);
  }

  /** Runs all of a graph's work. */
  public void launch(Graph graph) {
    recent.add("a graph");
    context.call(DriverFunction.cuGraphLaunch, graph.handle(), handle);
  }

  /**
   * Waits for all work.
   *
   * @throws CudaException if something failed on the device; the message has the kernels among
   *     which it was
   */
  public void synchronize() {
    explained(() -> context.call(DriverFunction.cuStreamSynchronize, handle));
    recent.clear();
  }

  /** Whether all work is done. */
  public boolean isIdle() {
    int result = context.result(DriverFunction.cuStreamQuery, handle);
    if (result == Cuda.CUDA_ERROR_NOT_READY()) {
      return false;
    }
    explained(() -> context.require(result, DriverFunction.cuStreamQuery, handle));
    return true;
  }

  /** Waits for an event that was recorded in this stream. */
  void await(Event event) {
    explained(event::synchronize);
  }

  private void explained(Runnable wait) {
    try {
      wait.run();
    } catch (CudaException e) {
      throw recent.explain(e);
    }
  }

  /** Gives it back. Work that is left still runs; memory allocated for it keeps it until freed. */
  @Override
  public void close() {
    handle.close();
    cleanable.clean();
  }

  @Override
  public String toString() {
    return handle.toString();
  }
}
