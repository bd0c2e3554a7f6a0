package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.driver.Cuda;
import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A device's primary context, retained. Calls made through it have it current, whatever the thread:
 * it is pushed, the function called and the context popped, and what was current before is so
 * again.
 *
 * <p>The driver knows threads of the operating system. A virtual thread changes its own only where
 * it blocks, and between push and pop nothing does: functions are bound before, and messages made
 * after.
 *
 * <p>It is released when it is closed and everything that was made in it is closed too.
 */
public final class PrimaryContext implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger("dev.minifloat.cuda");

  /** What a driver that shut down says. */
  private static final int ENDED = Cuda.CUDA_ERROR_DEINITIALIZED();

  /** Added to the number of children while the context is open. */
  private static final long OPEN = 1L << 62;

  private final Device device;
  private final MemorySegment pointer;
  private final Holder holder;
  private final AtomicLong children = new AtomicLong(OPEN);
  private final Cleaner.Cleanable cleanable;
  private volatile CudaException broken;
  private volatile boolean driverEnded;

  private PrimaryContext(Device device, MemorySegment pointer, Holder holder) {
    this.device = device;
    this.pointer = pointer;
    this.holder = holder;
    AtomicLong counted = children;
    this.cleanable = Handle.CLEANER.register(this, () -> abandoned(device, counted, holder));
  }

  /** What happens to a context that was forgotten, which nothing that was made in it can be. */
  private static void abandoned(Device device, AtomicLong children, Holder holder) {
    if (children.get() == 0) {
      return;
    }
    holder.warn("The primary context of " + device + " was never closed; it is released now");
    try {
      device.driver().call(DriverFunction.cuDevicePrimaryCtxRelease_v2, device.handle());
    } catch (RuntimeException e) {
      LOG.warn("Releasing the primary context of {} failed", device, e);
    }
  }

  /**
   * Retains a device's primary context.
   *
   * @throws CudaException if the device can't make it
   */
  public static PrimaryContext retain(Device device) {
    return retain(device, Holder.NOBODY);
  }

  /**
   * Retains a device's primary context.
   *
   * @param holder whom a warning names if it is forgotten
   * @throws CudaException if the device can't make it
   */
  public static PrimaryContext retain(Device device, Holder holder) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
      device.driver().call(DriverFunction.cuDevicePrimaryCtxRetain, out, device.handle());
      return new PrimaryContext(device, out.get(ValueLayout.ADDRESS, 0), holder);
    }
  }

  /** Its device. */
  public Device device() {
    return device;
  }

  /** The driver. */
  public Driver driver() {
    return device.driver();
  }

  /** Who retained it. */
  Holder holder() {
    return holder;
  }

  /**
   * Calls a function with this context current.
   *
   * @param arguments of the function's types; a {@link Handle} stands for its address and can't end
   *     meanwhile
   * @throws CudaException if it fails
   * @throws IllegalStateException if a handle is closed, or this context is
   */
  void call(DriverFunction function, Object... arguments) {
    require(result(function, arguments), function, arguments);
  }

  /** Calls a function with this context current, and returns its {@code CUresult}. */
  int result(DriverFunction function, Object... arguments) {
    Outcome outcome = invoke(function, arguments);
    outcome.requireContext(this);
    return outcome.result();
  }

  /** A tensor map, in memory of an allocator. */
  public MemorySegment tensorMap(TensorBoxes boxes, SegmentAllocator memory) {
    return boxes.encode(this, memory);
  }

  /** The results of making the context current, of a function, and of undoing the former. */
  private record Outcome(int pushed, int result, int popped) {
    boolean saysEnded() {
      return pushed == ENDED || result == ENDED || popped == ENDED;
    }

    void requireContext(PrimaryContext context) {
      context.require(pushed, DriverFunction.cuCtxPushCurrent_v2, context.pointer);
      context.require(popped, DriverFunction.cuCtxPopCurrent_v2);
    }
  }

  private Outcome invoke(DriverFunction function, Object... arguments) {
    Binding target = driver().bind(function);
    int held = hold(arguments);
    try {
      return invoke(() -> target.call(arguments));
    } finally {
      release(arguments, held);
    }
  }

  /** Makes a call, which is bound and whose handles are held, with this context current. */
  private Outcome invoke(IntSupplier call) {
    if (children.get() == 0) {
      throw new IllegalStateException("the " + this + " is closed");
    }
    Binding push = driver().bind(DriverFunction.cuCtxPushCurrent_v2);
    Binding pop = driver().bind(DriverFunction.cuCtxPopCurrent_v2);
    int pushed = push.call(pointer);
    if (pushed != Driver.SUCCESS) {
      return new Outcome(pushed, Driver.SUCCESS, Driver.SUCCESS);
    }
    int popped = Driver.SUCCESS;
    int result;
    try {
      result = call.getAsInt();
    } finally {
      popped = pop.call(MemorySegment.NULL);
      if (popped != Driver.SUCCESS) {
        // Or else the thread would keep this context.
        pop.call(MemorySegment.NULL);
      }
    }
    return new Outcome(pushed, result, popped);
  }

  private static int hold(Object[] arguments) {
    int held = 0;
    try {
      for (Object argument : arguments) {
        if (argument instanceof Handle handle) {
          handle.hold();
        }
        held++;
      }
    } catch (IllegalStateException e) {
      release(arguments, held);
      throw e;
    }
    return held;
  }

  private static void release(Object[] arguments, int held) {
    for (int i = 0; i < held; i++) {
      if (arguments[i] instanceof Handle handle) {
        handle.release();
      }
    }
  }

  /** Throws unless a result is success; notes results after which the context can't be used. */
  void require(int result, DriverFunction function, Object... arguments) {
    if (result == Driver.SUCCESS) {
      return;
    }
    if (result == ENDED) {
      driverEnded = true;
    }
    CudaException failure = driver().failure(result, function, arguments);
    CudaException first = broken;
    if (first != null) {
      throw new CudaException(
          failure.getMessage() + "; the device stopped earlier: " + first.getMessage(), failure);
    }
    if (isSticky(result)) {
      broken = failure;
    }
    throw failure;
  }

  /** Whether a call was told that the driver has shut down: all that it made went with it. */
  boolean driverHasEnded() {
    return driverEnded;
  }

  /** What made the context unusable; null while it is usable. */
  public CudaException broken() {
    return broken;
  }

  /** Results that every later call of the context returns again (CUDA Driver API, CUresult). */
  private static boolean isSticky(int result) {
    return result == Cuda.CUDA_ERROR_ILLEGAL_ADDRESS()
        || result == Cuda.CUDA_ERROR_LAUNCH_TIMEOUT()
        || result == Cuda.CUDA_ERROR_ASSERT()
        || result == Cuda.CUDA_ERROR_HARDWARE_STACK_ERROR()
        || result == Cuda.CUDA_ERROR_ILLEGAL_INSTRUCTION()
        || result == Cuda.CUDA_ERROR_MISALIGNED_ADDRESS()
        || result == Cuda.CUDA_ERROR_INVALID_ADDRESS_SPACE()
        || result == Cuda.CUDA_ERROR_INVALID_PC()
        || result == Cuda.CUDA_ERROR_LAUNCH_FAILED()
        || result == Cuda.CUDA_ERROR_CONTAINED()
        || result == Cuda.CUDA_ERROR_TENSOR_MEMORY_LEAK()
        || result == Cuda.CUDA_ERROR_ECC_UNCORRECTABLE();
  }

  /**
   * Calls what gives something back, whose address is the first argument. What belonged to a
   * context that the device left unusable is gone with it, and so is everything when the driver has
   * shut down, as it does at the end of a process: that is no failure any more.
   */
  void giveBack(DriverFunction function, Object... arguments) {
    Outcome first = invoke(function, arguments);
    // If it was not called: once more, for who would do so later?
    Outcome last = first.pushed() == Driver.SUCCESS ? first : invoke(function, arguments);
    if (last.saysEnded()) {
      driverEnded = true;
      LOG.debug("{} after the driver shut down", function.symbol());
      return;
    }
    if (broken != null && last.result() == broken.result()) {
      LOG.debug("{} after the device stopped: {}", function.symbol(), broken.resultName());
      return;
    }
    first.requireContext(this);
    last.requireContext(this);
    require(last.result(), function, arguments);
  }

  /** Waits for everything that the device was asked to do in this context. */
  public void synchronize() {
    call(DriverFunction.cuCtxSynchronize);
  }

  /**
   * The device's memory.
   *
   * @param free bytes that nobody uses
   * @param total all bytes
   */
  public record MemoryInfo(long free, long total) {}

  /** How much memory the device has left. */
  public MemoryInfo memory() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment free = arena.allocate(ValueLayout.JAVA_LONG);
      MemorySegment total = arena.allocate(ValueLayout.JAVA_LONG);
      call(DriverFunction.cuMemGetInfo_v2, free, total);
      return new MemoryInfo(
          free.get(ValueLayout.JAVA_LONG, 0), total.get(ValueLayout.JAVA_LONG, 0));
    }
  }

  /**
   * Counts something that is going to be made in it.
   *
   * @throws IllegalStateException if it is closed
   */
  void addChild() {
    long before = children.getAndUpdate(now -> now >= OPEN ? now + 1 : now);
    if (before < OPEN) {
      throw new IllegalStateException("the " + this + " is closed");
    }
  }

  /** Counts the end of something. */
  void removeChild() {
    if (children.decrementAndGet() == 0) {
      end();
    }
  }

  @Override
  public void close() {
    long before = children.getAndUpdate(now -> now >= OPEN ? now - OPEN : now);
    if (before == OPEN) {
      end();
    }
  }

  private void end() {
    cleanable.clean();
    int result = driver().bind(DriverFunction.cuDevicePrimaryCtxRelease_v2).call(device.handle());
    if (result != ENDED) {
      driver().require(result, DriverFunction.cuDevicePrimaryCtxRelease_v2, device.handle());
    }
  }

  @Override
  public String toString() {
    return "primary context of " + device;
  }
}
