package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.driver.DriverFunction;
import dev.minifloat.kernels.KernelEntry;
import java.lang.foreign.MemorySegment;

/**
 * A kernel of a loaded module; a launch after the module's end is an {@link IllegalStateException}.
 */
public final class Kernel {
  private final KernelEntry entry;
  private final PtxModule module;
  private final MemorySegment function;

  Kernel(KernelEntry entry, PtxModule module, MemorySegment function) {
    this.entry = entry;
    this.module = module;
    this.function = function;
  }

  /** What the catalog says of it. */
  public KernelEntry entry() {
    return entry;
  }

  /** Gives the driver a launch. */
  void launch(PrimaryContext context, Launch launch, Handle stream) {
    if (!entry.equals(launch.kernel())) {
      throw new IllegalArgumentException(
          "launch: it is one of %s, and the kernel is %s"
              .formatted(launch.kernel().entry(), entry));
    }
    Handle held = module.handle();
    held.hold();
    try {
      int result =
          context.result(
              DriverFunction.cuLaunchKernel,
              function,
              launch.gridX(),
              launch.gridY(),
              launch.gridZ(),
              launch.blockX(),
              launch.blockY(),
              1,
              launch.sharedBytes(),
              stream,
              launch.arguments().pointers(),
              MemorySegment.NULL);
      context.require(result, DriverFunction.cuLaunchKernel, launch, stream);
    } finally {
      held.release();
    }
  }

  @Override
  public String toString() {
    return entry.entry() + " of " + entry.file().path();
  }
}
