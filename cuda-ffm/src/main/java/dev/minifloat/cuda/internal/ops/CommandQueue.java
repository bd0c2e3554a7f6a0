package dev.minifloat.cuda.internal.ops;

import dev.minifloat.cuda.internal.driver.Arguments;
import dev.minifloat.cuda.internal.driver.DeviceAllocator;
import dev.minifloat.cuda.internal.driver.DeviceMemory;
import dev.minifloat.cuda.internal.driver.KernelCache;
import dev.minifloat.cuda.internal.driver.Launch;
import dev.minifloat.cuda.internal.driver.Stream;
import dev.minifloat.cuda.internal.driver.TensorBoxes;
import dev.minifloat.cuda.internal.driver.Transfers;
import dev.minifloat.cuda.internal.plan.DeviceTraits;
import dev.minifloat.cuda.internal.plan.LaunchGrid;
import dev.minifloat.cuda.internal.plan.Parameters;
import dev.minifloat.kernels.KernelEntry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;

/**
 * A device's work, done in the order in which it is given. All but {@link #read} return at once;
 * memory that is given back is free when the work before has ended.
 */
public final class CommandQueue {
  private final Stream stream;
  private final DeviceAllocator allocator;
  private final Transfers transfers;
  private final KernelCache kernels;
  private final DeviceTraits traits;

  /** Work for a stream. */
  public CommandQueue(
      Stream stream, DeviceAllocator allocator, Transfers transfers, KernelCache kernels) {
    this.stream = stream;
    this.allocator = allocator;
    this.transfers = transfers;
    this.kernels = kernels;
    this.traits =
        new DeviceTraits(
            stream.context().device().capability(), stream.context().device().multiprocessors());
  }

  /** What the device is. */
  DeviceTraits traits() {
    return traits;
  }

  /**
   * Runs a kernel.
   *
   * @param arguments gives what the kernel takes, in its order
   */
  void launch(KernelEntry kernel, LaunchGrid grid, Consumer<Parameters> arguments) {
    launch(kernel, grid, List.of(), arguments);
  }

  /**
   * Runs a kernel that takes tensor maps first.
   *
   * @param boxes what they show
   * @param arguments gives what the kernel takes besides, in its order
   */
  void launch(
      KernelEntry kernel,
      LaunchGrid grid,
      List<TensorBoxes> boxes,
      Consumer<Parameters> arguments) {
    try (Arena arena = Arena.ofConfined()) {
      Arguments given = new Arguments(kernel, arena);
      Parameters parameters = new Parameters(given);
      for (TensorBoxes box : boxes) {
        parameters.tensorMap(stream.context().tensorMap(box, arena));
      }
      arguments.accept(parameters);
      stream.launch(kernels.get(kernel), Launch.of(given, grid.x(), grid.y(), grid.z()));
    }
  }

  /** Sets bytes to zero. */
  void zero(DeviceMemory memory) {
    stream.fill(memory, 0, memory.byteSize(), (byte) 0);
  }

  /** Copies within the device. */
  void copy(DeviceMemory from, long fromOffset, DeviceMemory to, long toOffset, long bytes) {
    stream.copy(from, fromOffset, to, toOffset, bytes);
  }

  /** Copies to host memory; waits for it, and so for all work before. */
  void read(DeviceMemory from, long offset, MemorySegment to) {
    transfers.download(from, offset, to);
  }

  /** Memory for the rest of an operation. */
  DeviceMemory temporary(long bytes) {
    return allocator.allocate(bytes);
  }
}
