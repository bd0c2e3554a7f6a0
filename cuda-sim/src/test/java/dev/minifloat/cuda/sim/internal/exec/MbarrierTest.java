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

/** Barriers in shared memory: arrivals, bytes, phases, waits, and what is refused. */
class MbarrierTest {
  private static final String HEAD =
      """
      .shared .align 8 .b64 bar; .shared .align 16 .b32 data[256];
      .reg .b64 out, st, old; .reg .b32 t, v, w, n; .reg .pred p, q, first;
      ld.param.u64 out, [a]; mov.u32 t, %tid.x; setp.eq.u32 first, t, 0;
      """;

  private static Device device(String body) {
    return Hopper.kernel(".param .u64 a", HEAD + body + " ret;");
  }

  /** Runs one thread that leaves answers of 32 bits in v, stored one after the other. */
  private static int[] answers(int count, String body) {
    Device device = device(body.replace("STORE", "st.global.u32 [out], v; add.u64 out, out, 4;"));
    Allocation out = device.ints(new int[count]);
    device.run(1, 1, out);
    return device.ints(out);
  }

  private static String parity(int parity) {
    return "mbarrier.test_wait.parity.shared.b64 p, [bar], %d; selp.u32 v, 1, 0, p; STORE\n"
        .formatted(parity);
  }

  @Test
  void aPhaseEndsWithItsLastArrival() {
    int[] found =
        answers(
            8,
            "mbarrier.init.shared::cta.b64 [bar], 2;"
                + parity(0)
                + parity(1)
                + "mbarrier.arrive.shared::cta.b64 st, [bar];"
                + parity(0)
                + "mbarrier.test_wait.shared.b64 p, [bar], st; selp.u32 v, 1, 0, p; STORE\n"
                + "mbarrier.pending_count.b64 v, st; STORE\n"
                + "mbarrier.arrive.shared::cta.b64 _, [bar];"
                + parity(0)
                + parity(1)
                + "mbarrier.test_wait.shared.b64 p, [bar], st; selp.u32 v, 1, 0, p; STORE\n");
    assertArrayEquals(new int[] {0, 1, 0, 0, 2, 1, 0, 1}, found);
  }

  @Test
  void bytesThatAreToComeHoldAPhase() {
    int[] found =
        answers(
            4,
            "mbarrier.init.shared.b64 [bar], 1;"
                + "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [bar], 48;"
                + parity(0)
                + "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 32;"
                + parity(0)
                + "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;"
                + "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;"
                + parity(0)
                + "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;"
                + parity(0));
    assertArrayEquals(new int[] {0, 0, 0, 1}, found);
  }

  @Test
  void bytesMayComeBeforeTheyAreExpected() {
    int[] found =
        answers(
            2,
            "mbarrier.init.shared.b64 [bar], 1;"
                + "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;"
                + parity(0)
                + "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;"
                + parity(0));
    assertArrayEquals(new int[] {0, 1}, found);
  }

  @Test
  void whoDropsOutIsNotExpectedAgain() {
    int[] found =
        answers(
            2,
            "mbarrier.init.shared.b64 [bar], 3; mbarrier.arrive_drop.shared.b64 st, [bar], 2;"
                + "mbarrier.arrive.shared.b64 st, [bar];"
                + parity(0)
                + "mbarrier.arrive.shared.b64 st, [bar];"
                + parity(1));
    assertArrayEquals(new int[] {1, 1}, found);
  }

  /** Each thread hands its number on to the one 32 further, through eight phases. */
  @Test
  void arrivalsOrderWhatCameBefore() {
    Device device =
        device(
            """
            @first mbarrier.init.shared.b64 [bar], 64; bar.sync 0;
            mov.u32 n, 0; mov.u32 w, 0; .reg .b32 at, from;
            shl.b32 at, t, 2; mov.u32 v, data; add.u32 at, at, v;
            xor.b32 from, t, 32; shl.b32 from, from, 2; add.u32 from, from, v;
            LOOP:
            add.u32 v, t, n; st.shared.u32 [at], v;
            mbarrier.arrive.shared.b64 st, [bar];
            W1: mbarrier.try_wait.shared.b64 p, [bar], st; @!p bra W1;
            ld.shared.u32 v, [from]; add.u32 w, w, v;
            mbarrier.arrive.shared.b64 st, [bar];
            W2: mbarrier.try_wait.parity.shared.b64 p, [bar], 1, 1000; @!p bra W2;
            add.u32 n, n, 1; setp.lt.u32 q, n, 4; @q bra LOOP;
            mad.wide.u32 out, t, 4, out; st.global.u32 [out], w;
            """);
    Allocation out = device.ints(new int[64]);
    for (int seed = 0; seed < 5; seed++) {
      device.options = device.options.withSeed(seed);
      device.run(1, 64, out);
      int[] expected = new int[64];
      for (int t = 0; t < 64; t++) {
        expected[t] = 4 * (t ^ 32) + 6;
      }
      assertArrayEquals(expected, device.ints(out));
    }
  }

  @Test
  void aWaitThatNobodyEndsIsADeadlock() {
    Device device =
        device(
            """
            @first mbarrier.init.shared.b64 [bar], 2; bar.sync 0;
            @first mbarrier.arrive.expect_tx.shared.b64 st, [bar], 128;
            W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra W;
            """);
    Hopper.faults(
        DeviceFault.Kind.DEADLOCK,
        device,
        64,
        Hopper.of(device.ints(0)),
        "warp 1, lanes 0xffffffff",
        "mbarrier.try_wait.parity.shared.b64",
        "waits for parity 0 of the mbarrier at shared address 0x0, phase 0, of whose 2 arrivals 1 and"
            + " 128 bytes are missing");
  }

  /** Who only tries goes on when nobody else can. */
  @Test
  void aWaitGivesUpIfNothingElseHappens() {
    int[] found =
        answers(
            1,
            """
            mbarrier.init.shared.b64 [bar], 1;
            mbarrier.try_wait.parity.shared.b64 p, [bar], 0;
            @!p mbarrier.arrive.shared.b64 st, [bar];
            W: mbarrier.try_wait.parity.shared.b64 q, [bar], 0; @!q bra W;
            selp.u32 v, 1, 0, p; STORE
            """);
    assertArrayEquals(new int[] {0}, found);
  }

  /** Copies of single threads hold a phase, too, and land when somebody waits for it. */
  @Test
  void copiesArriveWhenTheyHaveLanded() {
    for (String form : new String[] {"", ".noinc"}) {
      Device device =
          device(
              """
              @first mbarrier.init.shared.b64 [bar], 65; bar.sync 0;
              .reg .b64 from; shl.b32 w, t, 2; mov.u32 v, data; add.u32 w, w, v;
              mad.wide.u32 from, t, 4, out; cp.async.ca.shared.global [w], [from], 4;
              cp.async.mbarrier.armed.shared::cta.b64 [bar];
              %s
              W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra W;
              xor.b32 t, t, 63; shl.b32 w, t, 2; add.u32 w, w, v; ld.shared.u32 v, [w];
              add.u32 v, v, 1000; xor.b32 t, t, 63; st.global.u32 [from+256], v;
              """
                  .replace("armed", "arrive" + form)
                  .formatted(
                      form.isEmpty()
                          ? "mbarrier.arrive.shared.b64 _, [bar]; @first mbarrier.arrive.shared.b64 _, [bar];"
                          : "@first mbarrier.arrive.shared.b64 _, [bar];"));
      int[] in = new int[128];
      for (int i = 0; i < 64; i++) {
        in[i] = 3 * i;
      }
      Allocation data = device.ints(in);
      device.run(1, 64, data);
      for (int i = 0; i < 64; i++) {
        assertEquals(1000 + 3 * (63 - i), device.ints(data)[64 + i]);
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          mbarrier.arrive.shared.b64 st, [bar];                                          | no mbarrier
          mbarrier.init.shared.b64 [bar], 0;                                             | for 0 arrivals
          mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.shared.b64 st, [bar], 2;    | 2 arrivals at
          mbarrier.init.shared.b64 [bar], 1; mbarrier.inval.shared.b64 [bar]; mbarrier.arrive.shared.b64 st, [bar]; | no mbarrier
          mbarrier.init.shared.b64 [bar], 1; st.shared.u32 [bar], 7; mbarrier.arrive.shared.b64 st, [bar]; | written over
          mbarrier.init.shared.b64 [bar], 1; mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 1048576; | there can be 1048575
          mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.noComplete.shared.b64 st, [bar], 1; | .noComplete
          mbarrier.init.shared.b64 [bar], 1; mbarrier.test_wait.shared.b64 p, [bar], 0x700000001; | phase 0 goes on
          """)
  void misuseIsAFault(String body, String part) {
    Device device = device(body);
    Hopper.faults(DeviceFault.Kind.ILLEGAL_INSTRUCTION, device, 1, Hopper.of(device.ints(0)), part);
  }

  @Test
  void anArrivalThatNothingOrdersAfterTheInitIsARace() {
    Device device =
        device(
            """
            @first mbarrier.init.shared.b64 [bar], 64;
            setp.ge.u32 q, t, 32; @q nanosleep.u32 10; @q mbarrier.arrive.shared.b64 st, [bar];
            """);
    boolean found = false;
    for (int seed = 0; seed < 8 && !found; seed++) {
      device.options = device.options.withSeed(seed);
      LaunchFault fault =
          assertThrows(LaunchFault.class, () -> device.run(1, 64, device.ints(0)), "no fault");
      found = fault.kind() == DeviceFault.Kind.RACE;
    }
    assertTrue(found);
  }

  /** What a thread does after it has arrived is not ordered by that arrival. */
  @Test
  void aReadAfterTheArrivalIsARace() {
    Device device =
        device(
            """
            @first mbarrier.init.shared.b64 [bar], 32; setp.lt.u32 q, t, 32;
            @first st.shared.u32 [data], 1; bar.sync 0; @!q bra LATER;
            mbarrier.arrive.shared.b64 st, [bar]; ld.shared.u32 v, [data]; bra DONE;
            LATER: W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra W;
            setp.eq.u32 p, t, 32; @p st.shared.u32 [data], 2;
            DONE:
            """);
    Hopper.faults(DeviceFault.Kind.RACE, device, 64, Hopper.of(device.ints(0)), "race on byte");
  }

  @Test
  void aRemoteArrivalGivesNoState() {
    assertThrows(
        PtxException.class,
        () -> device("mbarrier.arrive.release.cluster.shared::cluster.b64 st, [bar];"));
  }
}
