package dev.minifloat.cuda.sim;

import static dev.minifloat.cuda.driver.DriverFunction.*;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.driver.CUDA_MEMCPY2D_st;
import dev.minifloat.cuda.driver.CUmemAccessDesc_st;
import dev.minifloat.cuda.driver.CUmemLocation_st;
import dev.minifloat.cuda.driver.CUmemPoolProps_st;
import dev.minifloat.cuda.sim.internal.driver.CuResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Memory: allocation, pools, page-locked memory, copies, fills, attributes. */
class MemoryCallsTest {
  private static final long MEMORY = 1 << 20;

  private static Client small() {
    return Client.ready(SimulatedDriver.builder().device("sim:sm_80", MEMORY).build());
  }

  private static long free(Client client) {
    MemorySegment free = client.slot();
    MemorySegment total = client.slot();
    client.ok(cuMemGetInfo_v2, free, total);
    assertEquals(MEMORY, total.get(ValueLayout.JAVA_LONG, 0));
    return free.get(ValueLayout.JAVA_LONG, 0);
  }

  @Test
  void memoryRunsOut() {
    try (Client client = small()) {
      long first = client.alloc(MEMORY / 2);
      assertEquals(MEMORY / 2, free(client));
      client.fails(CuResult.OUT_OF_MEMORY, cuMemAlloc_v2, client.slot(), MEMORY / 2 + 1);
      client.fails(CuResult.INVALID_VALUE, cuMemAlloc_v2, client.slot(), 0L);
      client.fails(CuResult.OUT_OF_MEMORY, cuMemAlloc_v2, client.slot(), -1L);
      client.ok(cuMemFree_v2, first);
      client.fails(CuResult.INVALID_VALUE, cuMemFree_v2, first);
      client.ok(cuMemFree_v2, 0L);
      assertEquals(MEMORY, free(client));
    }
  }

  @Test
  void rangesAreKnown() {
    try (Client client = small()) {
      long address = client.alloc(1000);
      MemorySegment base = client.slot();
      MemorySegment size = client.slot();
      client.ok(cuMemGetAddressRange_v2, base, size, address + 999);
      assertEquals(address, base.get(ValueLayout.JAVA_LONG, 0));
      assertEquals(1000, size.get(ValueLayout.JAVA_LONG, 0));
      client.fails(CuResult.NOT_FOUND, cuMemGetAddressRange_v2, base, size, address + 1000);
      MemorySegment out = client.slot();
      client.ok(cuPointerGetAttribute, out, 2, address + 4);
      assertEquals(2, out.get(ValueLayout.JAVA_INT, 0));
      client.ok(cuPointerGetAttribute, out, 11, address + 4);
      assertEquals(address, out.get(ValueLayout.JAVA_LONG, 0));
      client.ok(cuPointerGetAttribute, out, 1, address);
      assertEquals(client.get(cuCtxGetCurrent), out.get(ValueLayout.JAVA_LONG, 0));
      client.ok(cuPointerGetAttribute, out, 2, client.pinned(64).address());
      assertEquals(1, out.get(ValueLayout.JAVA_INT, 0));
      client.fails(CuResult.INVALID_VALUE, cuPointerGetAttribute, out, 2, out.address());
    }
  }

  @Test
  void copiesStayWithinAllocations() {
    try (Client client = small()) {
      long address = client.upload(client.ints(1, 2, 3, 4));
      MemorySegment back = client.arena.allocate(64);
      client.ok(cuMemcpyDtoH_v2, back, address + 4, 12L);
      assertEquals(2, back.get(ValueLayout.JAVA_INT, 0));
      client.fails(CuResult.INVALID_VALUE, cuMemcpyDtoH_v2, back, address + 4, 16L);
      client.fails(CuResult.INVALID_VALUE, cuMemcpyDtoH_v2, 0L, address, 16L);
      client.fails(CuResult.INVALID_VALUE, cuMemcpyHtoD_v2, 4096L, back, 16L);
      client.fails(CuResult.INVALID_VALUE, cuMemcpyDtoD_v2, address, address + 8, 16L);
      client.ok(cuMemcpyDtoD_v2, address, address + 8, 8L);
      client.ok(cuMemcpyDtoH_v2, back, address, 16L);
      assertArrayEquals(new int[] {3, 4, 3, 4}, back.asSlice(0, 16).toArray(ValueLayout.JAVA_INT));
      client.ok(cuMemcpyAsync, address + 4, address, 4L, 0L);
      client.ok(cuMemcpyAsync, back.address(), address + 4, 4L, 0L);
      assertEquals(3, back.get(ValueLayout.JAVA_INT, 0));
    }
  }

  @Test
  void fillsWriteNumbersOfEachSize() {
    try (Client client = small()) {
      long address = client.alloc(24);
      client.ok(cuMemsetD8_v2, address, (byte) 0x11, 8L);
      client.ok(cuMemsetD16_v2, address + 8, (short) 0x2233, 4L);
      client.ok(cuMemsetD32_v2, address + 16, 0x44556677, 2L);
      assertNotEquals(0, client.driver.pendingWork());
      client.ok(cuCtxSynchronize);
      assertArrayEquals(
          new int[] {0x11111111, 0x11111111, 0x22332233, 0x22332233, 0x44556677, 0x44556677},
          client.peek(address, 6));
      client.ok(cuMemsetD8Async, address, (byte) 1, 4L, 0L);
      client.ok(cuMemsetD16Async, address + 4, (short) 1, 2L, 0L);
      client.ok(cuMemsetD32Async, address + 8, 1, 1L, 0L);
      client.ok(cuCtxSynchronize);
      assertArrayEquals(new int[] {0x01010101, 0x00010001, 1}, client.peek(address, 3));
      client.fails(CuResult.INVALID_VALUE, cuMemsetD32_v2, address + 2, 1, 1L);
      client.fails(CuResult.INVALID_VALUE, cuMemsetD16_v2, address + 1, (short) 1, 1L);
      client.fails(CuResult.INVALID_VALUE, cuMemsetD8_v2, address, (byte) 1, 25L);
      client.fails(CuResult.INVALID_VALUE, cuMemsetD32_v2, address, 1, Long.MAX_VALUE);
    }
  }

  @Test
  void rectanglesAreCopied() {
    try (Client client = small()) {
      MemorySegment host = client.ints(0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23);
      long address = client.alloc(64);
      client.ok(cuMemsetD8_v2, address, (byte) 0, 64L);
      MemorySegment copy = client.arena.allocate(CUDA_MEMCPY2D_st.layout());
      CUDA_MEMCPY2D_st.srcMemoryType(copy, 1);
      CUDA_MEMCPY2D_st.srcHost(copy, host);
      CUDA_MEMCPY2D_st.srcPitch(copy, 16);
      CUDA_MEMCPY2D_st.srcXInBytes(copy, 4);
      CUDA_MEMCPY2D_st.srcY(copy, 1);
      CUDA_MEMCPY2D_st.dstMemoryType(copy, 2);
      CUDA_MEMCPY2D_st.dstDevice(copy, address);
      CUDA_MEMCPY2D_st.dstPitch(copy, 12);
      CUDA_MEMCPY2D_st.WidthInBytes(copy, 8);
      CUDA_MEMCPY2D_st.Height(copy, 2);
      client.ok(cuMemcpy2D_v2, copy);
      client.ok(cuCtxSynchronize);
      assertArrayEquals(new int[] {11, 12, 0, 21, 22, 0}, client.peek(address, 6));
      CUDA_MEMCPY2D_st.dstY(copy, 1);
      client.ok(cuMemcpy2DAsync_v2, copy, 0L);
      client.ok(cuCtxSynchronize);
      assertArrayEquals(new int[] {11, 12, 0, 11, 12, 0, 21, 22}, client.peek(address, 8));
      CUDA_MEMCPY2D_st.srcPitch(copy, 8);
      client.fails(CuResult.INVALID_VALUE, cuMemcpy2D_v2, copy);
      CUDA_MEMCPY2D_st.srcPitch(copy, 16);
      CUDA_MEMCPY2D_st.Height(copy, 6);
      client.fails(CuResult.INVALID_VALUE, cuMemcpy2D_v2, copy);
      CUDA_MEMCPY2D_st.srcMemoryType(copy, 3);
      client.fails(CuResult.INVALID_VALUE, cuMemcpy2D_v2, copy);
    }
  }

  @Test
  void pageLockedMemoryIsGivenBack() {
    try (Client client = small()) {
      MemorySegment own = client.pinned(4096);
      client.fails(CuResult.HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister, own);
      client.ok(cuMemFreeHost, own);
      client.fails(CuResult.INVALID_VALUE, cuMemFreeHost, own);
      MemorySegment mine = client.arena.allocate(8192, 4096);
      client.ok(cuMemHostRegister_v2, mine, 8192L, 0);
      client.fails(CuResult.HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2, mine, 16L, 0);
      client.fails(CuResult.INVALID_VALUE, cuMemFreeHost, mine);
      client.ok(cuMemHostUnregister, mine);
      client.fails(CuResult.INVALID_VALUE, cuMemHostAlloc, client.slot(), 16L, 64);
      long flagged = client.get(cuMemHostAlloc, 16L, 1);
      List<Leak> leaks = client.driver.leaks();
      assertEquals(2, leaks.size(), leaks::toString);
      client.ok(cuMemFreeHost, flagged);
    }
  }

  @Test
  void poolsKeepWhatTheThresholdLets() {
    try (Client client = small()) {
      long pool = client.get(cuDeviceGetDefaultMemPool, 0);
      assertEquals(pool, client.get(cuDeviceGetMemPool, 0));
      long stream = client.stream(1);
      long first = client.get(cuMemAllocAsync, 4096L, stream);
      assertEquals(4096, attribute(client, pool, 7));
      MemorySegment threshold = client.slot();
      threshold.set(ValueLayout.JAVA_LONG, 0, 1000);
      client.ok(cuMemPoolSetAttribute, pool, 4, threshold);
      client.ok(cuMemFreeAsync, first, stream);
      client.fails(CuResult.INVALID_VALUE, cuMemFreeAsync, first, stream);
      assertEquals(4096, attribute(client, pool, 7));
      client.ok(cuStreamSynchronize, stream);
      assertEquals(0, attribute(client, pool, 7));
      assertEquals(1000, attribute(client, pool, 5));
      assertEquals(4096, attribute(client, pool, 6));
      assertEquals(MEMORY - 1000, free(client));
      client.ok(cuMemPoolTrimTo, pool, 0L);
      assertEquals(MEMORY, free(client));
      client.fails(CuResult.INVALID_VALUE, cuMemPoolDestroy, pool);
      client.fails(CuResult.OUT_OF_MEMORY, cuMemAllocAsync, client.slot(), MEMORY + 1, stream);
    }
  }

  @Test
  void freedMemoryServesTheNextAllocation() {
    try (Client client = small()) {
      long stream = client.stream(1);
      long first = client.get(cuMemAllocAsync, MEMORY, stream);
      client.ok(cuMemFreeAsync, first, stream);
      long second = client.get(cuMemAllocAsync, MEMORY, stream);
      assertNotEquals(first, second);
    }
  }

  private static long attribute(Client client, long pool, int attribute) {
    MemorySegment out = client.slot();
    client.ok(cuMemPoolGetAttribute, pool, attribute, out);
    return out.get(ValueLayout.JAVA_LONG, 0);
  }

  @Test
  void poolsAreMadeAndDestroyed() {
    try (Client client = small()) {
      MemorySegment properties = client.arena.allocate(CUmemPoolProps_st.layout());
      client.fails(CuResult.INVALID_VALUE, cuMemPoolCreate, client.slot(), properties);
      CUmemPoolProps_st.allocType(properties, 1);
      CUmemLocation_st.type(CUmemPoolProps_st.location(properties), 1);
      long pool = client.get(cuMemPoolCreate, properties);
      client.ok(cuDeviceSetMemPool, 0, pool);
      assertEquals(pool, client.get(cuDeviceGetMemPool, 0));
      long memory = client.get(cuMemAllocFromPoolAsync, 256L, pool, 0L);
      MemorySegment out = client.slot();
      client.ok(cuPointerGetAttribute, out, 17, memory);
      assertEquals(pool, out.get(ValueLayout.JAVA_LONG, 0));
      MemorySegment access = client.arena.allocate(CUmemAccessDesc_st.layout());
      CUmemLocation_st.type(CUmemAccessDesc_st.location(access), 1);
      CUmemAccessDesc_st.flags(access, 3);
      client.ok(cuMemPoolSetAccess, pool, access, 1L);
      CUmemAccessDesc_st.flags(access, 0);
      client.fails(CuResult.INVALID_DEVICE, cuMemPoolSetAccess, pool, access, 1L);
      client.ok(cuMemPoolDestroy, pool);
      assertNotEquals(pool, client.get(cuDeviceGetMemPool, 0));
      assertEquals(MEMORY - 256, free(client));
      client.ok(cuMemFreeAsync, memory, 0L);
      client.ok(cuCtxSynchronize);
      assertEquals(MEMORY, free(client));
    }
  }

  @Test
  void leaksSayWhereTheyWereMade() {
    try (Client client = small()) {
      client.alloc(123);
      client.stream(0);
      client.event();
      client.module(Ptx.ADD);
      List<Leak> leaks = client.driver.leaks();
      assertEquals(
          List.of("context", "device memory", "event", "module", "stream"),
          leaks.stream().map(Leak::kind).sorted().toList());
      for (Leak leak : leaks) {
        assertTrue(
            leak.origin().stream().anyMatch(frame -> frame.contains("MemoryCallsTest")),
            leak::toString);
      }
      client.ok(cuDevicePrimaryCtxRelease_v2, 0);
      assertEquals(4, client.driver.leaks().size());
      assertTrue(client.driver.leaks().stream().allMatch(Leak::sweptUp));
    }
  }
}
