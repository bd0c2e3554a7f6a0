package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

/** Lanes that part and meet, exchange, wait for each other, call and branch. */
class WarpTest {
  private static final String START =
      """
      .reg .b64 p, q, s; .reg .b32 t, u, v, w, x, y; .reg .pred z, m;
      ld.param.u64 q, [a]; mov.u32 t, %tid.x; mad.wide.u32 p, t, 4, q;
      """;

  private static Device device(String body) {
    return Device.kernel(".param .u64 a", START + body);
  }

  /** Runs a body that sets v for each thread; checks what was stored. */
  private static void check(int threads, String body, IntUnaryOperator expected) {
    for (int seed = 0; seed < 3; seed++) {
      Device device = device(body + "\nst.global.u32 [p], v; ret;");
      device.options = device.options.withSeed(seed);
      Allocation a = device.ints(new int[threads]);
      device.run(1, threads, a);
      int[] out = device.ints(a);
      for (int i = 0; i < threads; i++) {
        assertEquals(expected.applyAsInt(i), out[i], body + " thread " + i);
      }
    }
  }

  @Test
  void lanesPartAndMeetAgain() {
    check(
        64,
        """
        mov.u32 v, 0; and.b32 u, t, 7;
        LOOP: setp.eq.u32 z, u, 0; @z bra DONE;
        and.b32 w, u, 1; setp.eq.u32 m, w, 0; @m bra EVEN;
        add.u32 v, v, 100; bra.uni NEXT;
        EVEN: add.u32 v, v, 1;
        NEXT: sub.u32 u, u, 1; bra LOOP;
        DONE: activemask.b32 w; popc.b32 w, w; mad.lo.u32 v, w, 1000, v;
        """,
        t -> 32_000 + ((t & 7) + 1) / 2 * 100 + (t & 7) / 2);
  }

  @Test
  void lanesThatSpinThroughCallsStarveNobody() {
    // The lock is taken in a function: who spins is always deeper in calls than who holds it.
    Device device =
        new Device(
            Device.HEADER
                + """
                .func (.param .b32 r) take (.param .b64 a) {
                  .reg .b64 q; .reg .b32 v;
                  ld.param.u64 q, [a]; atom.global.cas.b32 v, [q], 0, 1; st.param.b32 [r], v; ret;
                }
                .func give (.param .b64 a) {
                  .reg .b64 q; .reg .b32 v;
                  ld.param.u64 q, [a]; atom.global.exch.b32 v, [q], 0; ret;
                }
                .visible .entry k(.param .u64 a) {
                  .reg .b64 q; .reg .b32 v; .reg .pred z;
                  ld.param.u64 q, [a];
                  AGAIN:
                  { .param .b64 x; .param .b32 y; st.param.b64 [x], q;
                    call (y), take, (x); ld.param.b32 v, [y]; }
                  setp.ne.u32 z, v, 0;
                  @z bra AGAIN;
                  ld.volatile.global.u32 v, [q+4]; add.u32 v, v, 1; st.volatile.global.u32 [q+4], v;
                  { .param .b64 x; st.param.b64 [x], q; call give, (x); }
                  ret;
                }
                """);
    device.options = device.options.withMaxInstructions(20_000_000);
    Allocation a = device.ints(0, 0);
    device.run(2, 64, a);
    assertArrayEquals(new int[] {0, 128}, device.ints(a));
  }

  @Test
  void spinningLanesStarveNobody() {
    // Each lane in turn takes a lock that others spin on, within a warp and across warps and
    // blocks.
    Device device =
        device(
            """
            SPIN: atom.global.cas.b32 u, [q], 0, 1; setp.ne.u32 z, u, 0; @z bra SPIN;
            ld.global.u32 v, [q+4]; add.u32 v, v, 1; st.global.u32 [q+4], v;
            membar.gl; atom.global.exch.b32 u, [q], 0; ret;
            """);
    Allocation a = device.ints(0, 0);
    device.run(3, 96, a);
    assertEquals(288, device.ints(a)[1]);
  }

  @Test
  void blocksCanWaitForEachOther() {
    Device device =
        device(
            """
            atom.global.add.u32 u, [q], 1;
            WAIT: ld.volatile.global.u32 v, [q]; setp.lt.u32 z, v, 8; @z bra WAIT;
            ret;
            """);
    Allocation a = device.ints(0);
    device.run(8, 1, a);
    assertEquals(8, device.ints(a)[0]);
  }

  @Test
  void shufflesFollowTheirSegments() {
    check(32, "shfl.sync.bfly.b32 v|z, t, 5, 31, -1;", t -> t ^ 5);
    check(32, "shfl.sync.idx.b32 v, t, 9, 31, -1;", t -> 9);
    check(
        32,
        "shfl.sync.up.b32 v|z, t, 3, 0, -1; @!z add.u32 v, v, 100;",
        t -> t >= 3 ? t - 3 : t + 100);
    check(
        32,
        "shfl.sync.down.b32 v|z, t, 3, 31, -1; @!z add.u32 v, v, 100;",
        t -> t <= 28 ? t + 3 : t + 100);
    // Segments of eight lanes: mask 24 in bits 8 to 12.
    check(32, "shfl.sync.idx.b32 v, t, 10, 0x181f, -1;", t -> (t & 24) + 2);
    check(
        32,
        "shfl.sync.down.b32 v|z, t, 2, 0x1807, -1; @!z mov.u32 v, 99;",
        t -> (t & 7) < 6 ? t + 2 : 99);
  }

  @Test
  void lanesOfAMaskWaitForEachOther() {
    check(
        32,
        """
        and.b32 u, t, 1; setp.eq.u32 z, u, 0; mov.u32 w, 0x55555555; @z bra GO;
        mov.u32 w, 0xaaaaaaaa; mov.u32 x, 3; L: sub.u32 x, x, 1; setp.ne.u32 m, x, 0; @m bra L;
        GO: shfl.sync.bfly.b32 v, t, 2, 31, w;
        """,
        t -> t ^ 2);
  }

  @Test
  void votesMatchesAndReductions() {
    check(32, "setp.lt.u32 z, t, 5; vote.sync.ballot.b32 v, z, -1;", t -> 31);
    check(
        32,
        "setp.lt.u32 z, t, 5; vote.sync.any.pred m, z, -1; selp.u32 v, 1, 0, m;"
            + " vote.sync.all.pred m, z, -1; @m add.u32 v, v, 2; vote.sync.uni.pred m, !z, -1;"
            + " @m add.u32 v, v, 4; vote.sync.all.pred m, 1, -1; @m add.u32 v, v, 8;",
        t -> 9);
    check(32, "and.b32 u, t, 3; match.any.sync.b32 v, u, -1;", t -> 0x11111111 << (t & 3));
    check(
        32,
        "mov.u32 u, 7; match.all.sync.b32 v|z, u, -1; @!z mov.u32 v, 0; "
            + "match.all.sync.b32 w|z, t, -1; @z mov.u32 v, 1;",
        t -> -1);
    check(32, "redux.sync.add.u32 v, t, -1;", t -> 496);
    check(32, "sub.u32 u, t, 9; redux.sync.min.s32 v, u, -1;", t -> -9);
    check(32, "sub.u32 u, t, 9; redux.sync.max.u32 v, u, -1;", t -> -1);
    check(32, "redux.sync.xor.b32 v, t, -1;", t -> 0);
    check(32, "redux.sync.or.b32 v, t, -1;", t -> 31);
    check(32, "or.b32 u, t, 64; redux.sync.and.b32 v, u, -1;", t -> 64);
    check(32, "elect.sync v|z, -1; @z add.u32 v, v, 50;", t -> t == 0 ? 50 : 0);
  }

  @Test
  void specialRegistersDescribeTheLaunch() {
    check(
        64,
        "mov.u32 v, %laneid; mov.u32 u, %warpid; mad.lo.u32 v, u, 100, v; mov.u32 u, %ntid.x;"
            + " mad.lo.u32 v, u, 1000, v; mov.u32 u, %nctaid.x; mad.lo.u32 v, u, 1000000, v;",
        t -> t % 32 + t / 32 * 100 + 64_000 + 1_000_000);
    check(32, "mov.u32 v, %lanemask_lt;", t -> (1 << t) - 1);
    check(32, "mov.u32 v, %lanemask_ge;", t -> -1 << t);
    check(
        32,
        "mov.u64 s, %clock64; mov.u32 u, %clock; add.u32 x, u, 1; cvt.u32.u64 v, s;"
            + " setp.gt.u32 z, u, v; selp.u32 v, 1, 0, z;",
        t -> 1);
  }

  @Test
  void barriersCountAndReduce() {
    check(
        96,
        "setp.lt.u32 z, t, 40; bar.red.popc.u32 v, 1, z; bar.red.and.pred m, 0, z;"
            + " @m add.u32 v, v, 1000; barrier.cta.red.or.pred m, 2, 96, z; @m add.u32 v, v, 2000;",
        t -> 2040);
    // Producers arrive, consumers wait; two of three warps take part.
    check(
        96,
        """
        .shared .u32 flag; mov.u32 v, 0;
        setp.ge.u32 z, t, 64; @z bra OUT;
        setp.ge.u32 z, t, 32; @z bra TAKE;
        setp.eq.u32 m, t, 0; @m st.shared.u32 [flag], 77;
        bar.arrive 3, 64; bra OUT;
        TAKE: bar.sync 3, 64; ld.shared.u32 v, [flag];
        OUT:
        """,
        t -> t >= 32 && t < 64 ? 77 : 0);
    // Warps that have ended are not waited for.
    check(
        96,
        "st.global.u32 [p], 5; mov.u32 v, 5; setp.ge.u32 z, t, 32; @z exit; bar.sync 0;",
        t -> 5);
  }

  @Test
  void aDeadlockSaysWhoWaitsWhereForWhat() {
    Device device =
        device("setp.lt.u32 z, t, 32; @z bra A;\nbar.sync 1;\nret;\nA: bar.sync 2;\nret;");
    Allocation a = device.ints(new int[64]);
    LaunchFault fault = assertThrows(LaunchFault.class, () -> device.run(1, 64, a));
    assertEquals(DeviceFault.Kind.DEADLOCK, fault.kind());
    for (String part :
        new String[] {
          "warp 0, lanes 0xffffffff at line 10",
          "waits at barrier 2",
          "warp 1",
          "at line 8",
          "waits at barrier 1 for all warps; warps that have not arrived: [0]"
        }) {
      assertTrue(fault.getMessage().contains(part), fault.getMessage());
    }
    Device lanes =
        device("setp.lt.u32 z, t, 3; @z bra A; bar.warp.sync 0xf;\nA: bar.warp.sync 0xff; ret;");
    LaunchFault stuck = assertThrows(LaunchFault.class, () -> lanes.run(1, 32, lanes.ints(1)));
    assertTrue(stuck.getMessage().contains("lane"), stuck.getMessage());
  }

  @Test
  void endlessLaunchesAreStopped() {
    Device device = device("L: bra L;");
    device.options = device.options.withMaxInstructions(10_000);
    LaunchFault fault = assertThrows(LaunchFault.class, () -> device.run(1, 1, device.ints(1)));
    assertEquals(DeviceFault.Kind.LIMIT, fault.kind());
  }

  @Test
  void trapsAreFaults() {
    Device device = device("setp.eq.u32 z, t, 6; @z trap; ret;");
    LaunchFault fault = assertThrows(LaunchFault.class, () -> device.run(1, 32, device.ints(1)));
    assertEquals(DeviceFault.Kind.TRAP, fault.kind());
    assertEquals(new Dim3(6, 0, 0), fault.thread());
  }

  @Test
  void indexedBranchesAndGuardedCalls() {
    String ptx =
        Device.HEADER
            + """
            .func (.reg .u32 r) square(.reg .u32 x) { mul.lo.u32 r, x, x; ret; }
            .func (.param .b32 r) factorial(.param .b32 n) {
              .reg .b32 x, y, z; .reg .pred p; .local .b32 keep[4];
              ld.param.u32 x, [n]; st.local.u32 [keep+8], x; mov.u32 y, 1;
              setp.le.u32 p, x, 1; @p bra OUT;
              sub.u32 z, x, 1;
              { .param .b32 pass; .param .b32 back; st.param.b32 [pass], z;
                call.uni (back), factorial, (pass); ld.param.b32 y, [back]; }
              ld.local.u32 x, [keep+8]; mul.lo.u32 y, y, x;
              OUT: st.param.b32 [r], y; ret;
            }
            .visible .entry k(.param .u64 a) {
            """
            + START
            + """
              and.b32 u, t, 3; mov.u32 v, 0;
              TABLE: .branchtargets L0, L1, L2, L3;
              brx.idx u, TABLE;
              L0: call (v), square, (t); bra OUT;
              L1: mov.u32 v, 11; bra OUT;
              L2: { .param .b32 pass; .param .b32 back; and.b32 w, t, 7; st.param.b32 [pass], w;
                    call (back), factorial, (pass); ld.param.b32 v, [back]; }
                  bra OUT;
              L3: call (v), square, (3);
              OUT: st.global.u32 [p], v; ret;
            }
            """;
    Device device = new Device(ptx);
    Allocation a = device.ints(new int[32]);
    device.run(1, 32, a);
    int[] factorials = {1, 1, 2, 6, 24, 120, 720, 5040};
    int[] expected = new int[32];
    for (int t = 0; t < 32; t++) {
      expected[t] =
          switch (t & 3) {
            case 0 -> t * t;
            case 1 -> 11;
            case 2 -> factorials[t & 7];
            default -> 9;
          };
    }
    assertArrayEquals(expected, device.ints(a));
  }

  @Test
  void matricesMoveAsTheFiguresSay() {
    String body =
        """
        .shared .align 16 .b16 mm[256]; .reg .b32 r<4>; .reg .b64 d;
        mov.u64 s, mm; mad.wide.u32 d, t, 16, s;
        mul.lo.u32 u, t, 0x00080008; add.u32 u, u, 0x00010000;
        st.shared.u32 [d], u; add.u32 u, u, 0x00020002; st.shared.u32 [d+4], u;
        add.u32 u, u, 0x00020002; st.shared.u32 [d+8], u; add.u32 u, u, 0x00020002;
        st.shared.u32 [d+12], u; bar.sync 0;
        ldmatrix.sync.aligned.m8n8.x4%s.shared.b16 {r0, r1, r2, r3}, [d];
        """;
    for (int m = 0; m < 4; m++) {
      int matrix = m;
      check(
          32,
          body.formatted("") + "mov.b32 v, r" + m + ";",
          t -> element(matrix, t / 4, t % 4 * 2) | element(matrix, t / 4, t % 4 * 2 + 1) << 16);
      check(
          32,
          body.formatted(".trans") + "mov.b32 v, r" + m + ";",
          t -> element(matrix, t % 4 * 2, t / 4) | element(matrix, t % 4 * 2 + 1, t / 4) << 16);
      check(
          32,
          body.formatted("") + "movmatrix.sync.aligned.m8n8.trans.b16 v, r" + m + ";",
          t -> element(matrix, t % 4 * 2, t / 4) | element(matrix, t % 4 * 2 + 1, t / 4) << 16);
      // Stored transposed and loaded again, it has turned over.
      check(
          32,
          body.formatted("")
              + "bar.sync 0; stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [d], {r0, r1, r2, r3};"
              + " bar.sync 0; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0, r1, r2, r3}, [d]; mov.b32 v, r"
              + m
              + ";",
          t -> element(matrix, t % 4 * 2, t / 4) | element(matrix, t % 4 * 2 + 1, t / 4) << 16);
    }
  }

  /** Rows of 16 elements, numbered through the matrices; what fills a row up is not read. */
  @Test
  void packedMatricesAreSpreadOverBytes() {
    for (int bits : new int[] {4, 6}) {
      // Thread t has row t; element e of it is (5·t + 3·e) mod 2^bits, from the row's lowest bit
      // on.
      String fill =
          """
          .shared .align 16 .b8 mm[512]; .reg .b32 r<4>, e, f, word, left; .reg .b64 d;
          mov.u64 s, mm; mad.wide.u32 d, t, 16, s;
          mov.u32 e, 0;
          """;
      StringBuilder body = new StringBuilder(fill);
      for (int word = 0; word < bits / 2; word++) {
        body.append("mov.u32 word, 0;");
        for (int e = 0; e < 16; e++) {
          int at = e * bits - 32 * word;
          if (at > -bits && at < 32) {
            body.append(
                "mad.lo.u32 f, t, 5, %d; and.b32 f, f, %d;".formatted(3 * e, (1 << bits) - 1));
            body.append(at < 0 ? "shr.u32 f, f, " + -at : "shl.b32 f, f, " + at);
            body.append("; or.b32 word, word, f;");
          }
        }
        body.append("st.shared.u32 [d+%d], word;\n".formatted(4 * word));
      }
      body.append("bar.sync 0; ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.");
      body.append(bits == 4 ? "b4x16_p64" : "b6x16_p32").append(" {r0, r1, r2, r3}, [d];");
      for (int m = 0; m < 4; m++) {
        int matrix = m;
        check(
            32,
            body + "mov.b32 v, r" + m + ";",
            t -> {
              int expected = 0;
              for (int b = 0; b < 4; b++) {
                int row = matrix * 8 + t / 4;
                int column = t % 4 * 4 + b;
                expected |= (5 * row + 3 * column) % (1 << bits) << (8 * b);
              }
              return expected;
            });
      }
    }
  }

  /** Rows of eight elements, numbered through all four matrices. */
  private static int element(int matrix, int row, int column) {
    return matrix * 64 + row * 8 + column;
  }

  @Test
  void launchesOnDifferentMemoriesRunAtOnce() throws InterruptedException {
    Device[] devices = new Device[4];
    Allocation[] results = new Allocation[4];
    Thread[] threads = new Thread[4];
    for (int i = 0; i < 4; i++) {
      devices[i] = device("mov.u32 v, %ctaid.x; atom.global.add.u32 v, [q], v; ret;");
      results[i] = devices[i].ints(0);
      Device one = devices[i];
      Allocation a = results[i];
      threads[i] = Thread.ofPlatform().start(() -> one.run(100, 32, a));
    }
    for (int i = 0; i < 4; i++) {
      threads[i].join();
      assertEquals(32 * 4950, devices[i].ints(results[i])[0]);
    }
  }
}
