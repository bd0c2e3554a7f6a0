package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.driver.CUlaunchAttribute_st;
import dev.minifloat.cuda.driver.CUlaunchConfig_st;
import dev.minifloat.cuda.sim.internal.exec.ClusterSize;
import dev.minifloat.cuda.sim.internal.exec.Dim3;
import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Launches. Parameters are read before the call returns; the kernel runs when somebody waits. */
final class LaunchApi {
  private static final long EXTRA_END = 0;
  private static final long EXTRA_POINTER = 1;
  private static final long EXTRA_SIZE = 2;
  private static final int CLUSTER_DIMENSION = 4;
  private static final int HOPPER = 90;
  private static final int MOST_EXTRA = 16;
  private static final int MOST_ATTRIBUTES = 64;
  private static final int MOST_GRID_YZ = 65535;
  private static final int MOST_BLOCK_Z = 64;

  /**
   * Blocks that the interpreter keeps going at once: a larger grid can't wait for all of its own.
   */
  private static final int RESIDENT = 64;

  private final Simulation simulation;

  LaunchApi(Simulation simulation) {
    this.simulation = simulation;
  }

  void cuLaunchKernel(
      MemorySegment hFunction,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      MemorySegment hStream,
      MemorySegment kernelParams,
      MemorySegment extra) {
    launch(
        hFunction,
        new Dim3(gridX, gridY, gridZ),
        new Dim3(blockX, blockY, blockZ),
        null,
        sharedBytes,
        false,
        hStream,
        kernelParams,
        extra);
  }

  void cuLaunchCooperativeKernel(
      MemorySegment hFunction,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      MemorySegment hStream,
      MemorySegment kernelParams) {
    launch(
        hFunction,
        new Dim3(gridX, gridY, gridZ),
        new Dim3(blockX, blockY, blockZ),
        null,
        sharedBytes,
        true,
        hStream,
        kernelParams,
        MemorySegment.NULL);
  }

  void cuLaunchKernelEx(
      MemorySegment config,
      MemorySegment hFunction,
      MemorySegment kernelParams,
      MemorySegment extra) {
    MemorySegment c = Native.at(config, CUlaunchConfig_st.sizeof(), "config");
    int count = CUlaunchConfig_st.numAttrs(c);
    if (count < 0 || count > MOST_ATTRIBUTES) {
      throw CuResult.INVALID_VALUE.because(count + " attributes");
    }
    boolean cooperative = false;
    Dim3 cluster = null;
    for (int i = 0; i < count; i++) {
      MemorySegment all =
          Native.at(CUlaunchConfig_st.attrs(c), CUlaunchAttribute_st.sizeof() * count, "attrs");
      MemorySegment attribute = CUlaunchAttribute_st.asSlice(all, i);
      cooperative |= attribute(attribute);
      if (CUlaunchAttribute_st.id(attribute) == CLUSTER_DIMENSION) {
        cluster = cluster(CUlaunchAttribute_st.value(attribute));
      }
    }
    launch(
        hFunction,
        new Dim3(
            CUlaunchConfig_st.gridDimX(c),
            CUlaunchConfig_st.gridDimY(c),
            CUlaunchConfig_st.gridDimZ(c)),
        new Dim3(
            CUlaunchConfig_st.blockDimX(c),
            CUlaunchConfig_st.blockDimY(c),
            CUlaunchConfig_st.blockDimZ(c)),
        cluster,
        CUlaunchConfig_st.sharedMemBytes(c),
        cooperative,
        CUlaunchConfig_st.hStream(c),
        kernelParams,
        extra);
  }

  /** Whether an attribute asks for a cooperative launch. Hints change nothing in a simulation. */
  private static boolean attribute(MemorySegment attribute) {
    int id = CUlaunchAttribute_st.id(attribute);
    MemorySegment value = CUlaunchAttribute_st.value(attribute);
    int first = value.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
    return switch (id) {
      // A cluster of a preferred size may as well have the one that is required.
      case 0, 1, 3, CLUSTER_DIMENSION, 5, 6, 8, 9, 10, 11, 14, 16 -> false;
      case 2 -> first != 0;
      case 7, 12, 13 ->
          throw CuResult.NOT_SUPPORTED.because("launch attribute " + id + " isn't simulated");
      default -> throw CuResult.INVALID_VALUE.because("there is no launch attribute " + id);
    };
  }

  private static Dim3 cluster(MemorySegment value) {
    return new Dim3(
        value.get(ValueLayout.JAVA_INT_UNALIGNED, 0),
        value.get(ValueLayout.JAVA_INT_UNALIGNED, 4),
        value.get(ValueLayout.JAVA_INT_UNALIGNED, 8));
  }

  private static void checkCluster(Function function, Dim3 cluster, Dim3 grid) {
    Dim3 size;
    try {
      size = ClusterSize.of(function.kernel(), cluster, grid);
    } catch (IllegalArgumentException e) {
      throw CuResult.INVALID_CLUSTER_SIZE.because(e.getMessage());
    }
    int architecture = function.context().device().properties().architecture();
    int most = architecture < HOPPER ? 1 : function.mostCluster();
    if (size.count() > most) {
      throw CuResult.INVALID_CLUSTER_SIZE.because(
          "clusters %s on sm_%d; they may have %d blocks".formatted(size, architecture, most));
    }
  }

  private void launch(
      MemorySegment hFunction,
      Dim3 grid,
      Dim3 block,
      Dim3 cluster,
      int sharedBytes,
      boolean cooperative,
      MemorySegment hStream,
      MemorySegment kernelParams,
      MemorySegment extra) {
    Function function = FunctionApi.function(simulation, hFunction);
    Stream stream = simulation.stream(hStream);
    if (function.context() != stream.context()) {
      throw CuResult.INVALID_HANDLE.because("function and stream belong to different contexts");
    }
    check(function, grid, block, sharedBytes);
    checkCluster(function, cluster, grid);
    if (cooperative) {
      long fitting = OccupancyApi.blocks(function, (int) block.count(), sharedBytes);
      long most =
          Math.min(RESIDENT, fitting * function.context().device().properties().multiprocessors());
      if (grid.count() > most) {
        throw CuResult.COOPERATIVE_LAUNCH_TOO_LARGE.because(
            "%d blocks, of which %d run at once".formatted(grid.count(), most));
      }
    }
    byte[] parameters = parameters(function, kernelParams, extra);
    simulation.submit(
        stream, new Work.Kernel(function, grid, block, cluster, sharedBytes, parameters));
  }

  private static void check(Function function, Dim3 grid, Dim3 block, int sharedBytes) {
    boolean gridFits =
        grid.x() > 0
            && grid.y() > 0
            && grid.z() > 0
            && grid.y() <= MOST_GRID_YZ
            && grid.z() <= MOST_GRID_YZ;
    boolean blockFits =
        block.x() > 0
            && block.y() > 0
            && block.z() > 0
            && block.x() <= 1024
            && block.y() <= 1024
            && block.z() <= MOST_BLOCK_Z
            && block.count() <= function.maxThreads();
    if (!gridFits || !blockFits) {
      throw CuResult.INVALID_VALUE.because(
          "kernel '%s' can't have a grid %s of blocks %s; a block of it has at most %d threads"
              .formatted(function.name(), grid, block, function.maxThreads()));
    }
    List<Integer> required = function.kernel().directives().get(".reqntid");
    if (required != null) {
      int[] size = {1, 1, 1};
      for (int i = 0; i < required.size(); i++) {
        size[i] = required.get(i);
      }
      if (!block.equals(new Dim3(size[0], size[1], size[2]))) {
        throw CuResult.INVALID_VALUE.because(
            "kernel '%s' says .reqntid %s; a block %s was asked for"
                .formatted(function.name(), required, block));
      }
    }
    if (sharedBytes < 0 || sharedBytes > function.maxDynamic()) {
      throw CuResult.INVALID_VALUE.because(
          "kernel '%s' has %d bytes of static shared memory and may have %d of dynamic, not %s"
              .formatted(
                  function.name(),
                  function.staticShared(),
                  function.maxDynamic(),
                  Integer.toUnsignedString(sharedBytes)));
    }
  }

  private static byte[] parameters(Function function, MemorySegment params, MemorySegment extra) {
    if (!Native.isNull(params) && !Native.isNull(extra)) {
      throw CuResult.INVALID_VALUE.because("both kernelParams and extra are given");
    }
    PtxFunction kernel = function.kernel();
    byte[] bytes = new byte[kernel.parameterBytes()];
    if (!Native.isNull(extra)) {
      fromBuffer(function, extra, bytes);
      return bytes;
    }
    List<Integer> offsets = kernel.parameterOffsets();
    for (int i = 0; i < offsets.size(); i++) {
      long pointer = Native.getLong(params, i, "kernelParams");
      int size = (int) kernel.parameters().get(i).variable().bytes();
      MemorySegment value = Native.at(pointer, size, "kernelParams[" + i + "]");
      MemorySegment.copy(value, ValueLayout.JAVA_BYTE, 0, bytes, offsets.get(i), size);
    }
    return bytes;
  }

  private static void fromBuffer(Function function, MemorySegment extra, byte[] bytes) {
    long buffer = 0;
    long size = -1;
    for (int i = 0; i < MOST_EXTRA; i += 2) {
      long word = Native.getLong(extra, i, "extra");
      if (word == EXTRA_END) {
        break;
      } else if (word == EXTRA_POINTER) {
        buffer = Native.getLong(extra, i + 1, "extra");
      } else if (word == EXTRA_SIZE) {
        long pointer = Native.getLong(extra, i + 1, "extra");
        size = Native.getLong(MemorySegment.ofAddress(pointer), 0, "extra's size");
      } else {
        throw CuResult.INVALID_VALUE.because("0x%x is no word of extra".formatted(word));
      }
    }
    if (size < bytes.length) {
      throw CuResult.INVALID_VALUE.because(
          "kernel '%s' has %d bytes of parameters; %d were given"
              .formatted(function.name(), bytes.length, size));
    }
    if (bytes.length > 0) {
      MemorySegment values = Native.at(buffer, bytes.length, "extra's buffer");
      MemorySegment.copy(values, ValueLayout.JAVA_BYTE, 0, bytes, 0, bytes.length);
    }
  }
}
