package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tensor Memory: allocation, cells and registers, copies into it, and what is held against. */
class TensorMemoryTest {
  private static final String MMA =
      "@first tcgen05.mma.cta_group::1.kind::f8f6f4 [tm], ad, bd, id, p;\n";
  private static final String COMMIT =
      "@first tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n";

  /** M = 128, N = 16, E4M3 both. */
  private static final String OPERANDS =
      Blackwell.descriptor("ad", 0, 2048, 128, 0)
          + Blackwell.descriptor("bd", 16384, 256, 128, 0)
          + "mov.u32 id, 0x8040010; setp.ne.u32 p, t, t;\n";

  private static int[] run(String body, int words, byte... shared) {
    Device device = Blackwell.module(body);
    byte[] in = new byte[Blackwell.SHARED];
    System.arraycopy(shared, 0, in, 0, shared.length);
    Allocation out = device.ints(new int[words]);
    device.run(1, 128, device.bytes(in), out);
    return device.ints(out);
  }

  private static void faults(DeviceFault.Kind kind, String body, String... parts) {
    Device device = Blackwell.module(body);
    Object[] arguments = {device.bytes(new byte[Blackwell.SHARED]), device.ints(new int[128 * 64])};
    Hopper.faults(kind, device, 128, arguments, parts);
  }

  /** What lane t writes by .32x32b, cell c of its lane holding 1000·t + c. */
  private static String fill(int columns) {
    StringBuilder text = new StringBuilder("mul.lo.u32 v, t, 1000;\n");
    for (int i = 0; i < columns; i++) {
      text.append("add.u32 r%d, v, %d;\n".formatted(i, i));
    }
    return text
        + "tcgen05.st.sync.aligned.32x32b.x%d.b32 [tw], %s; tcgen05.wait::st.sync.aligned;\n"
            .formatted(columns, Blackwell.registers(columns));
  }

  private static String store(int registers) {
    StringBuilder text =
        new StringBuilder("mad.wide.u32 at, t, %d, out;\n".formatted(4 * registers));
    for (int i = 0; i < registers; i++) {
      text.append("st.global.u32 [at+%d], r%d;\n".formatted(4 * i, i));
    }
    return text.toString();
  }

  @ParameterizedTest
  @CsvSource({"32x32b, 4, 4", "16x128b, 2, 4", "16x256b, 2, 8"})
  void registersHoldTheCellsOfTheirShape(String shape, int times, int registers) {
    String body =
        Blackwell.allocate(1)
            + fill(16)
            + "tcgen05.ld.sync.aligned.%s.x%d.b32 %s, [tw]; tcgen05.wait::ld.sync.aligned;\n"
                .formatted(shape, times, Blackwell.registers(registers))
            + store(registers)
            + Blackwell.free(1);
    int[] out = run(body, 128 * registers);
    for (int thread = 0; thread < 128; thread++) {
      for (int r = 0; r < registers; r++) {
        int t = thread % 32;
        int lane;
        int column;
        switch (shape) {
          case "32x32b" -> {
            lane = t;
            column = r;
          }
          case "16x128b" -> {
            lane = t / 4 + 8 * (r % 2);
            column = t % 4 + 4 * (r / 2);
          }
          default -> {
            lane = t / 4 + 8 * (r % 4 / 2);
            column = t % 4 * 2 + r % 2 + 8 * (r / 4);
          }
        }
        int expected = 1000 * (thread - t + lane) + column;
        assertEquals(expected, out[thread * registers + r], "thread " + thread + ", " + r);
      }
    }
  }

  @Test
  void storesPutRegistersWhereLoadsFindThem() {
    String body =
        Blackwell.allocate(1)
            + "mov.u32 r0, t; add.u32 r1, t, 1000; add.u32 r2, t, 2000; add.u32 r3, t, 3000;\n"
            + "tcgen05.st.sync.aligned.16x256b.x1.b32 [tw], {r0, r1, r2, r3};\n"
            + "tcgen05.wait::st.sync.aligned;\n"
            + "tcgen05.ld.sync.aligned.16x128b.x2.b32 {r0, r1, r2, r3}, [tw];\n"
            + "tcgen05.wait::ld.sync.aligned;\n"
            + store(4)
            + Blackwell.free(1);
    int[] out = run(body, 512);
    for (int thread = 0; thread < 128; thread++) {
      for (int r = 0; r < 4; r++) {
        int row = thread % 32 / 4;
        int column = thread % 4 + 4 * (r / 2);
        int writer = thread / 32 * 32 + row * 4 + column / 2;
        int expected = writer + 1000 * (column % 2 + 2 * (r % 2));
        assertEquals(expected, out[thread * 4 + r], "thread " + thread + ", " + r);
      }
    }
  }

  @Test
  void halvesArePackedAndUnpacked() {
    String body =
        Blackwell.allocate(1)
            + "shl.b32 r0, t, 16; or.b32 r0, r0, 7;\n"
            + "tcgen05.st.sync.aligned.32x32b.x1.unpack::16b.b32 [tw], {r0};\n"
            + "tcgen05.wait::st.sync.aligned;\n"
            + "tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [tw];\n"
            + "tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {r2}, [tw];\n"
            + "tcgen05.wait::ld.sync.aligned;\n"
            + store(3)
            + Blackwell.free(1);
    int[] out = run(body, 384);
    for (int t = 0; t < 128; t++) {
      assertEquals(7, out[3 * t]);
      assertEquals(t, out[3 * t + 1]);
      assertEquals(t << 16 | 7, out[3 * t + 2]);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "128x256b, 8",
    "128x128b, 4",
    "64x128b.warpx2::02_13, 4",
    "64x128b.warpx2::01_23, 4",
    "32x128b.warpx4, 4"
  })
  void copiesSpreadRowsOverLanes(String shape, int columns) {
    byte[] shared = new byte[8192];
    for (int i = 0; i < shared.length / 2; i++) {
      shared[2 * i] = (byte) i;
      shared[2 * i + 1] = (byte) (i >>> 8);
    }
    String body =
        Blackwell.allocate(1)
            + Blackwell.descriptor("sd", 0, 4096, 128, 0)
            + "@first tcgen05.cp.cta_group::1.%s [tm], sd;\n".formatted(shape)
            + COMMIT
            + Blackwell.await(0)
            + Blackwell.download(columns)
            + Blackwell.free(1);
    int[] out = run(body, 128 * columns, shared);
    for (int lane = 0; lane < 128; lane++) {
      int row =
          switch (shape.substring(0, 3)) {
            case "128" -> lane;
            case "32x" -> lane % 32;
            default -> lane % 32 + 32 * (shape.endsWith("02_13") ? lane / 32 % 2 : lane / 64);
          };
      for (int c = 0; c < columns; c++) {
        int word = c / 4 * 1024 + row * 4 + c % 4;
        int expected = (2 * word & 0xFFFF) | (2 * word + 1) << 16;
        assertEquals(expected, out[lane * columns + c], shape + " lane " + lane + ", " + c);
      }
    }
  }

  @Test
  void whatNobodyWaitedForIsNotThere() {
    faults(
        DeviceFault.Kind.RACE,
        Blackwell.allocate(1)
            + OPERANDS
            + MMA
            + "bar.sync 0;\n"
            + Blackwell.download(16)
            + Blackwell.free(1),
        "column 0 of Tensor Memory",
        "still in flight");
    faults(
        DeviceFault.Kind.ILLEGAL_INSTRUCTION,
        Blackwell.allocate(1) + OPERANDS + MMA + COMMIT + "ret;",
        "nobody has waited for it");
    faults(
        DeviceFault.Kind.RACE,
        Blackwell.allocate(1)
            + OPERANDS
            + fill(16)
            + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [tw]; add.u32 r1, r0, 1;"
            + Blackwell.free(1),
        "tcgen05.wait::ld");
  }

  @Test
  void sharedMemoryIsReadUntilTheCommit() {
    faults(
        DeviceFault.Kind.RACE,
        Blackwell.allocate(1)
            + OPERANDS
            + MMA
            + COMMIT
            + "@first st.shared.u32 [data], t;\n"
            + Blackwell.await(0)
            + Blackwell.free(1),
        "an asynchronous read still in flight");
  }

  @Test
  void accumulatorsThatAreReadMustNotBeWritten() {
    // The second multiplication is issued by a thread that hasn't waited for other warps' loads.
    faults(
        DeviceFault.Kind.RACE,
        Blackwell.allocate(1)
            + OPERANDS
            + MMA
            + COMMIT
            + Blackwell.await(0)
            + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [tw]; tcgen05.wait::ld.sync.aligned;\n"
            + "@first nanosleep.u32 1;\n"
            + "setp.lt.u32 q, t, 32; @!q bra OVER;\n"
            + "mov.u32 w, 2000; SPIN: sub.u32 w, w, 1; setp.ne.u32 q, w, 0; @q bra SPIN;\n"
            + MMA
            + COMMIT
            + "OVER:\n"
            + Blackwell.await(1).replace("WAIT", "AGAIN")
            + Blackwell.free(1),
        "that its thread hasn't waited for");
  }

  /** Warps load what was multiplied, and meet before the next multiplication. */
  private static String loadBetweenProducts(String before, String after) {
    return Blackwell.allocate(1)
        + OPERANDS
        + MMA
        + COMMIT
        + Blackwell.await(0)
        + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [tw]; tcgen05.wait::ld.sync.aligned;\n"
        + before
        + "bar.sync 0;\n"
        + after
        + MMA
        + COMMIT
        + Blackwell.await(1).replace("WAIT", "AGAIN")
        + Blackwell.free(1);
  }

  @Test
  void synchronisationOrdersAccessesBetweenFencesAlone() {
    String before = "tcgen05.fence::before_thread_sync;\n";
    String after = "tcgen05.fence::after_thread_sync;\n";
    run(loadBetweenProducts(before, after), 1);
    faults(
        DeviceFault.Kind.RACE,
        loadBetweenProducts("", after),
        "with no tcgen05.fence::before_thread_sync by its warp behind it");
    faults(
        DeviceFault.Kind.RACE,
        loadBetweenProducts(before, ""),
        "with no tcgen05.fence::after_thread_sync behind the wait for it");
    faults(
        DeviceFault.Kind.RACE,
        Blackwell.allocate(1)
            + OPERANDS
            + MMA
            + COMMIT
            + Blackwell.await(0).replace("tcgen05.fence::after_thread_sync;", "")
            + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [tw]; tcgen05.wait::ld.sync.aligned;\n"
            + Blackwell.free(1),
        "with no tcgen05.fence::after_thread_sync behind the wait for it");
  }

  @Test
  void allocationIsHeldToItsRules() {
    String alloc = "@warp0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], %d;\n";
    faults(DeviceFault.Kind.ILLEGAL_INSTRUCTION, alloc.formatted(48), "a power of two");
    faults(DeviceFault.Kind.ILLEGAL_INSTRUCTION, alloc.formatted(64) + "ret;", "was not freed");
    faults(
        DeviceFault.Kind.DEADLOCK,
        alloc.formatted(512) + alloc.formatted(32),
        "waits for 32 columns");
    faults(
        DeviceFault.Kind.ILLEGAL_INSTRUCTION,
        Blackwell.allocate(1) + alloc.formatted(32),
        "after tcgen05.relinquish_alloc_permit");
    String free = "@warp0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 tm, %d;\n";
    String half = Blackwell.allocate(1).replace("512", "64");
    faults(
        DeviceFault.Kind.ILLEGAL_INSTRUCTION,
        half + free.formatted(64) + free.formatted(64),
        "which were freed");
    faults(DeviceFault.Kind.ILLEGAL_INSTRUCTION, half + free.formatted(32), "not given so");
    faults(
        DeviceFault.Kind.OUT_OF_BOUNDS,
        half + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [tw+64];",
        "columns 64 to 64 of Tensor Memory are not allocated");
  }

  @Test
  void warpsReachTheirOwnLanesAlone() {
    faults(
        DeviceFault.Kind.OUT_OF_BOUNDS,
        Blackwell.allocate(1)
            + "@!warp0 bra OVER; add.u32 tw, tw, 0x200000;\n"
            + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [tw];\nOVER:\n"
            + Blackwell.free(1),
        "lanes from 32 on",
        "warp 0 reaches 0 to 31");
  }

  @Test
  void cellsThatNobodyWroteAreNotRead() {
    faults(
        DeviceFault.Kind.UNINITIALIZED_READ,
        Blackwell.allocate(1) + Blackwell.download(8) + Blackwell.free(1),
        "of Tensor Memory was never written");
    faults(
        DeviceFault.Kind.UNINITIALIZED_READ,
        Blackwell.allocate(1)
            + OPERANDS
            + "setp.eq.u32 p, t, t;\n"
            + MMA
            + COMMIT
            + Blackwell.await(0)
            + Blackwell.free(1),
        "of Tensor Memory was never written");
  }

  @ParameterizedTest
  @CsvSource({
    "0x8040011, has bits set that mean nothing",
    "0x8040014, sparse",
    "0x8040110, names formats",
    "0xC040010, has M = 192",
    "0x8020010, has N = 8",
    "0x8040020, names no format of D"
  })
  void descriptorsThatDescribeNothingAreNamed(String bits, String part) {
    faults(
        DeviceFault.Kind.ILLEGAL_INSTRUCTION,
        Blackwell.allocate(1) + OPERANDS.replace("0x8040010", bits) + MMA + Blackwell.free(1),
        part);
  }

  @Test
  void groupsAreNotMixed() {
    faults(
        DeviceFault.Kind.ILLEGAL_INSTRUCTION,
        Blackwell.allocate(1) + "@warp0 tcgen05.dealloc.cta_group::2.sync.aligned.b32 tm, 512;",
        "has used .cta_group::1 before");
    faults(DeviceFault.Kind.ILLEGAL_INSTRUCTION, Blackwell.allocate(2), "there is no pair");
  }

  @ParameterizedTest
  @CsvSource({
    "'tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0}, [tm];', a vector of 2",
    "'tcgen05.ld.sync.aligned.16x64b.x1.b32 {r0}, [tm];', .16x64b",
    "'tcgen05.mma.cta_group::1.kind::i8 [tm], ad, bd, id, p;', .kind::i8",
    "'tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [tm], ad, bd, id, [tm], [tm], p;', for sm_100f",
    "'tcgen05.shift.cta_group::1.down [tm];', .shift"
  })
  void otherFormsAreRefused(String line, String part) {
    PtxException refused =
        assertThrows(PtxException.class, () -> Blackwell.module(Blackwell.allocate(1) + line));
    assertTrue(refused.getMessage().contains(part), refused.getMessage());
  }

  /** Both blocks copy a box of a row of their own; the barrier of the first counts both. */
  private static int[] pairedCopies(String group) {
    Device device =
        new Device(
            Blackwell.HEADER
                + """
                .visible .entry k(.param .align 64 .b8 map[128], .param .u64 o) {
                .shared .align 128 .b8 data[64]; .shared .align 8 .b64 bar;
                .reg .b32 t, s, cta, there, x<4>; .reg .b64 out, m; .reg .pred first, leads, q;
                mov.u32 t, %%tid.x; mov.u32 cta, %%ctaid.x; mov.u64 m, map; mov.u32 s, data;
                ld.param.u64 out, [o]; setp.eq.u32 first, t, 0; setp.eq.u32 leads, cta, 0;
                mov.u32 there, bar; mapa.shared::cluster.u32 there, there, 0;
                @first mbarrier.init.shared.b64 [bar], 1;
                @first fence.mbarrier_init.release.cluster;
                @first mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
                barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
                @first cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes%s
                [s], [m, {0, cta}], [there];
                @!leads bra SKIP;
                WAIT: mbarrier.try_wait.parity.shared.b64 q, [bar], 0; @!q bra WAIT;
                SKIP:
                barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
                mad.wide.u32 out, cta, 4, out; @first ld.shared.u32 x0, [data+4];
                @first st.global.u32 [out], x0; ret;
                }
                """
                    .formatted(group));
    device.options = ExecutionOptions.of(100);
    int[] values = new int[32];
    for (int i = 0; i < values.length; i++) {
      values[i] = 100 + i;
    }
    TensorMap map =
        Hopper.map(
            TensorMap.Type.INT32,
            device.ints(values),
            new long[] {16, 2},
            new int[] {16, 1},
            TensorMap.Swizzle.NONE);
    Allocation out = device.ints(new int[2]);
    Dim3 two = new Dim3(2, 1, 1);
    Hopper.run(device, two, 32, two, map.encode(), out);
    return device.ints(out);
  }

  @Test
  void copiesOfAPairMayCountAtTheOtherBlocksBarrier() {
    assertArrayEquals(new int[] {101, 117}, pairedCopies(".cta_group::2"));
    LaunchFault alone = assertThrows(LaunchFault.class, () -> pairedCopies(""), "no fault");
    assertTrue(alone.getMessage().contains("its mbarrier lies in block"), alone.getMessage());
  }
}
