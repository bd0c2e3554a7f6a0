package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;

/** Kernels for sm_90a, for tests. */
final class Hopper {
  static final String HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n";

  private Hopper() {}

  /** A module of one kernel {@code k} with these parameters and this body. */
  static Device kernel(String parameters, String body) {
    return module(".visible .entry k(" + parameters + ") {\n" + body + "\n}\n");
  }

  static Device module(String text) {
    Device device = new Device(HEADER + text);
    device.options = ExecutionOptions.of(90);
    return device;
  }

  /** Launches {@code k} in clusters. */
  static LaunchReport run(
      Device device, Dim3 grid, int threads, Dim3 cluster, Object... arguments) {
    return new Interpreter(device.options)
        .launch(
            device.module,
            "k",
            grid,
            new Dim3(threads, 1, 1),
            cluster,
            0,
            device.parameters("k", arguments),
            device.memory);
  }

  /** A launch must fault in a way whose message has all of these. */
  static void faults(
      DeviceFault.Kind kind, Device device, int threads, Object[] arguments, String... parts) {
    LaunchFault fault =
        assertThrows(LaunchFault.class, () -> device.run(1, threads, arguments), "no fault");
    assertEquals(kind, fault.kind(), fault.getMessage());
    for (String part : parts) {
      assertTrue(fault.getMessage().contains(part), fault.getMessage());
    }
  }

  static Object[] of(Object... arguments) {
    return arguments;
  }

  /** A map of a dense tensor. */
  static TensorMap map(
      TensorMap.Type type,
      Allocation tensor,
      long[] dimensions,
      int[] box,
      TensorMap.Swizzle swizzle) {
    long[] strides = new long[dimensions.length - 1];
    long stride = dimensions[0] * type.bytes();
    int[] ones = new int[dimensions.length];
    java.util.Arrays.fill(ones, 1);
    for (int d = 0; d < strides.length; d++) {
      strides[d] = stride;
      stride *= dimensions[d + 1];
    }
    return new TensorMap(type, tensor.base(), dimensions, strides, box, ones, swizzle, false);
  }
}
