package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.CudaException;
import dev.minifloat.cuda.driver.Cuda;
import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.Locale;
import java.util.Optional;

/** Finds a driver's library, and finds out whether it can be used. */
final class DriverLibrary {
  /** The oldest CUDA whose drivers know sm_80 and PTX 7.0, which the kernels need. */
  private static final int OLDEST = 11000;

  private static final String SIMULATOR =
      "to try the kernels without a GPU, ask the minifloat command for the backend cuda-sim:sm_89, or"
          + " give CudaBackend.on the lookup of a SimulatedDriver (minifloat-cuda-sim)";

  private DriverLibrary() {}

  private static String fileName() {
    boolean windows = System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("windows");
    return windows ? "nvcuda.dll" : "libcuda.so.1";
  }

  static Driver open() {
    requireNativeAccess();
    return open(library(fileName()), fileName());
  }

  /** The symbols of a library that stays loaded. */
  static SymbolLookup library(String file) {
    try {
      return SymbolLookup.libraryLookup(file, Arena.global());
    } catch (IllegalArgumentException e) {
      throw new DriverUnavailableException(
          file + " was not found: there is no NVIDIA driver here",
          "install the driver of an NVIDIA GPU; " + SIMULATOR,
          e);
    }
  }

  static Driver open(SymbolLookup lookup, String name) {
    requireNativeAccess();
    Driver driver = Driver.uninitialised(lookup, name);
    if (!driver.has(DriverFunction.cuInit) || !driver.has(DriverFunction.cuDriverGetVersion)) {
      throw new DriverUnavailableException(
          name + " has no function cuInit: it is no CUDA driver",
          "remove it from the library path, and install the driver of an NVIDIA GPU",
          null);
    }
    try {
      requireVersion(driver);
      driver.call(DriverFunction.cuInit, 0);
      requireDevice(driver);
    } catch (CudaException e) {
      throw new DriverUnavailableException(e.getMessage(), remedy(e.result()), e);
    }
    return driver;
  }

  private static void requireVersion(Driver driver) {
    int version = driver.version();
    if (version < OLDEST) {
      throw new DriverUnavailableException(
          "%s supports CUDA %s only".formatted(driver, text(version)),
          "install a driver that supports CUDA %s or newer".formatted(text(OLDEST)),
          null);
    }
  }

  private static String text(int version) {
    return version / 1000 + "." + version % 1000 / 10;
  }

  private static void requireDevice(Driver driver) {
    if (driver.devices().isEmpty()) {
      throw new DriverUnavailableException(
          driver + " finds no device", "make a GPU visible to this process; " + SIMULATOR, null);
    }
  }

  private static String remedy(int result) {
    if (result == Cuda.CUDA_ERROR_NO_DEVICE()) {
      return "make a GPU visible to this process (CUDA_VISIBLE_DEVICES, a container's --gpus); "
          + SIMULATOR;
    }
    if (result == Cuda.CUDA_ERROR_SYSTEM_DRIVER_MISMATCH()) {
      return "restart the system, so that the kernel module and the library are of one version";
    }
    return "see whether nvidia-smi lists the GPU; " + SIMULATOR;
  }

  private static void requireNativeAccess() {
    try {
      DriverFunction.requireNativeAccess();
      // Restricted as well: this module needs access of its own.
      MemorySegment.NULL.reinterpret(1);
    } catch (IllegalCallerException e) {
      throw new DriverUnavailableException(
          "the JVM denies native access",
          "start java with --enable-native-access=dev.minifloat.bindings,dev.minifloat.cuda, or"
              + " --enable-native-access=ALL-UNNAMED where the jars are on the class path",
          e);
    }
  }

  /**
   * A function's symbol. One that got a new version without a change of its prototype is found
   * under its older name too.
   */
  static Optional<MemorySegment> find(SymbolLookup lookup, DriverFunction function) {
    return lookup
        .find(function.symbol())
        .or(
            () ->
                function == DriverFunction.cuEventElapsedTime_v2
                    ? lookup.find("cuEventElapsedTime")
                    : Optional.empty());
  }
}
