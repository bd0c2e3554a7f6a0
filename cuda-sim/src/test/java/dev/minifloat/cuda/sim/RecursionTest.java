package dev.minifloat.cuda.sim;

import static dev.minifloat.cuda.driver.DriverFunction.cuCtxSynchronize;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.driver.CuResult;
import org.junit.jupiter.api.Test;

/** Functions that call themselves, with variables on the stack. */
class RecursionTest {
  /** out[thread] = n + (n - 1) + … + 1, every step with 1 KB of its own. */
  private static final String SUM =
      """
      .version 7.0
      .target sm_80
      .address_size 64
      .func (.param .b32 r) sum (.param .b32 n)
      { .local .align 8 .b8 own[1024];
        .reg .pred %p; .reg .b32 %r<5>;
        ld.param.b32 %r1, [n];
        st.local.b32 [own + 1020], %r1;
        mov.u32 %r3, 0;
        setp.eq.u32 %p, %r1, 0;
        @%p bra DONE;
        sub.u32 %r2, %r1, 1;
        { .param .b32 a; .param .b32 b;
          st.param.b32 [a], %r2;
          call (b), sum, (a);
          ld.param.b32 %r3, [b]; }
        ld.local.b32 %r4, [own + 1020];
        add.u32 %r3, %r3, %r4;
      DONE:
        st.param.b32 [r], %r3; ret; }
      .visible .entry k(.param .u64 out, .param .u32 n) {
        .reg .b32 %r<3>; .reg .b64 %d<2>;
        ld.param.u64 %d1, [out];
        ld.param.u32 %r1, [n];
        { .param .b32 a; .param .b32 b;
          st.param.b32 [a], %r1;
          call (b), sum, (a);
          ld.param.b32 %r1, [b]; }
        mov.u32 %r2, %tid.x;
        mad.wide.u32 %d1, %r2, 4, %d1;
        st.global.u32 [%d1], %r1;
        ret;
      }
      """;

  @Test
  void eachStepHasItsOwnVariables() {
    try (Client client = Client.ready("sim:sm_80")) {
      long function = client.function(client.module(SUM), "k");
      long out = client.alloc(8);
      client.launch(function, 1, 2, 0, 0, out, 300);
      client.ok(cuCtxSynchronize);
      assertArrayEquals(new int[] {45_150, 45_150}, client.peek(out, 2));
    }
  }

  @Test
  void aStackThatIsTooDeepIsAnErrorOfTheStack() {
    try (Client client = Client.ready("sim:sm_80")) {
      long function = client.function(client.module(SUM), "k");
      long out = client.alloc(8);
      client.launch(function, 1, 2, 0, 0, out, 600);
      client.fails(CuResult.HARDWARE_STACK_ERROR, cuCtxSynchronize);
      String trap = client.driver.lastTrap().orElseThrow();
      assertTrue(trap.contains("a thread's stack would take"), trap);
      assertTrue(trap.contains("st.local") || trap.contains("call"), trap);
    }
  }
}
