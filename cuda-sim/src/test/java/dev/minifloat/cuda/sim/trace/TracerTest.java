package dev.minifloat.cuda.sim.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.PtxKernel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What a tracer is told, and what it sees. */
class TracerTest {
  private static final String HEAD =
      """
      .version 8.4
      .target sm_89
      .address_size 64
      .visible .entry k(.param .u64 x) {
      .reg .pred %p<2>;
      .reg .b32 %r<16>;
      .reg .b64 %rd<4>;
      .reg .f32 %f<8>;
      .shared .align 16 .b8 s[512];
      """;

  private static final Place ONE = new Place(1, 1, 1);

  /** Calls somebody before each instruction. */
  private record Calls(Consumer<TracedWarp> seen) implements Tracer {
    @Override
    public boolean begins(TracedLaunch launch) {
      return true;
    }

    @Override
    public boolean step(TracedWarp warp) {
      seen.accept(warp);
      return true;
    }
  }

  private static Optional<String> run(String body, int threads, byte[] memory, Tracer tracer) {
    return PtxKernel.parse(HEAD + body + "}\n", null)
        .run(
            "sm_89",
            ONE,
            new Place(threads, 1, 1),
            0,
            List.of(PtxKernel.Argument.buffer(memory)),
            tracer,
            _ -> {});
  }

  private static TracedRegister register(TracedWarp warp, String name) {
    return warp.registers(0).stream()
        .filter(register -> register.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void eachInstructionIsSeenBeforeItRuns() {
    List<String> seen = new ArrayList<>();
    Calls calls =
        new Calls(
            warp ->
                seen.add(
                    "%d %s %d"
                        .formatted(
                            warp.next().line(),
                            warp.next().opcode(),
                            warp.value(register(warp, "%r1"), 3))));
    String body =
        """
        mov.u32 %r1, %laneid;
        add.u32 %r1, %r1, 10;
        ret;
        """;
    assertEquals(Optional.empty(), run(body, 32, new byte[4], calls));
    assertEquals(List.of("10 mov 0", "11 add 3", "12 ret 13"), seen);
  }

  @Test
  void lanesOfBranchesAreSeenApart() {
    List<Integer> groups = new ArrayList<>();
    Calls calls =
        new Calls(
            warp -> {
              if (warp.next().opcode().equals("add")) {
                groups.add(warp.active());
              }
            });
    String body =
        """
        mov.u32 %r1, %laneid;
        setp.lt.u32 %p1, %r1, 8;
        @%p1 bra L;
        add.u32 %r1, %r1, 1;
        L: ret;
        """;
    assertEquals(Optional.empty(), run(body, 32, new byte[4], calls));
    assertEquals(List.of(0xFFFF_FF00), groups);
  }

  @Test
  void sharedMemoryAndItsAccessesAreSeen() {
    List<TracedAccess> accesses = new ArrayList<>();
    List<String> written = new ArrayList<>();
    Calls calls =
        new Calls(
            warp -> {
              if (!warp.next().opcode().equals("ret")) {
                warp.access().ifPresent(accesses::add);
                return;
              }
              TracedBlock block = warp.block();
              for (int i = 0; i < 12; i += 4) {
                byte[] word = block.shared(i, 4);
                int value = ByteBuffer.wrap(word).order(ByteOrder.LITTLE_ENDIAN).getInt();
                written.add(block.isWritten(i) ? "" + value : "unwritten");
              }
              assertEquals(512, block.shared(0, 4096).length);
            });
    String body =
        """
        mov.u32 %r1, %laneid;
        shl.b32 %r2, %r1, 3;
        mov.u32 %r3, s;
        add.u32 %r3, %r3, %r2;
        st.shared.u32 [%r3], %r1;
        ret;
        """;
    assertEquals(Optional.empty(), run(body, 32, new byte[4], calls));
    assertEquals(1, accesses.size());
    TracedAccess access = accesses.getFirst();
    assertEquals("shared", access.space());
    assertEquals(4, access.bytes());
    assertEquals(-1, access.lanes());
    assertEquals(List.of(0L, 8L, 16L), access.addresses().subList(0, 3));
    assertEquals(List.of("0", "unwritten", "1"), written);
  }

  /** E5M2 and E4M3, m16n8k32: PTX ISA, "Matrix Fragments for mma.m16n8k32". */
  @Test
  void fragmentsAreTheMatricesThatRegistersHold() {
    List<Fragment> fragments = new ArrayList<>();
    Calls calls =
        new Calls(
            warp -> {
              if (warp.next().kind().equals("MATRIX_MULTIPLY")) {
                fragments.addAll(warp.fragments(warp.next()));
              }
            });
    // Lane 7: row 1 of A, k 12–15; byte 2 of its register 2 is row 1, k = 16 + 12 + 2.
    String body =
        """
        mov.u32 %r1, %laneid;
        setp.eq.u32 %p1, %r1, 7;
        selp.b32 %r4, 0x00C00000, 0, %p1;
        selp.b32 %r5, 0x00003800, 0, %p1;
        mov.u32 %r6, 0;
        mov.f32 %f1, 0f3FC00000;
        mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%f2, %f3, %f4, %f5}, {%r6, %r6, %r4, %r6}, {%r5, %r6}, {%f1, %f1, %f1, %f1};
        ret;
        """;
    assertEquals(Optional.empty(), run(body, 32, new byte[4], calls));
    assertEquals(List.of("A", "B", "C", "D"), fragments.stream().map(Fragment::name).toList());
    Fragment a = fragments.get(0);
    assertEquals(16 * 32, a.values().size());
    for (int i = 0; i < a.values().size(); i++) {
      assertEquals(i == 1 * 32 + 30 ? -2.0 : 0.0, a.values().get(i), "element " + i);
    }
    assertEquals(7, a.lanes().get(1 * 32 + 30));
    assertEquals("%r4", a.registers().get(1 * 32 + 30));
    // Lane 7: column 1 of B, k 12–15; byte 1 is k = 13.
    Fragment b = fragments.get(1);
    for (int i = 0; i < b.values().size(); i++) {
      assertEquals(i == 13 * 8 + 1 ? 1.0 : 0.0, b.values().get(i), "element " + i);
    }
    assertEquals(1.5, fragments.get(2).values().get(5));
    assertEquals("%f4", fragments.get(3).registers().get(8 * 8));
  }

  @Test
  void barriersTellWhoHasCome() {
    List<String> arrived = new ArrayList<>();
    Calls calls =
        new Calls(
            warp -> {
              for (TracedBarrier barrier : warp.block().barriers()) {
                arrived.add(
                    "%d %d %d"
                        .formatted(barrier.id(), barrier.arrived().size(), barrier.threads()));
              }
              for (TracedWarp other : warp.block().warps()) {
                if (other.waiting() != 0) {
                  assertTrue(other.waitsFor(0).startsWith("waits at barrier 0"));
                  assertEquals("bar", other.at(0).opcode());
                }
              }
            });
    assertEquals(Optional.empty(), run("bar.sync 0;\nret;\n", 96, new byte[4], calls));
    assertTrue(arrived.contains("0 1 0"), arrived.toString());
    assertTrue(arrived.contains("0 2 0"), arrived.toString());
  }

  @Test
  void aTracerEndsALaunch() {
    Tracer impatient =
        new Tracer() {
          @Override
          public boolean begins(TracedLaunch launch) {
            return true;
          }

          @Override
          public boolean step(TracedWarp warp) {
            return warp.block().launch().instructions() < 100;
          }
        };
    Optional<String> fault = run("L: bra L;\n", 32, new byte[4], impatient);
    assertTrue(fault.orElse("").contains("its tracer has seen enough"), fault.toString());
  }

  @Test
  void aTracerThatDoesNotWantALaunchSeesNothingOfIt() {
    Tracer idle =
        new Tracer() {
          @Override
          public boolean begins(TracedLaunch launch) {
            assertEquals("k", launch.kernel());
            assertEquals(ONE, launch.grid());
            assertEquals(new Place(64, 1, 1), launch.block());
            assertEquals(4, launch.line());
            return false;
          }

          @Override
          public boolean step(TracedWarp warp) {
            throw new AssertionError("nobody asked for it");
          }
        };
    assertEquals(Optional.empty(), run("ret;\n", 64, new byte[4], idle));
  }

  @Test
  void buffersHoldWhatTheKernelWrote() {
    byte[] memory = new byte[128];
    String body =
        """
        ld.param.u64 %rd1, [x];
        mov.u32 %r1, %laneid;
        mul.wide.u32 %rd2, %r1, 4;
        add.u64 %rd1, %rd1, %rd2;
        st.global.u32 [%rd1], %r1;
        ret;
        """;
    assertEquals(Optional.empty(), run(body, 32, memory, null));
    assertEquals(31, memory[31 * 4]);
  }

  @Test
  void whatIsNoKernelIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> PtxKernel.parse("no PTX", null));
    IllegalArgumentException other =
        assertThrows(
            IllegalArgumentException.class, () -> PtxKernel.parse(HEAD + "ret;\n}\n", "j"));
    assertTrue(other.getMessage().contains("there is no j, but [k]"), other.getMessage());
    PtxKernel kernel = PtxKernel.parse(HEAD + "ret;\n}\n", "k");
    assertEquals(List.of("x"), kernel.parameters());
    List<PtxKernel.Argument> number = List.of(PtxKernel.Argument.floating(1));
    assertThrows(
        IllegalArgumentException.class,
        () -> kernel.run("sm_12", ONE, ONE, 0, number, null, _ -> {}));
    assertThrows(
        IllegalArgumentException.class,
        () -> kernel.run("sm_89", ONE, ONE, 0, List.of(), null, _ -> {}));
  }
}
