package dev.minifloat.cuda;

import dev.minifloat.cuda.driver.Cuda;
import dev.minifloat.cuda.internal.driver.Device;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntSupplier;

/**
 * What a device and its driver say of themselves: enough to understand what kernels did there.
 *
 * @param driverVersion the newest CUDA that the driver supports: 13000 for 13.0
 * @param name of the device
 * @param ordinal its number in the driver's list, from 0
 * @param capability ten times its major compute capability, plus the minor one: 89 for 8.9
 * @param memoryBytes its memory
 * @param attributes values of {@code CUdevice_attribute}, by their names in {@code cuda.h} less
 *     {@code CU_DEVICE_ATTRIBUTE_}; one that the driver doesn't know is absent
 */
public record DeviceFacts(
    int driverVersion,
    String name,
    int ordinal,
    int capability,
    long memoryBytes,
    Map<String, Integer> attributes) {
  private static final Map<String, IntSupplier> ATTRIBUTES = attributeNumbers();

  /** Keeps the order. */
  public DeviceFacts {
    attributes = Collections.unmodifiableMap(new LinkedHashMap<>(attributes));
  }

  static DeviceFacts of(Device device) {
    Map<String, Integer> attributes = new LinkedHashMap<>();
    ATTRIBUTES.forEach(
        (name, number) -> {
          try {
            attributes.put(name, device.attribute(number.getAsInt()));
          } catch (CudaException e) {
            if (e.result() != Cuda.CUDA_ERROR_INVALID_VALUE()) {
              throw e;
            }
            // A driver that is older than the attribute.
          }
        });
    return new DeviceFacts(
        device.driver().version(),
        device.name(),
        device.ordinal(),
        device.capability(),
        device.memoryBytes(),
        attributes);
  }

  private static Map<String, IntSupplier> attributeNumbers() {
    Map<String, IntSupplier> numbers = new LinkedHashMap<>();
    numbers.put("MULTIPROCESSOR_COUNT", Cuda::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    numbers.put("CLOCK_RATE", Cuda::CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    numbers.put("MEMORY_CLOCK_RATE", Cuda::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    numbers.put("GLOBAL_MEMORY_BUS_WIDTH", Cuda::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    numbers.put("L2_CACHE_SIZE", Cuda::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    numbers.put(
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
        Cuda::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    numbers.put(
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
        Cuda::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    numbers.put(
        "RESERVED_SHARED_MEMORY_PER_BLOCK",
        Cuda::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    numbers.put(
        "MAX_REGISTERS_PER_MULTIPROCESSOR",
        Cuda::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    numbers.put(
        "MAX_THREADS_PER_MULTIPROCESSOR", Cuda::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    numbers.put(
        "MAX_BLOCKS_PER_MULTIPROCESSOR", Cuda::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    numbers.put("MAX_THREADS_PER_BLOCK", Cuda::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    numbers.put("WARP_SIZE", Cuda::CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    numbers.put("COMPUTE_MODE", Cuda::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
    numbers.put("KERNEL_EXEC_TIMEOUT", Cuda::CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT);
    numbers.put("ECC_ENABLED", Cuda::CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
    numbers.put("TCC_DRIVER", Cuda::CU_DEVICE_ATTRIBUTE_TCC_DRIVER);
    numbers.put("MPS_ENABLED", Cuda::CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
    numbers.put("INTEGRATED", Cuda::CU_DEVICE_ATTRIBUTE_INTEGRATED);
    numbers.put("MULTI_GPU_BOARD", Cuda::CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD);
    numbers.put("ASYNC_ENGINE_COUNT", Cuda::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
    numbers.put("CONCURRENT_KERNELS", Cuda::CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
    numbers.put("UNIFIED_ADDRESSING", Cuda::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
    numbers.put("MEMORY_POOLS_SUPPORTED", Cuda::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
    numbers.put("CLUSTER_LAUNCH", Cuda::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
    numbers.put("COOPERATIVE_LAUNCH", Cuda::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
    numbers.put(
        "TENSOR_MAP_ACCESS_SUPPORTED", Cuda::CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED);
    return Collections.unmodifiableMap(numbers);
  }
}
