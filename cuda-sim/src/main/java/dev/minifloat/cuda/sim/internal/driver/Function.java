package dev.minifloat.cuda.sim.internal.driver;

import dev.minifloat.cuda.sim.internal.exec.ClusterSize;
import dev.minifloat.cuda.sim.internal.exec.Dim3;
import dev.minifloat.cuda.sim.internal.ptx.PtxFunction;
import dev.minifloat.cuda.sim.internal.ptx.StateSpace;
import dev.minifloat.cuda.sim.internal.ptx.Variable;
import java.util.List;

/** A kernel of a loaded module. */
final class Function extends Resource {
  /** Shared memory that a block has without opting in to more. */
  static final int DEFAULT_SHARED = 48 << 10;

  private static final int MOST_THREADS = 1024;
  private static final int MOST_REGISTERS = 255;
  private static final int REGISTER_FILE = 65536;

  private final LoadedModule module;
  private final String name;
  private final PtxFunction kernel;
  private int maxDynamic;
  private int carveout = -1;
  private int cacheConfig;
  private boolean anyCluster;
  private int clusterPolicy;

  Function(LoadedModule module, String name) {
    this.module = module;
    this.name = name;
    this.kernel = module.linked().kernel(name);
    this.maxDynamic = Math.max(0, DEFAULT_SHARED - staticShared());
  }

  @Override
  String kind() {
    return "function";
  }

  @Override
  Context context() {
    return module.context();
  }

  @Override
  boolean isOwned() {
    return false;
  }

  LoadedModule module() {
    return module;
  }

  String name() {
    return name;
  }

  PtxFunction kernel() {
    return kernel;
  }

  int staticShared() {
    return module.linked().staticSharedBytes(name);
  }

  int maxDynamic() {
    return maxDynamic;
  }

  int maxThreads() {
    long most = MOST_THREADS;
    for (String directive : List.of(".maxntid", ".reqntid")) {
      List<Integer> sizes = kernel.directives().get(directive);
      if (sizes != null) {
        most =
            Math.min(most, sizes.stream().mapToLong(Integer::longValue).reduce(1, (a, b) -> a * b));
      }
    }
    return (int) most;
  }

  /**
   * Registers of a thread. Nobody allocates registers here: these are as many as the PTX names, but
   * no more than let a block of the largest size run.
   */
  int registers() {
    int fitting = REGISTER_FILE / maxThreads();
    int named = Math.max(module.linked().registers(name), 8);
    List<Integer> bound = kernel.directives().get(".maxnreg");
    int most = bound == null ? MOST_REGISTERS : bound.getFirst();
    return Math.min(Math.min(named, most), fitting);
  }

  private int constantBytes() {
    return (int)
        module.linked().module().variables().stream()
            .filter(variable -> variable.space() == StateSpace.CONST)
            .mapToLong(Variable::bytes)
            .sum();
  }

  private int requiredCluster(int axis) {
    Dim3 size = ClusterSize.required(kernel);
    return size == null ? 0 : axis == 0 ? size.x() : axis == 1 ? size.y() : size.z();
  }

  /** The largest cluster that a launch of it may have. */
  int mostCluster() {
    return anyCluster ? ClusterSize.LARGEST : ClusterSize.PORTABLE;
  }

  /** An attribute's value (CUfunction_attribute). */
  int attribute(int attribute) {
    return switch (attribute) {
      case 0 -> maxThreads();
      case 1 -> staticShared();
      case 2 -> constantBytes();
      case 3 -> module.linked().localBytes(name);
      case 4 -> registers();
      case 5 -> module.linked().module().architecture();
      case 6 -> context().device().properties().architecture();
      case 7 -> 0;
      case 8 -> maxDynamic;
      case 9 -> carveout;
      case 10 -> kernel.directives().containsKey(".explicitcluster") ? 1 : 0;
      case 11, 12, 13 -> requiredCluster(attribute - 11);
      case 14 -> anyCluster ? 1 : 0;
      case 15 -> clusterPolicy;
      default -> throw CuResult.INVALID_VALUE.because("a function has no attribute " + attribute);
    };
  }

  void attribute(int attribute, int value) {
    switch (attribute) {
      case 8 -> {
        int most = context().device().properties().sharedPerBlock() - staticShared();
        if (value < 0 || value > most) {
          throw CuResult.INVALID_VALUE.because(
              "kernel '%s' can have at most %d bytes of dynamic shared memory, not %d"
                  .formatted(name, most, value));
        }
        maxDynamic = value;
      }
      case 9 -> {
        if (value < -1 || value > 100) {
          throw CuResult.INVALID_VALUE.because("a carveout of " + value + " percent");
        }
        carveout = value;
      }
      case 14 -> anyCluster = value != 0;
      case 15 -> {
        if (value < 0 || value > 2) {
          throw CuResult.INVALID_VALUE.because("cluster scheduling policy " + value);
        }
        clusterPolicy = value;
      }
      case 10, 11, 12, 13 ->
          throw CuResult.NOT_SUPPORTED.because(
              "a cluster's size is given by the kernel or by a launch here");
      default ->
          throw CuResult.INVALID_VALUE.because(
              "a function's attribute " + attribute + " can't be set");
    }
  }

  void cacheConfig(int value) {
    if (value < 0 || value > 3) {
      throw CuResult.INVALID_VALUE.because("cache configuration " + value);
    }
    cacheConfig = value;
  }

  int cacheConfig() {
    return cacheConfig;
  }
}
