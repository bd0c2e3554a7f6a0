package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.sim.internal.exec.ExecutionOptions;
import dev.minifloat.cuda.sim.internal.exec.MmaArithmetic;
import dev.minifloat.cuda.sim.trace.Tracer;
import java.util.List;
import java.util.function.Consumer;

/**
 * How a driver is made.
 *
 * @param devices its devices, in the order of their ordinals
 * @param driverVersion what {@code cuDriverGetVersion} says: 13000 for CUDA 13.0
 * @param newestPtx the highest {@code .version} it loads, times ten
 * @param arithmetic how matrix instructions add
 * @param seed decides the order of blocks, of warps, and of what streams leave open
 * @param detectRaces whether races in shared memory are faults
 * @param checkInitialized whether a kernel's reads of bytes that nobody wrote are faults
 * @param maxInstructions warp instructions after which a launch counts as endless
 * @param output takes what kernels print
 * @param tracer sees kernels run; null for nobody
 */
public record Settings(
    List<DeviceProperties> devices,
    int driverVersion,
    int newestPtx,
    MmaArithmetic arithmetic,
    long seed,
    boolean detectRaces,
    boolean checkInitialized,
    long maxInstructions,
    Consumer<String> output,
    Tracer tracer) {
  public Settings {
    devices = List.copyOf(devices);
  }

  ExecutionOptions options(DeviceProperties device, long launch) {
    return new ExecutionOptions(
        device.architecture(),
        arithmetic,
        seed + launch,
        detectRaces,
        checkInitialized,
        maxInstructions,
        device.sharedPerBlock(),
        device.multiprocessors());
  }
}
