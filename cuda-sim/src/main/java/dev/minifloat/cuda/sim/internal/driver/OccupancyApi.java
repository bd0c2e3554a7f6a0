package dev.minifloat.cuda.sim.internal.driver;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** How many blocks fit on a multiprocessor: by threads, blocks, registers and shared memory. */
final class OccupancyApi {
  private static final int WARP = 32;
  private static final int REGISTERS = 65536;

  /** Registers are given to warps in such pieces. */
  private static final int REGISTER_UNIT = 256;

  /** Shared memory is given to blocks in such pieces, and the driver takes so much of each. */
  private static final int SHARED_UNIT = 128;

  private static final int RESERVED = 1024;

  private final Simulation simulation;

  OccupancyApi(Simulation simulation) {
    this.simulation = simulation;
  }

  private static int roundUp(int value, int unit) {
    return (value + unit - 1) / unit * unit;
  }

  /** Blocks of a kernel that fit on one multiprocessor. */
  static int blocks(Function function, int threads, long dynamicBytes) {
    DeviceProperties device = function.context().device().properties();
    if (threads > function.maxThreads() || dynamicBytes > function.maxDynamic()) {
      return 0;
    }
    int warps = (threads + WARP - 1) / WARP;
    int byThreads = device.threadsPerMultiprocessor() / (warps * WARP);
    int warpRegisters = roundUp(function.registers() * WARP, REGISTER_UNIT);
    int byRegisters = REGISTERS / (warpRegisters * warps);
    int shared = roundUp(function.staticShared() + (int) dynamicBytes, SHARED_UNIT) + RESERVED;
    int byShared = device.sharedPerMultiprocessor() / shared;
    return Math.min(
        Math.min(byThreads, device.blocksPerMultiprocessor()), Math.min(byRegisters, byShared));
  }

  void cuOccupancyMaxActiveBlocksPerMultiprocessor(
      MemorySegment out, MemorySegment hFunction, int blockSize, long dynamicBytes) {
    Function function = FunctionApi.function(simulation, hFunction);
    Native.require(out, "numBlocks");
    if (blockSize <= 0 || dynamicBytes < 0) {
      throw CuResult.INVALID_VALUE.because(
          "blocks of %d threads with %d bytes".formatted(blockSize, dynamicBytes));
    }
    Native.putInt(out, blocks(function, blockSize, dynamicBytes), "numBlocks");
  }

  void cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      MemorySegment out, MemorySegment hFunction, int blockSize, long dynamicBytes, int flags) {
    if ((flags & ~1) != 0) {
      throw CuResult.INVALID_VALUE.because("flags 0x%x".formatted(flags));
    }
    cuOccupancyMaxActiveBlocksPerMultiprocessor(out, hFunction, blockSize, dynamicBytes);
  }

  void cuOccupancyMaxPotentialBlockSize(
      MemorySegment minGrid,
      MemorySegment out,
      MemorySegment hFunction,
      MemorySegment bytesOfSize,
      long dynamicBytes,
      int limit) {
    Function function = FunctionApi.function(simulation, hFunction);
    Native.require(minGrid, "minGridSize");
    Native.require(out, "blockSize");
    int most = limit <= 0 ? function.maxThreads() : Math.min(limit, function.maxThreads());
    int best = 0;
    int bestThreads = 0;
    for (int size = most; size > 0; size = (size - 1) / WARP * WARP) {
      long bytes = Native.isNull(bytesOfSize) ? dynamicBytes : ask(bytesOfSize, size);
      int threads = blocks(function, size, bytes) * size;
      if (threads > bestThreads) {
        bestThreads = threads;
        best = size;
      }
    }
    if (best == 0) {
      throw CuResult.INVALID_VALUE.because("no block of kernel '" + function.name() + "' fits");
    }
    int multiprocessors = function.context().device().properties().multiprocessors();
    Native.putInt(minGrid, bestThreads / best * multiprocessors, "minGridSize");
    Native.putInt(out, best, "blockSize");
  }

  private static long ask(MemorySegment callback, int size) {
    MethodHandle handle =
        Linker.nativeLinker()
            .downcallHandle(
                callback, FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    try {
      return (long) handle.invokeExact(size);
    } catch (Throwable e) {
      throw new IllegalStateException("blockSizeToDynamicSMemSize can't be called", e);
    }
  }

  void cuOccupancyAvailableDynamicSMemPerBlock(
      MemorySegment out, MemorySegment hFunction, int numBlocks, int blockSize) {
    Function function = FunctionApi.function(simulation, hFunction);
    Native.require(out, "dynamicSmemSize");
    if (numBlocks <= 0 || blockSize <= 0 || blocks(function, blockSize, 0) < numBlocks) {
      throw CuResult.INVALID_VALUE.because(
          "%d blocks of %d threads don't fit".formatted(numBlocks, blockSize));
    }
    DeviceProperties device = function.context().device().properties();
    int each = device.sharedPerMultiprocessor() / numBlocks / SHARED_UNIT * SHARED_UNIT;
    int available = Math.min(each - RESERVED, device.sharedPerBlock()) - function.staticShared();
    Native.putLong(out, Math.max(0, available), "dynamicSmemSize");
  }
}
