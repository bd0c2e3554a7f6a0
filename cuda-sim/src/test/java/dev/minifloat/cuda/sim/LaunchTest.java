package dev.minifloat.cuda.sim;

import static dev.minifloat.cuda.driver.DriverFunction.*;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.driver.CUlaunchAttribute_st;
import dev.minifloat.cuda.driver.CUlaunchConfig_st;
import dev.minifloat.cuda.sim.internal.driver.CuResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Modules, functions, launches, and what happens after a kernel's fault. */
class LaunchTest {
  private static final int N = 100;

  private static int[] ramp(int factor) {
    int[] values = new int[N];
    for (int i = 0; i < N; i++) {
      values[i] = i * factor;
    }
    return values;
  }

  @Test
  void vectorsAreAdded() {
    try (Client client = Client.ready("sim:sm_80")) {
      long add = client.function(client.module(Ptx.ADD), "add");
      long a = client.upload(client.ints(ramp(1)));
      long b = client.upload(client.ints(ramp(2)));
      long c = client.alloc(4 * N);
      assertEquals(CuResult.SUCCESS, client.launch(add, 4, 32, 0, 0, a, b, c, N));
      client.ok(cuCtxSynchronize);
      assertArrayEquals(ramp(3), client.peek(c, N));
      LaunchStatistics statistics = client.driver.lastLaunch().orElseThrow();
      assertEquals("add", statistics.kernel());
      assertEquals(8 * N, statistics.globalBytesRead());
    }
  }

  @Test
  void parametersMayComeInABuffer() {
    try (Client client = Client.ready("sim:sm_80")) {
      long fill = client.function(client.module(Ptx.OTHERS), "fill");
      long data = client.alloc(8);
      MemorySegment buffer = client.arena.allocate(16, 8);
      buffer.set(ValueLayout.JAVA_LONG, 0, data);
      buffer.set(ValueLayout.JAVA_INT, 8, 2);
      buffer.set(ValueLayout.JAVA_INT, 12, 77);
      MemorySegment size = client.slot();
      size.set(ValueLayout.JAVA_LONG, 0, 16);
      MemorySegment extra =
          client.arena.allocateFrom(
              ValueLayout.JAVA_LONG, 1, buffer.address(), 2, size.address(), 0);
      client.ok(cuLaunchKernel, fill, 1, 1, 1, 2, 1, 1, 0, 0L, 0L, extra);
      client.ok(cuCtxSynchronize);
      assertArrayEquals(new int[] {77, 77}, client.peek(data, 2));
      size.set(ValueLayout.JAVA_LONG, 0, 12);
      client.fails(
          CuResult.INVALID_VALUE, cuLaunchKernel, fill, 1, 1, 1, 2, 1, 1, 0, 0L, 0L, extra);
      client.fails(
          CuResult.INVALID_VALUE, cuLaunchKernel, fill, 1, 1, 1, 2, 1, 1, 0, 0L, extra, extra);
      client.fails(CuResult.INVALID_VALUE, cuLaunchKernel, fill, 1, 1, 1, 2, 1, 1, 0, 0L, 0L, 0L);
    }
  }

  @Test
  void launchesWithAConfiguration() {
    try (Client client = Client.ready("sim:sm_80")) {
      long fill = client.function(client.module(Ptx.OTHERS), "fill");
      long data = client.alloc(8);
      MemorySegment config = client.arena.allocate(CUlaunchConfig_st.layout());
      CUlaunchConfig_st.gridDimX(config, 1);
      CUlaunchConfig_st.gridDimY(config, 1);
      CUlaunchConfig_st.gridDimZ(config, 1);
      CUlaunchConfig_st.blockDimX(config, 2);
      CUlaunchConfig_st.blockDimY(config, 1);
      CUlaunchConfig_st.blockDimZ(config, 1);
      MemorySegment attribute = client.arena.allocate(CUlaunchAttribute_st.layout());
      CUlaunchConfig_st.attrs(config, attribute);
      CUlaunchConfig_st.numAttrs(config, 1);
      CUlaunchAttribute_st.id(attribute, 8);
      MemorySegment params = client.params(data, 2, 5);
      client.ok(cuLaunchKernelEx, config, fill, params, 0L);
      client.ok(cuCtxSynchronize);
      assertArrayEquals(new int[] {5, 5}, client.peek(data, 2));
      CUlaunchAttribute_st.id(attribute, 4);
      CUlaunchAttribute_st.value(attribute).set(ValueLayout.JAVA_INT, 0, 2);
      client.fails(CuResult.INVALID_CLUSTER_SIZE, cuLaunchKernelEx, config, fill, params, 0L);
      CUlaunchAttribute_st.id(attribute, 99);
      client.fails(CuResult.INVALID_VALUE, cuLaunchKernelEx, config, fill, params, 0L);
      client.ok(cuLaunchCooperativeKernel, fill, 1, 1, 1, 2, 1, 1, 0, 0L, params);
      client.fails(
          CuResult.COOPERATIVE_LAUNCH_TOO_LARGE,
          cuLaunchCooperativeKernel,
          fill,
          100_000,
          1,
          1,
          2,
          1,
          1,
          0,
          0L,
          params);
    }
  }

  @Test
  void sizesAreChecked() {
    try (Client client = Client.ready("sim:sm_80")) {
      long module = client.module(Ptx.OTHERS);
      long fill = client.function(module, "fill");
      long shared = client.function(module, "shared");
      long data = client.alloc(4);
      assertEquals(CuResult.INVALID_VALUE, client.launch(fill, 0, 32, 0, 0, data, 1, 1));
      assertEquals(CuResult.INVALID_VALUE, client.launch(fill, 1, 1025, 0, 0, data, 1, 1));
      assertEquals(CuResult.INVALID_VALUE, client.launch(shared, 1, 65, 16, 0, data));
      assertEquals(CuResult.INVALID_VALUE, client.launch(shared, 1, 1, 48 << 10, 0, data));
      client.ok(cuFuncSetAttribute, shared, 8, 100_000);
      assertEquals(CuResult.SUCCESS, client.launch(shared, 1, 1, 100_000, 0, data));
      client.ok(cuCtxSynchronize);
      assertEquals(5, client.peek(data, 1)[0]);
      client.fails(CuResult.INVALID_VALUE, cuFuncSetAttribute, shared, 8, 200_000);
      assertEquals(CuResult.INVALID_HANDLE, client.launch(module, 1, 1, 0, 0, data));
    }
  }

  @Test
  void functionsSayWhatTheyAre() {
    try (Client client = Client.ready("sim:sm_86")) {
      long module = client.module(Ptx.OTHERS);
      long shared = client.function(module, "shared");
      assertEquals(shared, client.function(module, "shared"));
      assertEquals(64, client.getInt(cuFuncGetAttribute, 0, shared));
      assertEquals(256, client.getInt(cuFuncGetAttribute, 1, shared));
      assertEquals(80, client.getInt(cuFuncGetAttribute, 5, shared));
      assertEquals(86, client.getInt(cuFuncGetAttribute, 6, shared));
      assertEquals((48 << 10) - 256, client.getInt(cuFuncGetAttribute, 8, shared));
      client.fails(CuResult.INVALID_VALUE, cuFuncGetAttribute, client.slot(), 99, shared);
      client.ok(cuFuncSetCacheConfig, shared, 1);
      client.ok(cuFuncLoad, shared);
      MemorySegment name =
          MemorySegment.ofAddress(client.get(cuFuncGetName, shared)).reinterpret(100);
      assertEquals("shared", name.getString(0));
      MemorySegment offset = client.slot();
      MemorySegment size = client.slot();
      long fill = client.function(module, "fill");
      client.ok(cuFuncGetParamInfo, fill, 2L, offset, size);
      assertEquals(12, offset.get(ValueLayout.JAVA_LONG, 0));
      assertEquals(4, size.get(ValueLayout.JAVA_LONG, 0));
      client.fails(CuResult.INVALID_VALUE, cuFuncGetParamInfo, fill, 3L, offset, size);
    }
  }

  @Test
  void occupancyFollowsTheDevice() {
    try (Client client = Client.ready("sim:sm_80")) {
      long module = client.module(Ptx.OTHERS);
      long fill = client.function(module, "fill");
      assertEquals(8, client.getInt(cuOccupancyMaxActiveBlocksPerMultiprocessor, fill, 256, 0L));
      assertEquals(
          32, client.getInt(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, fill, 32, 0L, 0));
      // 164 KiB hold four blocks of 40 KiB and of the driver's 1 KiB each.
      assertEquals(
          4, client.getInt(cuOccupancyMaxActiveBlocksPerMultiprocessor, fill, 32, 40L << 10));
      MemorySegment grid = client.slot();
      MemorySegment block = client.slot();
      client.ok(cuOccupancyMaxPotentialBlockSize, grid, block, fill, 0L, 0L, 0);
      assertEquals(1024, block.get(ValueLayout.JAVA_INT, 0));
      assertEquals(2 * 108, grid.get(ValueLayout.JAVA_INT, 0));
      assertEquals(
          (41 << 10) - 1024, client.get(cuOccupancyAvailableDynamicSMemPerBlock, fill, 4, 128));
    }
  }

  @Test
  void variablesHaveAddresses() {
    try (Client client = Client.ready("sim:sm_80")) {
      long module = client.module(Ptx.OTHERS);
      MemorySegment address = client.slot();
      MemorySegment bytes = client.slot();
      client.ok(cuModuleGetGlobal_v2, address, bytes, module, client.arena.allocateFrom("seven"));
      assertEquals(4, bytes.get(ValueLayout.JAVA_LONG, 0));
      assertEquals(7, client.peek(address.get(ValueLayout.JAVA_LONG, 0), 1)[0]);
      MemorySegment unknown = client.arena.allocateFrom("eight");
      client.fails(CuResult.NOT_FOUND, cuModuleGetGlobal_v2, address, bytes, module, unknown);
      client.fails(CuResult.NOT_FOUND, cuModuleGetFunction, address, module, unknown);
      assertEquals(1, client.getInt(cuModuleGetLoadingMode));
      long function = client.function(module, "fill");
      client.ok(cuModuleUnload, module);
      client.fails(CuResult.INVALID_HANDLE, cuModuleUnload, module);
      client.fails(CuResult.INVALID_HANDLE, cuFuncGetAttribute, address, 0, function);
    }
  }

  @Test
  void refusedTextsAreExplained() {
    try (Client client = Client.ready("sim:sm_80")) {
      String wrong = Ptx.ADD.replace("add.s32 %r8", "frobnicate.s32 %r8");
      String log = refuse(client, CuResult.INVALID_PTX, wrong);
      assertTrue(log.contains("line 25, column 3") && log.contains("frobnicate"), log);
      refuse(client, CuResult.INVALID_PTX, "no PTX at all");
      String target = Ptx.ADD.replace("sm_80", "sm_89");
      assertTrue(refuse(client, CuResult.INVALID_PTX, target).contains("sm_89"));
      String version = Ptx.ADD.replace(".version 7.0", ".version 9.1");
      assertTrue(refuse(client, CuResult.UNSUPPORTED_PTX_VERSION, version).contains("9.0"));
      refuse(client, CuResult.NO_BINARY_FOR_GPU, "\u007fELF and so on");
      assertEquals(1, client.driver.leaks().size());
    }
  }

  @Test
  void olderDriversTakeOlderTextsOnly() {
    SimulatedDriver driver = SimulatedDriver.builder().newestPtx(6, 5).driverVersion(11000).build();
    try (Client client = Client.ready(driver)) {
      assertEquals(11000, client.getInt(cuDriverGetVersion));
      refuse(client, CuResult.UNSUPPORTED_PTX_VERSION, Ptx.ADD);
    }
  }

  private static String refuse(Client client, CuResult result, String ptx) {
    MemorySegment log = client.arena.allocate(1000);
    MemorySegment options = client.arena.allocateFrom(ValueLayout.JAVA_INT, 5, 6);
    MemorySegment values =
        client.arena.allocateFrom(ValueLayout.JAVA_LONG, log.address(), log.byteSize());
    MemorySegment out = client.slot();
    client.fails(
        result, cuModuleLoadDataEx, out, client.arena.allocateFrom(ptx), 2, options, values);
    String text = log.getString(0);
    assertEquals(text.length(), values.getAtIndex(ValueLayout.JAVA_LONG, 1));
    return text;
  }

  @Test
  void goodTextsLeaveAnInfoLog() {
    try (Client client = Client.ready("sim:sm_80")) {
      MemorySegment log = client.arena.allocate(20);
      MemorySegment options = client.arena.allocateFrom(ValueLayout.JAVA_INT, 2, 3, 4, 7);
      MemorySegment values =
          client.arena.allocateFrom(ValueLayout.JAVA_LONG, -1, log.address(), 20, 4);
      client.ok(
          cuModuleLoadDataEx,
          client.slot(),
          client.arena.allocateFrom(Ptx.ADD),
          4,
          options,
          values);
      assertEquals("loaded 1 functions ", log.getString(0));
      assertEquals(0f, values.get(ValueLayout.JAVA_FLOAT, 0));
      options.set(ValueLayout.JAVA_INT, 0, 1000);
      client.fails(
          CuResult.INVALID_VALUE,
          cuModuleLoadDataEx,
          client.slot(),
          client.arena.allocateFrom(Ptx.ADD),
          1,
          options,
          values);
    }
  }

  @Test
  void librariesAreLoadedByEachContext() {
    try (Client client = Client.ready("sim:sm_80,sim:sm_89")) {
      MemorySegment out = client.slot();
      MemorySegment text = client.arena.allocateFrom(Ptx.OTHERS);
      client.ok(cuLibraryLoadData, out, text, 0L, 0L, 0, 0L, 0L, 0);
      long library = out.get(ValueLayout.JAVA_LONG, 0);
      assertEquals(3, client.getInt(cuLibraryGetKernelCount, library));
      long kernel = client.get(cuLibraryGetKernel, library, client.arena.allocateFrom("fill"));
      client.fails(
          CuResult.NOT_FOUND, cuLibraryGetKernel, out, library, client.arena.allocateFrom("x"));
      client.fails(CuResult.INVALID_CONTEXT, cuKernelGetAttribute, out, 0, kernel, 1);
      long first = client.get(cuKernelGetFunction, kernel);
      long second = client.retain(1);
      client.ok(cuCtxSetCurrent, second);
      long function = client.get(cuKernelGetFunction, kernel);
      assertTrue(first != function);
      client.ok(cuKernelSetAttribute, 8, 90_000, kernel, 1);
      assertEquals(90_000, client.getInt(cuKernelGetAttribute, 8, kernel, 1));
      assertEquals(48 << 10, client.getInt(cuKernelGetAttribute, 8, kernel, 0));
      long data = client.alloc(4);
      client.launch(function, 1, 1, 0, 0, data, 1, 6);
      client.ok(cuCtxSynchronize);
      assertEquals(6, client.peek(data, 1)[0]);
      MemorySegment bytes = client.slot();
      client.ok(cuLibraryGetGlobal, out, bytes, library, client.arena.allocateFrom("seven"));
      assertEquals(4, bytes.get(ValueLayout.JAVA_LONG, 0));
      long module = client.get(cuLibraryGetModule, library);
      assertEquals(function, client.function(module, "fill"));
      client.ok(cuLibraryUnload, library);
      client.fails(CuResult.INVALID_HANDLE, cuLibraryUnload, library);
      client.fails(CuResult.INVALID_HANDLE, cuModuleUnload, module);
      client.fails(CuResult.INVALID_HANDLE, cuKernelGetFunction, out, kernel);
    }
  }

  @Test
  void aTrapBreaksTheContextForGood() {
    try (Client client = Client.ready("sim:sm_80")) {
      long module = client.module(Ptx.OTHERS);
      long stop = client.function(module, "stop");
      long data = client.alloc(4);
      long stream = client.stream(0);
      long event = client.event();
      assertEquals(CuResult.SUCCESS, client.launch(stop, 1, 1, 0, 0));
      client.fails(CuResult.LAUNCH_FAILED, cuCtxSynchronize);
      client.fails(CuResult.LAUNCH_FAILED, cuCtxSynchronize);
      client.fails(CuResult.LAUNCH_FAILED, cuMemAlloc_v2, client.slot(), 4L);
      client.fails(CuResult.LAUNCH_FAILED, cuStreamSynchronize, stream);
      String trap = client.driver.lastTrap().orElseThrow();
      assertTrue(trap.contains("'stop'") && trap.contains("line"), trap);
      // Giving back works, though every call reports the error.
      client.fails(CuResult.LAUNCH_FAILED, cuMemFree_v2, data);
      client.fails(CuResult.LAUNCH_FAILED, cuStreamDestroy_v2, stream);
      client.fails(CuResult.LAUNCH_FAILED, cuEventDestroy_v2, event);
      client.fails(CuResult.LAUNCH_FAILED, cuModuleUnload, module);
      client.ok(cuDevicePrimaryCtxRelease_v2, 0);
      assertEquals(List.of(), client.driver.leaks());
    }
  }

  @Test
  void wrongAddressesAreIllegal() {
    try (Client client = Client.ready("sim:sm_80")) {
      long fill = client.function(client.module(Ptx.OTHERS), "fill");
      long data = client.alloc(8);
      assertEquals(CuResult.SUCCESS, client.launch(fill, 1, 32, 0, 0, data, 3, 1));
      client.fails(CuResult.ILLEGAL_ADDRESS, cuCtxSynchronize);
      assertTrue(client.driver.lastTrap().orElseThrow().contains("'fill'"));
    }
  }

  @Test
  void misalignedAddressesAreNoticed() {
    try (Client client = Client.ready("sim:sm_80")) {
      long fill = client.function(client.module(Ptx.OTHERS), "fill");
      long data = client.alloc(8);
      client.launch(fill, 1, 32, 0, 0, data + 2, 1, 1);
      client.fails(CuResult.MISALIGNED_ADDRESS, cuCtxSynchronize);
    }
  }

  @Test
  void freedMemoryIsNotWritten() {
    try (Client client = Client.ready("sim:sm_80")) {
      long fill = client.function(client.module(Ptx.OTHERS), "fill");
      long stream = client.stream(1);
      long data = client.get(cuMemAllocAsync, 64L, stream);
      client.ok(cuMemFreeAsync, data, stream);
      assertEquals(CuResult.SUCCESS, client.launch(fill, 1, 32, 0, stream, data, 1, 1));
      client.fails(CuResult.ILLEGAL_ADDRESS, cuStreamSynchronize, stream);
      assertTrue(client.driver.lastTrap().orElseThrow().contains("freed"));
    }
  }

  @Test
  void otherDevicesGoOn() {
    try (Client client = Client.ready("sim:sm_80,sim:sm_89")) {
      client.launch(client.function(client.module(Ptx.OTHERS), "stop"), 1, 1, 0, 0);
      client.fails(CuResult.LAUNCH_FAILED, cuCtxSynchronize);
      client.ok(cuCtxSetCurrent, client.retain(1));
      long fill = client.function(client.module(Ptx.OTHERS), "fill");
      long data = client.alloc(4);
      client.launch(fill, 1, 1, 0, 0, data, 1, 9);
      client.ok(cuCtxSynchronize);
      assertEquals(9, client.peek(data, 1)[0]);
    }
  }
}
