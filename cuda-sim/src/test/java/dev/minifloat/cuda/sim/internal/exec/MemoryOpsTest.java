package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loads, stores, atomics and asynchronous copies, and what they refuse. */
class MemoryOpsTest {
  private static final String TID =
      ".reg .b64 p, q, s; .reg .b32 t, u, v, w; .reg .pred z; ld.param.u64 p, [a]; mov.u32 t, %tid.x;";

  private static LaunchFault fault(Device device, int threads, Object... arguments) {
    return assertThrows(LaunchFault.class, () -> device.run(1, threads, arguments));
  }

  private static Device one(String body) {
    return Device.kernel(".param .u64 a", TID + body + " ret;");
  }

  @Test
  void vectorsAndSignsLoadAndStore() {
    Device device =
        Device.kernel(
            ".param .u64 a, .param .u64 b",
            """
            .reg .b64 p, q, d; .reg .b32 x<4>; .reg .b16 h<4>; .reg .f64 f;
            ld.param.u64 p, [a]; ld.param.u64 q, [b];
            ld.global.v4.u8 {h0, h1, h2, h3}, [p];
            st.global.v4.u16 [q], {h0, h1, h2, h3};
            ld.global.s8 x0, [p+3]; st.global.u32 [q+8], x0;
            ld.global.nc.L1::no_allocate.L2::128B.v2.s16 {x1, x2}, [p];
            st.global.cs.v2.b32 [q+12+4], {x1, x2};
            ld.global.ca.s32 d, [p+4]; st.global.u64 [q+24], d;
            ld.volatile.global.v2.u64 {d, f}, [p+16]; st.volatile.global.f64 [q+32], f;
            ld.relaxed.gpu.global.u32 x3, [p+4]; st.release.gpu.global.u32 [q+40], x3;
            ldu.global.u32 x3, [p+8]; st.u32 [q+44], x3;
            prefetch.global.L2 [p]; prefetchu.L1 [p]; membar.gl; fence.acq_rel.gpu; ret;
            """);
    byte[] in = new byte[32];
    for (int i = 0; i < in.length; i++) {
      in[i] = (byte) (0xF0 + i);
    }
    Allocation a = device.bytes(in);
    Allocation b = device.bytes(new byte[48]);
    device.run(1, 1, a, b);
    int[] out = device.ints(b);
    assertEquals(0x00F1_00F0, out[0]);
    assertEquals(0x00F3_00F2, out[1]);
    assertEquals((byte) 0xF3, out[2]);
    assertEquals((short) 0xF1F0, out[4]);
    assertEquals((short) 0xF3F2, out[5]);
    assertEquals(0xF7F6F5F4, out[6]);
    assertEquals(-1, out[7]);
    assertEquals(0x0F0E0D0C_0B0A0908L, device.longs(b)[4]);
    assertEquals(0xF7F6F5F4, out[10]);
    assertEquals(0xFBFAF9F8, out[11]);
  }

  @Test
  void anAccessBeyondAnAllocationNamesEverything() {
    Device device =
        one("mad.wide.u32 p, t, 4, p;\n  ld.global.u32 u, [p+4];\n  st.global.u32 [p], u;");
    Allocation a = device.ints(new int[8]);
    LaunchFault fault = fault(device, 8, a);
    assertEquals(DeviceFault.Kind.OUT_OF_BOUNDS, fault.kind());
    assertEquals(new Dim3(7, 0, 0), fault.thread());
    assertEquals(6, fault.position().line());
    String text = fault.getMessage();
    for (String part :
        new String[] {
          "kernel 'k'",
          "block (0,0,0)",
          "thread (7,0,0)",
          "lane 7",
          "line 6, column 3",
          "ld.global.u32 u, [p+4];",
          "0 bytes after the end of ints",
          "p = 0x7f"
        }) {
      assertTrue(text.contains(part), text);
    }
  }

  @Test
  void memoryFaultsAreToldApart() {
    Allocation a;
    Device device = one("ld.global.u32 u, [p+2];");
    a = device.ints(1, 2);
    assertEquals(DeviceFault.Kind.MISALIGNED, fault(device, 1, a).kind());

    device = one("ld.global.u32 u, [p];");
    a = device.ints(1);
    device.memory.free(a.base());
    assertEquals(DeviceFault.Kind.USE_AFTER_FREE, fault(device, 1, a).kind());
    assertEquals(DeviceFault.Kind.OUT_OF_BOUNDS, fault(device, 1, 0L).kind());
    assertEquals(DeviceFault.Kind.OUT_OF_BOUNDS, fault(device, 1, -8L).kind());

    device = one("ld.global.u32 u, [p];");
    a = device.space(4);
    assertEquals(DeviceFault.Kind.UNINITIALIZED_READ, fault(device, 1, a).kind());
    device.options = device.options.withInitializedCheck(false);
    device.run(1, 1, a);

    device =
        new Device(
            Device.HEADER
                + ".const .u32 c = 7;\n.visible .entry k() {\n.reg .b64 p; mov.u64 p, c; st.u32 [p], 1; ret; }");
    assertEquals(DeviceFault.Kind.READ_ONLY, fault(device, 1).kind());

    device = one(".shared .b32 m[4]; mov.u64 s, m; ld.shared.u32 u, [s+16];");
    a = device.ints(1);
    assertEquals(DeviceFault.Kind.OUT_OF_BOUNDS, fault(device, 1, a).kind());
    device = one(".shared .b32 m[4]; ld.shared.u32 u, [m+12];");
    a = device.ints(1);
    assertEquals(DeviceFault.Kind.UNINITIALIZED_READ, fault(device, 1, a).kind());
    device = one(".local .b32 m[4]; ld.local.u32 u, [m+16];");
    a = device.ints(1);
    assertEquals(DeviceFault.Kind.OUT_OF_BOUNDS, fault(device, 1, a).kind());
    device = one("ld.param.u32 u, [a+8];");
    a = device.ints(1);
    assertEquals(DeviceFault.Kind.OUT_OF_BOUNDS, fault(device, 1, a).kind());
  }

  @Test
  void genericAddressesReachEverySpace() {
    Device device =
        new Device(
            Device.HEADER
                + """
                .global .u32 g[2] = {3, 4};
                .const .u32 c[2] = {5, 6};
                .global .u64 pointers[2] = {g+4, generic(c)};
                .visible .entry k(.param .u64 a) {
                  .reg .b64 p, q, s; .reg .b32 x; .reg .pred z, y;
                  .shared .u32 m[2]; .local .u32 l[2];
                  ld.param.u64 p, [a];
                  mov.u64 q, m; cvta.shared.u64 q, q; st.u32 [q+4], 11;
                  ld.shared.u32 x, [m+4]; st.global.u32 [p], x;
                  mov.u64 q, l; cvta.local.u64 s, q; st.u32 [s], 12;
                  ld.local.u32 x, [l]; st.global.u32 [p+4], x;
                  isspacep.local z, s; isspacep.shared y, s;
                  selp.u32 x, 1, 0, z; selp.u32 x, 2, x, y; st.global.u32 [p+8], x;
                  cvta.to.local.u64 s, s; xor.b64 s, s, q; st.global.u32 [p+12], s;
                  ld.const.u32 x, [c+4]; st.global.u32 [p+16], x;
                  ld.global.u64 q, [pointers]; ld.u32 x, [q]; st.global.u32 [p+20], x;
                  ld.global.u64 q, [pointers+8]; ld.u32 x, [q]; st.global.u32 [p+24], x;
                  isspacep.const z, q; isspacep.global y, p; and.pred z, z, y;
                  selp.u32 x, 1, 0, z; st.global.u32 [p+28], x;
                  mov.b64 q, a; cvta.param.u64 q, q; ld.u32 x, [q]; cvt.u32.u64 x, p; st.global.u32 [p+32], x;
                  ret;
                }
                """);
    Allocation a = device.ints(new int[9]);
    device.run(1, 1, a);
    assertArrayEquals(new int[] {11, 12, 1, 0, 6, 4, 5, 1, (int) a.base()}, device.ints(a));
    assertEquals(2, device.module.variable("g").size() / 4);
  }

  /** The orders of modifiers that nvcc writes, beside the manual's. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "red.relaxed.gpu.global.add.s32 [p], t",
        "red.global.relaxed.gpu.add.s32 [p], t",
        "red.global.add.release.cta.u32 [p], t",
        "red.global.sys.add.u32 [p], t",
        "atom.relaxed.gpu.global.add.s32 u, [p], t",
        "atom.global.sys.add.u32 u, [p], t",
        "atom.global.cta.add.u32 u, [p], t",
        "atom.add.acquire.gpu.s32 u, [p], t",
        "atom.add.release.gpu.u32 u, [p], t",
        "atom.add.acq_rel.cta.u32 u, [p], t",
        "atom.global.add.relaxed.sys.u32 _, [p], t"
      })
  void orderAndScopeOfAnAtomicMayStandWhereTheCompilerPutsThem(String add) {
    Device device = one(add + ";");
    Allocation a = device.ints(new int[] {7});
    device.run(1, 96, a);
    assertEquals(7 + 95 * 96 / 2, device.ints(a)[0]);
  }

  @Test
  void atomicsReturnTheOldValueAndLoseNothing() {
    Device device =
        Device.kernel(
            ".param .u64 a, .param .u64 b",
            """
            .reg .b64 p, q, d; .reg .b32 t, x, y; .reg .f32 f; .reg .f64 g; .reg .b16 h;
            ld.param.u64 p, [a]; ld.param.u64 q, [b]; mov.u32 t, %tid.x;
            atom.global.add.u32 x, [p], 1;
            mad.wide.u32 q, x, 4, q; st.global.u32 [q], t;
            red.global.add.s32 [p+4], -2;
            atom.global.min.s32 y, [p+8], t; red.global.max.u32 [p+12], t;
            red.global.and.b32 [p+16], t; red.global.or.b32 [p+20], t; red.global.xor.b32 [p+24], t;
            atom.global.inc.u32 y, [p+28], 9; atom.global.dec.u32 y, [p+32], 9;
            red.global.add.f32 [p+36], 0f3F000000;
            atom.relaxed.gpu.global.add.u64 d, [p+40], 3;
            red.global.add.f64 [p+48], 0d3FE0000000000000;
            mov.b32 y, 0x3C003C00; red.global.add.noftz.f16x2 [p+56], y;
            mov.b32 y, 0x3F803F80; red.global.add.noftz.bf16x2 [p+60], y;
            mov.b16 h, 0x3C00; atom.global.add.noftz.f16 h, [p+64], h;
            atom.global.exch.b32 y, [p+68], t; atom.global.cas.b32 _, [p+72], 5, t;
            atom.global.max.s64 d, [p+80], 7; ret;
            """);
    int n = 96;
    int[] start = new int[22];
    start[2] = 1000;
    start[4] = -1;
    start[18] = 5;
    Allocation a = device.ints(start);
    Allocation b = device.ints(new int[n]);
    device.run(1, n, a, b);
    int[] seen = device.ints(b);
    java.util.Arrays.sort(seen);
    for (int i = 0; i < n; i++) {
      assertEquals(i, seen[i]);
    }
    int[] out = device.ints(a);
    assertEquals(n, out[0]);
    assertEquals(-2 * n, out[1]);
    assertEquals(0, out[2]);
    assertEquals(n - 1, out[3]);
    assertEquals(0, out[4]);
    assertEquals(127, out[5]);
    assertEquals(0, out[6]);
    // 0 … 9 and again; and 9 … 0 and again, from 0.
    assertEquals(n % 10, out[7]);
    assertEquals((10 - n % 10) % 10, out[8]);
    assertEquals(n * 0.5f, Float.intBitsToFloat(out[9]));
    assertEquals(3L * n, device.longs(a)[5]);
    assertEquals(n * 0.5, Double.longBitsToDouble(device.longs(a)[6]));
    assertEquals(96f, Float.float16ToFloat((short) out[14]));
    assertEquals(96f, Float.intBitsToFloat(out[15] & 0xFFFF_0000));
    assertEquals(96f, Float.float16ToFloat((short) out[16]));
    assertTrue(out[17] >= 0 && out[17] < n);
    assertTrue(out[18] != 5 || seen[5] == 5);
    assertEquals(7L, device.longs(a)[10]);
  }

  private static final String COPY =
      TID
          + " .shared .align 16 .b8 m[1024]; mov.u64 s, m; shl.b32 u, t, 4; cvt.u64.u32 q, u;"
          + " add.u64 s, s, q; add.u64 p, p, q; ";

  @Test
  void asynchronousCopiesLandWhenTheyAreAwaited() {
    Device device =
        one(
            COPY.substring(TID.length())
                + "cp.async.cg.shared.global [s], [p], 16; cp.async.commit_group;"
                + "cp.async.ca.shared.global.L2::128B [s+512], [p], 8, 5; cp.async.commit_group;"
                + "cp.async.wait_group 1; ld.shared.u32 v, [s+4]; st.global.u32 [p+4], v;"
                + "cp.async.wait_all; ld.shared.v2.u32 {v, w}, [s+512]; st.global.v2.u32 [p+8], {v, w};");
    int[] in = new int[128];
    for (int i = 0; i < in.length; i++) {
      in[i] = 0x01010101 * (i + 1);
    }
    Allocation a = device.ints(in);
    device.run(1, 32, a);
    int[] out = device.ints(a);
    // Five bytes of eight, zeros after them; read when the copy landed.
    assertEquals(in[4], out[6]);
    assertEquals(in[5] & 0xFF, out[7]);
    assertEquals(in[5], out[5]);
  }

  @Test
  void aForgottenWaitShows() {
    Device device =
        one(
            COPY.substring(TID.length())
                + "cp.async.cg.shared.global [s], [p], 16; cp.async.commit_group;"
                + "cp.async.wait_group 1; ld.shared.u32 v, [s]; st.global.u32 [p], v;");
    Allocation a = device.ints(new int[128]);
    LaunchFault fault = fault(device, 32, a);
    assertEquals(DeviceFault.Kind.RACE, fault.kind());
    assertTrue(fault.getMessage().contains("still in flight"), fault.getMessage());
    device.options = device.options.withRaceDetection(false);
    assertEquals(DeviceFault.Kind.UNINITIALIZED_READ, fault(device, 32, a).kind());
  }

  @Test
  void aMissingBarrierIsARaceWithBothLines() {
    String exchange =
        ".shared .b32 m[64];\nmov.u64 s, m; mad.wide.u32 s, t, 4, s;\nst.shared.u32 [s], t;\n%s\n"
            + "xor.b32 u, t, %d; mov.u64 s, m; mad.wide.u32 s, u, 4, s;\nld.shared.u32 v, [s];"
            + " mad.wide.u32 p, t, 4, p; st.global.u32 [p], v;";
    for (int distance : new int[] {1, 32}) {
      Device without = one(exchange.formatted("", distance));
      // Whichever thread comes first: a read of what isn't written yet is another fault.
      without.options = without.options.withInitializedCheck(false);
      Allocation a = without.ints(new int[64]);
      LaunchFault fault = fault(without, 64, a);
      assertEquals(DeviceFault.Kind.RACE, fault.kind());
      assertTrue(fault.getMessage().contains("line 7 (st.shared"), fault.getMessage());
      assertTrue(fault.getMessage().contains("line 10 (ld.shared"), fault.getMessage());
      Device with = one(exchange.formatted("bar.sync 0;", distance));
      Allocation b = with.ints(new int[64]);
      with.run(1, 64, b);
      assertEquals(distance, with.ints(b)[0]);
    }
    // Within a warp, its own barrier is enough.
    Device warp = one(exchange.formatted("bar.warp.sync -1;", 1));
    Allocation c = warp.ints(new int[64]);
    warp.run(1, 64, c);
    assertEquals(1, warp.ints(c)[0]);
    Device tooLittle = one(exchange.formatted("bar.warp.sync -1;", 32));
    tooLittle.options = tooLittle.options.withInitializedCheck(false);
    assertEquals(DeviceFault.Kind.RACE, fault(tooLittle, 64, tooLittle.ints(new int[64])).kind());
  }

  @Test
  void sectorsAndBankConflictsAreCounted() {
    for (int[] expected : new int[][] {{4, 4, 0}, {8, 8, 1}, {32, 32, 7}, {128, 32, 31}}) {
      String walk = "mul.lo.u32 u, t, " + expected[0] + ";";
      Device device =
          one(
              walk
                  + ".shared .b32 m[1024]; cvt.u64.u32 q, u; add.u64 p, p, q; mov.u64 s, m;"
                  + " ld.global.u32 v, [p]; add.u64 s, s, q; st.shared.u32 [s], v;");
      Allocation a = device.ints(new int[1024]);
      // An allocation begins at the beginning of a sector.
      Counters counters = device.run(1, 32, a).counters();
      assertEquals(128, counters.globalBytesRead());
      assertEquals(128, counters.sharedBytesWritten());
      assertEquals(expected[1], counters.globalSectorsRead());
      assertEquals(expected[2], counters.bankConflicts());
      assertEquals(1, counters.sharedAccesses());
    }
  }
}
