package dev.minifloat.cuda.sim.internal.exec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.memory.Allocation;
import dev.minifloat.cuda.sim.internal.memory.DeviceFault;
import dev.minifloat.cuda.sim.internal.ptx.PtxException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Calls through a function's address: pointers in registers and in tables, as virtual calls are.
 */
class IndirectCallTest {
  private static final String FUNCTIONS =
      """
      .func (.param .b32 r) plus (.param .b32 a, .param .b32 b)
      { .reg .b32 %r<3>; ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b]; add.u32 %r1, %r1, %r2;
        st.param.b32 [r], %r1; ret; }
      .func (.param .b32 r) times (.param .b32 a, .param .b32 b)
      { .reg .b32 %r<3>; ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b]; mul.lo.u32 %r1, %r1, %r2;
        st.param.b32 [r], %r1; ret; }
      .func (.param .b32 r) twice (.param .b32 a, .param .b32 b)
      { .reg .b32 %r<3>; .reg .b64 %d; ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b];
        { .param .b32 x; .param .b32 y; .param .b32 z;
          mov.u64 %d, plus;
          st.param.b32 [x], %r1; st.param.b32 [y], %r1;
          proto : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
          call (z), %d, (x, y), proto;
          ld.param.b32 %r2, [z]; }
        st.param.b32 [r], %r2; ret; }
      .func (.param .b64 r) other (.param .b32 a, .param .b32 b) { st.param.b64 [r], 1; ret; }
      .global .u64 table[5] = {plus, times, twice, 0, other};
      """;

  /** out[thread] = table[thread % n](thread, 7), plus 1000. */
  private static final String KERNEL =
      """
      .visible .entry k(.param .u64 out, .param .u32 n) {
        .reg .b32 %r<5>; .reg .b64 %d<5>;
        mov.u32 %r1, %tid.x;
        ld.param.u64 %d1, [out];
        ld.param.u32 %r2, [n];
        rem.u32 %r3, %r1, %r2;
        mov.u64 %d2, table;
        mad.wide.u32 %d2, %r3, 8, %d2;
        ld.global.u64 %d3, [%d2];
        { .param .b32 a; .param .b32 b; .param .b32 q;
          st.param.b32 [a], %r1; st.param.b32 [b], 7;
          pointed : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
          call.uni (q), %d3, (a, b), pointed;
          ld.param.b32 %r4, [q]; }
        add.u32 %r4, %r4, 1000;
        mad.wide.u32 %d1, %r1, 4, %d1;
        st.global.u32 [%d1], %r4;
        ret;
      }
      """;

  private static int[] run(int functions) {
    Device device = new Device(Device.HEADER + FUNCTIONS + KERNEL);
    Allocation out = device.ints(new int[64]);
    device.run(1, 64, out, functions);
    return device.ints(out);
  }

  @Test
  void lanesOfOneWarpCallDifferentFunctions() {
    int[] expected =
        IntStream.range(0, 64)
            .map(i -> 1000 + (i % 3 == 0 ? i + 7 : i % 3 == 1 ? i * 7 : 2 * i))
            .toArray();
    assertArrayEquals(expected, run(3));
  }

  @Test
  void addressesOfNoFunctionAreFaults() {
    LaunchFault none = assertThrows(LaunchFault.class, () -> run(4));
    assertEquals(DeviceFault.Kind.ILLEGAL_INSTRUCTION, none.kind());
    assertEquals(3, none.thread().x());
    assertTrue(none.getMessage().contains("0x0 is not the address"), none.getMessage());
    LaunchFault unlike = assertThrows(LaunchFault.class, () -> run(5));
    assertEquals(DeviceFault.Kind.ILLEGAL_INSTRUCTION, unlike.kind());
  }

  private static void assertRefused(String expected, String kernel) {
    String text = Device.HEADER + FUNCTIONS + kernel;
    PtxException refused = assertThrows(PtxException.class, () -> new Device(text));
    assertTrue(refused.getMessage().contains(expected), refused.getMessage());
  }

  @Test
  void prototypesHaveToBeThere() {
    assertRefused("prototype", KERNEL.replace(", pointed;", ";"));
    assertRefused("prototype", KERNEL.replace(", pointed;", ", unknown;"));
    assertRefused("results", KERNEL.replace("call.uni (q), %d3", "call.uni %d3"));
  }

  @Test
  void kernelsAndUnknownNamesHaveNoAddress() {
    assertRefused("kernel", KERNEL.replace("mov.u64 %d2, table;", "mov.u64 %d2, k;"));
    assertRefused("names no variable", ".global .u64 x[1] = {nothing};" + KERNEL);
    assertRefused("'nothing'", KERNEL.replace("mov.u64 %d2, table;", "mov.u64 %d2, nothing;"));
  }
}
