package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.driver.Cuda;
import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Cleaner;

/** A point in a stream's work: to be waited for, or to measure times between. */
public final class Event implements AutoCloseable {
  private final PrimaryContext context;
  private final Handle handle;
  private final Cleaner.Cleanable cleanable;

  private Event(PrimaryContext context, int flags) {
    this.context = context;
    this.handle =
        Handle.create(
            context,
            "event",
            DriverFunction.cuEventDestroy_v2,
            DriverFunction.cuEventCreate,
            flags);
    this.cleanable = handle.watch(this);
  }

  /** An event that keeps the time at which it happens. */
  public static Event timed(PrimaryContext context) {
    return new Event(context, Cuda.CU_EVENT_DEFAULT());
  }

  /** An event without a time, which costs less. */
  public static Event untimed(PrimaryContext context) {
    return new Event(context, Cuda.CU_EVENT_DISABLE_TIMING());
  }

  Handle handle() {
    return handle;
  }

  /** Waits until it has happened; returns at once if it was never recorded. */
  public void synchronize() {
    context.call(DriverFunction.cuEventSynchronize, handle);
  }

  /** Whether it has happened, or was never recorded. */
  public boolean isDone() {
    int result = context.result(DriverFunction.cuEventQuery, handle);
    if (result == Cuda.CUDA_ERROR_NOT_READY()) {
      return false;
    }
    context.require(result, DriverFunction.cuEventQuery, handle);
    return true;
  }

  /**
   * Milliseconds from an earlier event to this one; the device's clock counts half microseconds.
   *
   * @param start has happened, as this one has
   * @throws dev.minifloat.cuda.CudaException if one of them keeps no time, was never recorded, or
   *     hasn't happened
   */
  public float millisecondsSince(Event start) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_FLOAT);
      context.call(DriverFunction.cuEventElapsedTime_v2, out, start.handle, handle);
      return out.get(ValueLayout.JAVA_FLOAT, 0);
    }
  }

  @Override
  public void close() {
    handle.close();
    cleanable.clean();
  }
}
