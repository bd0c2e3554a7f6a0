package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Bulk copies of runs of bytes and of tensors' boxes, against plain loops; and their lateness. */
class BulkCopyTest {
  private static final String REGISTERS =
      """
      .shared .align 8 .b64 bar; .shared .align 1024 .b8 data[16384];
      .reg .b64 in, out, map; .reg .b32 t, v, at, n, c<5>; .reg .pred p, first;
      mov.u32 t, %tid.x; setp.eq.u32 first, t, 0;
      """;

  private static final String WAIT =
      "W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra W;\n";

  private static final String INIT =
      "@first mbarrier.init.shared.b64 [bar], 1; @first fence.mbarrier_init.release.cluster; bar.sync 0;\n";

  /** A load of 256 bytes and a store of them elsewhere, with some of the steps left out. */
  private static Device round(String without) {
    String body =
        REGISTERS
            + "ld.param.u64 in, [a]; ld.param.u64 out, [b];\n"
            + INIT
            + """
            @!first bra LOADED;
            mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
            cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [in], 256, [bar];
            LOADED:
            """
            + WAIT
            + """
            shl.b32 at, t, 2; mov.u32 v, data; add.u32 at, at, v;
            ld.shared.u32 v, [at]; add.u32 v, v, 1; st.shared.u32 [at], v;
            fence.proxy.async.shared::cta;
            bar.sync 0;
            @!first bra DONE;
            cp.async.bulk.global.shared::cta.bulk_group [out], [data], 256;
            cp.async.bulk.commit_group;
            cp.async.bulk.wait_group.read 0;
            DONE: ret;
            """;
    if (!without.isEmpty()) {
      body = body.replace(without, "");
    }
    return Hopper.kernel(".param .u64 a, .param .u64 b", body);
  }

  private static int[] ramp(int count) {
    int[] values = new int[count];
    for (int i = 0; i < count; i++) {
      values[i] = 3 * i + 5;
    }
    return values;
  }

  @Test
  void bytesGoInAndOut() {
    Device device = round("");
    Allocation in = device.ints(ramp(64));
    Allocation out = device.ints(new int[66]);
    LaunchReport report = device.run(1, 64, in, out);
    int[] found = device.ints(out);
    for (int i = 0; i < 64; i++) {
      assertEquals(3 * i + 6, found[i]);
    }
    assertEquals(0, found[64]);
    assertEquals(256, report.counters().globalBytesRead());
    assertEquals(256, report.counters().globalBytesWritten());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra W;              | RACE                | in flight
          fence.proxy.async.shared::cta;                                              | RACE                | no fence.proxy.async
          @first fence.mbarrier_init.release.cluster;                                 | RACE                | an arrival at the mbarrier
          mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;                         | DEADLOCK            | 1 and -256 bytes
          cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [in], 256, [bar]; | DEADLOCK | 0 and 256 bytes
          cp.async.bulk.wait_group.read 0;                                            | ILLEGAL_INSTRUCTION | nobody has waited
          cp.async.bulk.commit_group;                                                 | ILLEGAL_INSTRUCTION | nobody has waited
          """)
  void aMissingStepIsFound(String step, DeviceFault.Kind kind, String part) {
    Device device = round(step);
    Hopper.faults(
        kind, device, 64, Hopper.of(device.ints(ramp(64)), device.ints(new int[64])), part);
  }

  /** A block that ends must not leave copies on their way to its memory. */
  @Test
  void aLoadThatNobodyWaitsForIsFound() {
    Device device =
        Hopper.kernel(
            ".param .u64 a",
            REGISTERS
                + "ld.param.u64 in, [a];"
                + INIT
                + "@first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                + " [data], [in], 256, [bar]; ret;");
    Hopper.faults(
        DeviceFault.Kind.ILLEGAL_INSTRUCTION,
        device,
        32,
        Hopper.of(device.ints(ramp(64))),
        "nobody has waited until its shared memory was written");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          [data], [in], 256, [bar]     | [data], [in], 24, [bar]    | ILLEGAL_INSTRUCTION | a multiple of 16
          [data], [in], 256, [bar]     | [data], [in], 272, [bar]   | OUT_OF_BOUNDS       | 272 bytes at address
          [data], [in], 256, [bar]     | [data+8], [in], 16, [bar]  | MISALIGNED          | 16
          [data], [in], 256, [bar]     | [data], [in+8], 16, [bar]  | MISALIGNED          | 16
          [out], [data], 256           | [out], [data+16368], 32    | OUT_OF_BOUNDS       | 32 bytes
          """)
  void misplacedCopiesAreFaults(String from, String to, DeviceFault.Kind kind, String part) {
    String text = from;
    Device whole = round("");
    assertEquals(1, whole.module.module().functions().size());
    String body =
        (REGISTERS
                + "ld.param.u64 in, [a]; ld.param.u64 out, [b];\n"
                + INIT
                + "@!first bra DONE; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
                + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [in], 256, [bar];\n"
                + "cp.async.bulk.global.shared::cta.bulk_group [out], [data], 256; DONE: ret;")
            .replace(text, to);
    if (text.startsWith("[out]")) {
      body = body.replace("cp.async.bulk.shared::cluster", "//");
    }
    Device device = Hopper.kernel(".param .u64 a, .param .u64 b", body);
    Hopper.faults(
        kind, device, 32, Hopper.of(device.ints(ramp(64)), device.ints(new int[64])), part);
  }

  /** Without a wait for the whole copy, its writes come when the kernel ends, and not before. */
  @Test
  void aStoreIsSeenLate() {
    for (String wait : new String[] {".read", ""}) {
      Device device =
          Hopper.kernel(
              ".param .u64 a, .param .u64 b",
              REGISTERS
                  + """
                  ld.param.u64 in, [a]; ld.param.u64 out, [b]; mov.u32 v, 9;
                  st.shared.v4.u32 [data], {v, v, v, v}; fence.proxy.async;
                  cp.async.bulk.global.shared::cta.bulk_group [in], [data], 16;
                  cp.async.bulk.commit_group; cp.async.bulk.wait_group%s 0;
                  ld.global.u32 v, [in]; st.global.u32 [out], v; ret;
                  """
                      .formatted(wait));
      Allocation target = device.ints(1, 2, 3, 4);
      Allocation seen = device.ints(0);
      device.run(1, 1, target, seen);
      assertEquals(wait.isEmpty() ? 9 : 1, device.ints(seen)[0]);
      assertArrayEquals(new int[] {9, 9, 9, 9}, device.ints(target));
    }
  }

  /** A store may still read what a later one overwrites, unless its group was waited for. */
  @Test
  void groupsAreWaitedForInTheirOrder() {
    for (int pending = 0; pending <= 1; pending++) {
      Device device =
          Hopper.kernel(
              ".param .u64 a",
              REGISTERS
                  + """
                  ld.param.u64 out, [a]; mov.u32 v, 9;
                  st.shared.v4.u32 [data], {v, v, v, v}; st.shared.v4.u32 [data+16], {v, v, v, v};
                  fence.proxy.async;
                  cp.async.bulk.global.shared::cta.bulk_group [out], [data], 16;
                  cp.async.bulk.commit_group;
                  cp.async.bulk.global.shared::cta.bulk_group [out+16], [data+16], 16;
                  cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1;
                  st.shared.u32 [data+%d], t; cp.async.bulk.wait_group 0; ret;
                  """
                      .formatted(16 * pending));
      Allocation out = device.ints(new int[8]);
      if (pending == 0) {
        device.run(1, 1, out);
        assertEquals(9, device.ints(out)[7]);
      } else {
        Hopper.faults(
            DeviceFault.Kind.RACE, device, 1, Hopper.of(out), "an asynchronous read still");
      }
    }
  }

  /** Loads a box, stores it elsewhere through the same kind of map, and shows shared memory. */
  private static Device tensors(int rank) {
    String coordinates = "";
    StringBuilder loads = new StringBuilder();
    for (int d = 0; d < rank; d++) {
      coordinates += (d == 0 ? "" : ", ") + "c" + d;
      loads.append("ld.param.s32 c%d, [place+%d]; ".formatted(d, 4 * d));
    }
    return Hopper.kernel(
        ".param .align 64 .b8 from[128], .param .align 64 .b8 to[128],"
            + " .param .align 4 .b8 place[20], .param .u32 bytes, .param .u64 shown",
        REGISTERS
            + loads
            + "ld.param.u32 n, [bytes]; ld.param.u64 out, [shown];"
            + INIT
            + """
            @!first bra LOADED;
            mov.b64 map, from; cvta.param.u64 map, map; prefetch.tensormap [map];
            mbarrier.arrive.expect_tx.shared.b64 _, [bar], n;
            cp.async.bulk.tensor.%1$dd.shared::cluster.global.tile.mbarrier::complete_tx::bytes
              [data], [map, {%2$s}], [bar];
            LOADED:
            """
                .formatted(rank, coordinates)
            + WAIT
            + """
            @!first bra DONE;
            mov.b64 map, to; cvta.param.u64 map, map;
            cp.async.bulk.tensor.%1$dd.global.shared::cta.bulk_group [map, {%2$s}], [data];
            cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
            mov.u32 at, 0;
            SHOW: mov.u32 v, data; add.u32 v, v, at; ld.shared.u32 v, [v];
            st.global.u32 [out], v; add.u64 out, out, 4;
            add.u32 at, at, 4; setp.lt.u32 p, at, n; @p bra SHOW;
            DONE: ret;
            """
                .formatted(rank, coordinates));
  }

  private static byte[] bytes(int[] values) {
    java.nio.ByteBuffer bytes =
        java.nio.ByteBuffer.allocate(20).order(java.nio.ByteOrder.LITTLE_ENDIAN);
    for (int value : values) {
      bytes.putInt(value);
    }
    return bytes.array();
  }

  /**
   * Every box against loops over its indices; the swizzle against the figures' rule: the place of a
   * piece of 16 bytes in its row is changed by the row's number.
   */
  private static void checkBox(
      long[] dimensions, int[] box, int[] at, TensorMap.Swizzle swizzle, int strideOfLast) {
    int rank = dimensions.length;
    Device device = tensors(rank);
    int count = 1;
    for (long dimension : dimensions) {
      count *= (int) dimension;
    }
    SplittableRandom random = new SplittableRandom(count);
    byte[] values = new byte[count * 4];
    random.nextBytes(values);
    Allocation from = device.bytes(values);
    Allocation to = device.bytes(new byte[count * 4]);
    TensorMap map = Hopper.map(TensorMap.Type.FLOAT32, from, dimensions, box, swizzle);
    map.elementStrides()[rank - 1] = rank > 1 ? strideOfLast : 1;
    int boxBytes = map.boxBytes();
    Allocation shown = device.bytes(new byte[boxBytes]);
    device.run(
        1, 32, map.encode(), map.withAddress(to.base()).encode(), bytes(at), boxBytes, shown);
    byte[] expected = new byte[boxBytes];
    byte[] stored = new byte[count * 4];
    int[] index = new int[rank];
    for (int e = 0; e < boxBytes / 4; e++) {
      int rest = e;
      long source = 0;
      long step = 1;
      boolean inside = true;
      for (int d = 0; d < rank; d++) {
        int each = d == rank - 1 && rank > 1 ? strideOfLast : 1;
        int extent = (box[d] + each - 1) / each;
        index[d] = at[d] + rest % extent * each;
        rest /= extent;
        inside &= index[d] >= 0 && index[d] < dimensions[d];
        source += index[d] * step;
        step *= dimensions[d];
      }
      int row = e * 4 / 128;
      int place = e * 4 % 128;
      int piece =
          switch (swizzle) {
            case NONE -> place / 16;
            case BYTES_32 -> place / 16 ^ (row & 1);
            case BYTES_64 -> place / 16 ^ (row & 3);
            case BYTES_128 -> place / 16 ^ (row & 7);
          };
      int target = row * 128 + piece * 16 + place % 16;
      for (int b = 0; inside && b < 4; b++) {
        expected[target + b] = values[(int) source * 4 + b];
        stored[(int) source * 4 + b] = values[(int) source * 4 + b];
      }
    }
    assertArrayEquals(expected, device.bytes(shown), "in shared memory");
    assertArrayEquals(stored, device.bytes(to), "stored");
  }

  @ParameterizedTest
  @EnumSource
  void boxesOfEveryRankAreLoadedAndStored(TensorMap.Swizzle swizzle) {
    int inner = Math.max(8, swizzle.span() / 4);
    checkBox(new long[] {64}, new int[] {inner}, new int[] {16}, swizzle, 1);
    checkBox(new long[] {40, 30}, new int[] {inner, 16}, new int[] {3, 5}, swizzle, 1);
    checkBox(new long[] {20, 9, 6}, new int[] {inner, 4, 3}, new int[] {-2, 7, 4}, swizzle, 1);
    checkBox(
        new long[] {12, 5, 4, 3}, new int[] {inner, 3, 2, 2}, new int[] {1, -1, 3, 2}, swizzle, 1);
    checkBox(
        new long[] {8, 3, 3, 3, 4},
        new int[] {inner, 2, 2, 2, 3},
        new int[] {0, 2, 0, -1, 3},
        swizzle,
        1);
  }

  @ParameterizedTest
  @EnumSource
  void everyOtherRowCanBeTaken(TensorMap.Swizzle swizzle) {
    int inner = Math.max(8, swizzle.span() / 4);
    checkBox(new long[] {32, 40}, new int[] {inner, 16}, new int[] {0, 5}, swizzle, 2);
    checkBox(new long[] {32, 40}, new int[] {inner, 16}, new int[] {0, 30}, swizzle, 3);
  }

  @Test
  void boxesWhollyOutsideAreZeros() {
    checkBox(new long[] {32, 4}, new int[] {32, 4}, new int[] {0, 100}, TensorMap.Swizzle.NONE, 1);
    checkBox(new long[] {32, 4}, new int[] {32, 4}, new int[] {-32, 0}, TensorMap.Swizzle.NONE, 1);
  }

  @Test
  void outsideMayBeNan() {
    Device device = tensors(1);
    Allocation from = device.ints(1, 2, 3, 4);
    TensorMap map =
        new TensorMap(
            TensorMap.Type.FLOAT32,
            from.base(),
            new long[] {4},
            new long[0],
            new int[] {8},
            new int[] {1},
            TensorMap.Swizzle.NONE,
            true);
    Allocation shown = device.ints(new int[8]);
    device.run(1, 32, map.encode(), map.encode(), bytes(new int[] {-2}), 32, shown);
    int[] found = device.ints(shown);
    assertArrayEquals(new int[] {1, 2, 3, 4}, java.util.Arrays.copyOfRange(found, 2, 6));
    for (int i : new int[] {0, 1, 6, 7}) {
      assertEquals(Float.NaN, Float.intBitsToFloat(found[i]));
    }
  }

  @Test
  void whatIsNoMapIsAFault() {
    Device device = tensors(2);
    Allocation from = device.ints(new int[64]);
    byte[] map =
        Hopper.map(
                TensorMap.Type.FLOAT32,
                from,
                new long[] {8, 8},
                new int[] {8, 8},
                TensorMap.Swizzle.NONE)
            .encode();
    byte[] other =
        Hopper.map(
                TensorMap.Type.FLOAT32,
                from,
                new long[] {64},
                new int[] {8},
                TensorMap.Swizzle.NONE)
            .encode();
    Allocation shown = device.ints(new int[64]);
    map[20] ^= 1;
    Hopper.faults(
        DeviceFault.Kind.ILLEGAL_INSTRUCTION,
        device,
        32,
        Hopper.of(map, map, bytes(new int[2]), 256, shown),
        "no tensor map");
    Hopper.faults(
        DeviceFault.Kind.ILLEGAL_INSTRUCTION,
        device,
        32,
        Hopper.of(other, other, bytes(new int[2]), 256, shown),
        "2 coordinates for a tensor map of rank 1");
  }
}
