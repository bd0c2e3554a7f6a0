package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clusters: who is where, barriers, shared memory of other blocks, multicast. */
class ClusterTest {
  private static final String HEAD =
      """
      .shared .align 8 .b64 bar; .shared .align 128 .b32 data[64];
      .reg .b64 in, out, g, g2; .reg .b32 t, v, w, n, at, rank, peer, b, c<3>; .reg .pred p, q, first;
      ld.param.u64 in, [a]; ld.param.u64 out, [o]; mov.u32 t, %tid.x; setp.eq.u32 first, t, 0;
      mov.u32 rank, %cluster_ctarank;
      """;

  private static final String SYNC =
      "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n";

  /** Each thread stores v at its place in the grid's order. */
  private static final String STORE =
      """
      mov.u32 c0, %ctaid.x; mov.u32 c1, %ctaid.y; mov.u32 c2, %nctaid.x; mad.lo.u32 c0, c1, c2, c0;
      mov.u32 c1, %ntid.x; mad.lo.u32 c0, c0, c1, t; mad.wide.u32 out, c0, 4, out;
      st.global.u32 [out], v;
      """;

  private static Device device(String body) {
    return Hopper.kernel(".param .u64 a, .param .u64 o", HEAD + body + "\nret;");
  }

  /** What each thread of a grid of blocks stores. */
  private static int[] run(Device device, Dim3 grid, int threads, Dim3 cluster, int... in) {
    Allocation input = device.ints(in.length == 0 ? new int[1] : in);
    int[] results = new int[(int) grid.count() * threads];
    for (int seed = 0; seed < 3; seed++) {
      Allocation output = device.ints(new int[results.length]);
      device.options = device.options.withSeed(seed);
      Hopper.run(device, grid, threads, cluster, input, output);
      results = device.ints(output);
    }
    return results;
  }

  private static void faults(DeviceFault.Kind kind, String body, String part) {
    Device device = device(body);
    boolean found = false;
    String text = "no fault";
    for (int seed = 0; seed < 8 && !found; seed++) {
      device.options = device.options.withSeed(seed);
      LaunchFault fault =
          assertThrows(
              LaunchFault.class,
              () ->
                  Hopper.run(
                      device,
                      new Dim3(2, 1, 1),
                      32,
                      new Dim3(2, 1, 1),
                      device.ints(new int[64]),
                      device.ints(new int[64])));
      text = fault.getMessage();
      found = fault.kind() == kind && text.contains(part);
    }
    assertTrue(found, text);
  }

  @ParameterizedTest
  @CsvSource({
    "%clusterid.x, 0 0 1 1 0 0 1 1 0 0 1 1 0 0 1 1",
    "%clusterid.y, 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1",
    "%nclusterid.x, 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2",
    "%nclusterid.y, 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2",
    "%cluster_ctaid.x, 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1",
    "%cluster_ctaid.y, 0 0 0 0 1 1 1 1 0 0 0 0 1 1 1 1",
    "%cluster_nctaid.y, 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2",
    "%cluster_nctaid.z, 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    "%cluster_ctarank, 0 1 0 1 2 3 2 3 0 1 0 1 2 3 2 3",
    "%cluster_nctarank, 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4",
  })
  void blocksKnowTheirPlace(String register, String expected) {
    Device device = device("mov.u32 v, " + register + ";" + STORE);
    int[] found = run(device, new Dim3(4, 4, 1), 1, new Dim3(2, 2, 1));
    int[] wanted =
        java.util.Arrays.stream(expected.split(" ", -1)).mapToInt(Integer::parseInt).toArray();
    assertArrayEquals(wanted, found);
  }

  private static void check(int[] found, IntUnaryOperator expected) {
    for (int i = 0; i < found.length; i++) {
      assertEquals(expected.applyAsInt(i), found[i], "thread " + i);
    }
  }

  @Test
  void blocksReadEachOthersSharedMemory() {
    Device device =
        device(
            """
            shl.b32 at, t, 2; mov.u32 v, data; add.u32 at, at, v; mad.lo.u32 v, rank, 100, t;
            st.shared.u32 [at], v;
            """
                + SYNC
                + """
                add.u32 peer, rank, 1; and.b32 peer, peer, 3; mapa.shared::cluster.u32 b, at, peer;
                ld.shared::cluster.u32 v, [b]; getctarank.shared::cluster.u32 w, b;
                mad.lo.u32 v, w, 1000, v;
                """
                + STORE
                + SYNC);
    check(
        run(device, new Dim3(8, 1, 1), 64, new Dim3(4, 1, 1)),
        i -> (i / 64 + 1) % 4 * 1100 + i % 64);
  }

  @Test
  void genericAddressesReachOtherBlocks() {
    Device device =
        device(
            """
            cvta.shared.u64 g, data; mad.wide.u32 g, t, 4, g; xor.b32 peer, rank, 1;
            mapa.u64 g, g, peer; add.u32 v, rank, t; st.u32 [g], v;
            """
                + SYNC
                + """
                shl.b32 at, t, 2; mov.u32 v, data; add.u32 at, at, v; ld.shared.u32 v, [at];
                getctarank.u64 w, g; mad.lo.u32 v, w, 1000, v;
                isspacep.shared::cluster p, g; @p add.u32 v, v, 10000;
                isspacep.shared::cta p, g; @p add.u32 v, v, 20000;
                """
                + STORE
                + SYNC);
    check(
        run(device, new Dim3(2, 1, 1), 64, new Dim3(2, 1, 1)),
        i -> 10000 + (1 - i / 64) * 1001 + i % 64);
  }

  @Test
  void atomicsAddUpInOneBlock() {
    Device device =
        device(
            "@first st.shared.u32 [data], 0;"
                + SYNC
                + "mov.u32 at, data; mapa.shared::cluster.u32 at, at, 0;"
                + "atom.relaxed.cluster.shared::cluster.add.u32 v, [at], 1;"
                + "red.relaxed.cluster.shared::cluster.add.u32 [at], 1;"
                + SYNC
                + "ld.shared::cluster.u32 v, [at];"
                + STORE
                + SYNC);
    check(run(device, new Dim3(4, 1, 1), 64, new Dim3(4, 1, 1)), i -> 512);
  }

  /** Block 0's thread brings data to all; each block waits at a barrier of its own. */
  @Test
  void aMulticastReachesTheBlocksOfItsMask() {
    Device device =
        device(
            """
            @first mbarrier.init.shared.b64 [bar], 1; @first fence.mbarrier_init.release.cluster;
            mov.u32 v, 7; setp.eq.u32 p, rank, 1; @p bra SKIP;
            @first mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
            SKIP:
            """
                + SYNC
                + """
                setp.eq.and.u32 p, rank, 0, first; .reg .b16 mask; mov.u16 mask, 13;
                @p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
                  [data], [in], 128, [bar], mask;
                setp.eq.u32 p, rank, 1; @p bra DONE;
                W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra W;
                shl.b32 at, t, 2; mov.u32 v, data; add.u32 at, at, v; ld.shared.u32 v, [at];
                DONE:
                """
                + STORE
                + SYNC);
    int[] in = new int[32];
    for (int i = 0; i < 32; i++) {
      in[i] = 50 + i;
    }
    check(
        run(device, new Dim3(4, 1, 1), 32, new Dim3(4, 1, 1), in),
        i -> i / 32 == 1 ? 7 : 50 + i % 32);
  }

  /** Each block sends its data to the next one's shared memory, whose barrier counts the bytes. */
  @Test
  void sharedMemoryIsCopiedToAnotherBlock() {
    Device device =
        device(
            """
            .shared .align 128 .b32 got[64];
            @first mbarrier.init.shared.b64 [bar], 1; @first fence.mbarrier_init.release.cluster;
            shl.b32 at, t, 2; mov.u32 v, data; add.u32 at, at, v; mad.lo.u32 v, rank, 100, t;
            st.shared.u32 [at], v; fence.proxy.async;
            @first mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
            """
                + SYNC
                + """
                xor.b32 peer, rank, 1; mov.u32 at, got; mapa.shared::cluster.u32 at, at, peer;
                mov.u32 b, bar; mapa.shared::cluster.u32 b, b, peer;
                @first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
                  [at], [data], 128, [b];
                W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra W;
                shl.b32 at, t, 2; mov.u32 v, got; add.u32 at, at, v; ld.shared.u32 v, [at];
                """
                + STORE
                + SYNC);
    check(run(device, new Dim3(2, 1, 1), 32, new Dim3(2, 1, 1)), i -> (1 - i / 32) * 100 + i % 32);
  }

  @Test
  void threadsArriveAtOtherBlocksBarriers() {
    Device device =
        device(
            """
            @first mbarrier.init.shared.b64 [bar], 64; @first fence.mbarrier_init.release.cluster;
            """
                + SYNC
                + """
                mov.u32 b, bar; mapa.shared::cluster.u32 w, b, 0;
                mbarrier.arrive.release.cluster.shared::cluster.b64 _, [w];
                mapa.shared::cluster.u32 w, b, 1;
                mbarrier.arrive.release.cluster.shared::cluster.b64 _, [w], 1;
                W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [bar], 0; @!p bra W;
                mov.u32 v, 1;
                """
                + STORE
                + SYNC);
    check(run(device, new Dim3(2, 1, 1), 32, new Dim3(2, 1, 1)), i -> 1);
  }

  private static final String REMOTE =
      "mov.u32 at, data; xor.b32 peer, rank, 1; mapa.shared::cluster.u32 at, at, peer;";

  @Test
  void brokenRulesAreFaults() {
    faults(
        DeviceFault.Kind.RACE,
        REMOTE + "@first st.shared::cluster.u32 [at], 1; @first st.shared.u32 [data], rank;" + SYNC,
        "race on byte");
    faults(
        DeviceFault.Kind.OUT_OF_BOUNDS,
        REMOTE + SYNC + "ld.shared.u32 v, [at];" + SYNC,
        "lies in block");
    faults(
        DeviceFault.Kind.ILLEGAL_INSTRUCTION,
        "mov.u32 at, data; mapa.shared::cluster.u32 at, at, 2;",
        "block 2 of a cluster of 2");
    faults(
        DeviceFault.Kind.OUT_OF_BOUNDS,
        REMOTE
            + "setp.eq.u32 p, rank, 0; @!p bra DONE; L: ld.relaxed.cluster.shared::cluster.u32 v, [at];"
            + "add.u32 n, n, 1; setp.lt.u32 q, n, 9; @q bra L; DONE:",
        "which has ended");
    faults(
        DeviceFault.Kind.ILLEGAL_INSTRUCTION, "barrier.cluster.wait.aligned;", "has not arrived");
    faults(
        DeviceFault.Kind.ILLEGAL_INSTRUCTION,
        "barrier.cluster.arrive.aligned; barrier.cluster.arrive.aligned;",
        "has not waited between");
    faults(
        DeviceFault.Kind.DEADLOCK,
        """
        @first mbarrier.init.shared.b64 [bar], 1; bar.sync 0; setp.eq.u32 p, rank, 0; @p bra SKIP;
        W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra W; SKIP:
        """
            + SYNC,
        "waits at the cluster's barrier; not arrived: block (1,0,0) warp 0 lanes 0xffffffff");
  }

  /** A relaxed arrival orders nothing. */
  @Test
  void arrivalsReleaseUnlessTheyAreRelaxed() {
    String body =
        REMOTE
            + "@first st.shared.u32 [data], 1; barrier.cluster.arriveHOW.aligned;"
            + "barrier.cluster.wait.acquire.aligned; ld.shared::cluster.u32 v, [at];"
            + STORE
            + SYNC;
    check(run(device(body.replace("HOW", "")), new Dim3(2, 1, 1), 32, new Dim3(2, 1, 1)), i -> 1);
    faults(DeviceFault.Kind.RACE, body.replace("HOW", ".relaxed"), "race on byte");
  }

  @Test
  void whoHasExitedCountsAsArrived() {
    Device device = device("mov.u32 v, 3;" + STORE + "setp.lt.u32 p, t, 40; @p exit;" + SYNC);
    check(run(device, new Dim3(2, 1, 1), 64, new Dim3(2, 1, 1)), i -> 3);
  }

  @Test
  void sizesMustFitTheGridAndTheKernel() {
    String entry = ".visible .entry k(.param .u64 a, .param .u64 o) %s { ret; }";
    Device fixed = Hopper.module(entry.formatted(".reqnctapercluster 2, 1, 1"));
    Hopper.run(fixed, new Dim3(4, 1, 1), 32, null, 0L, 0L);
    Dim3 two = new Dim3(2, 1, 1);
    Hopper.run(fixed, new Dim3(4, 1, 1), 32, two, 0L, 0L);
    Device bounded = Hopper.module(entry.formatted(".maxclusterrank 2"));
    Object[][] wrong = {
      {fixed, new Dim3(3, 1, 1), two},
      {fixed, new Dim3(4, 1, 1), new Dim3(4, 1, 1)},
      {bounded, new Dim3(4, 1, 1), new Dim3(4, 1, 1)},
      {bounded, new Dim3(4, 1, 1), new Dim3(0, 1, 1)},
      {Hopper.module(entry.formatted(".explicitcluster")), new Dim3(4, 1, 1), null},
    };
    for (Object[] one : wrong) {
      assertThrows(
          IllegalArgumentException.class,
          () -> Hopper.run((Device) one[0], (Dim3) one[1], 32, (Dim3) one[2], 0L, 0L));
    }
  }

  @Test
  void registersAreAskedForInEights() {
    device(
        "setmaxnreg.inc.sync.aligned.u32 232; griddepcontrol.wait; griddepcontrol.launch_dependents;");
    for (int count : new int[] {16, 100, 264}) {
      assertThrows(
          PtxException.class, () -> device("setmaxnreg.dec.sync.aligned.u32 " + count + ";"));
    }
  }
}
