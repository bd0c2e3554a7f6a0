package dev.minifloat.cuda.internal.driver;

import dev.minifloat.cuda.driver.Cuda;
import dev.minifloat.cuda.driver.DriverFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A device of a driver.
 *
 * @param driver whose it is
 * @param ordinal its number there, from 0
 * @param handle the driver's {@code CUdevice}
 * @param name as the driver has it
 * @param capability compute capability as one number: 89 for 8.9
 * @param memoryBytes its memory
 * @param multiprocessors streaming multiprocessors
 * @param sharedBytesPerBlock shared memory that a block may opt in to
 * @param hasMemoryPools whether allocations can be ordered by streams
 */
public record Device(
    Driver driver,
    int ordinal,
    int handle,
    String name,
    int capability,
    long memoryBytes,
    int multiprocessors,
    int sharedBytesPerBlock,
    boolean hasMemoryPools) {
  private static final int NAME_BYTES = 256;

  static Device of(Driver driver, int ordinal) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
      driver.call(DriverFunction.cuDeviceGet, out, ordinal);
      int handle = out.get(ValueLayout.JAVA_INT, 0);
      // The driver ends the name with a 0; this has one more, should it not.
      MemorySegment name = arena.allocate(NAME_BYTES + 1);
      driver.call(DriverFunction.cuDeviceGetName, name, NAME_BYTES, handle);
      driver.call(DriverFunction.cuDeviceTotalMem_v2, out, handle);
      long memoryBytes = out.get(ValueLayout.JAVA_LONG, 0);
      int major = attribute(driver, handle, Cuda.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR());
      int minor = attribute(driver, handle, Cuda.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR());
      return new Device(
          driver,
          ordinal,
          handle,
          name.getString(0),
          10 * major + minor,
          memoryBytes,
          attribute(driver, handle, Cuda.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT()),
          attribute(driver, handle, Cuda.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN()),
          attribute(driver, handle, Cuda.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED()) != 0
              && driver.has(DriverFunction.cuMemPoolCreate));
    }
  }

  private static int attribute(Driver driver, int handle, int attribute) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
      driver.call(DriverFunction.cuDeviceGetAttribute, out, attribute, handle);
      return out.get(ValueLayout.JAVA_INT, 0);
    }
  }

  /** The value of a {@code CUdevice_attribute}. */
  public int attribute(int attribute) {
    return attribute(driver, handle, attribute);
  }

  @Override
  public String toString() {
    return "%s (device %d of %s, sm_%d)".formatted(name, ordinal, driver, capability);
  }
}
