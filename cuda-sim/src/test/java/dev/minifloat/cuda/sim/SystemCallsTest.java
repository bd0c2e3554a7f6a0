package dev.minifloat.cuda.sim;

import static dev.minifloat.cuda.driver.DriverFunction.cuCtxSetLimit;
import static dev.minifloat.cuda.driver.DriverFunction.cuCtxSynchronize;
import static dev.minifloat.cuda.driver.DriverFunction.cuModuleLoadData;
import static dev.minifloat.cuda.driver.DriverFunction.cuModuleUnload;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.driver.CuResult;
import org.junit.jupiter.api.Test;

/** What a device itself defines: printf, assert, malloc and free. */
class SystemCallsTest {
  private static final int HEAP = 2;

  private static final String PTX =
      """
      .version 7.0
      .target sm_80
      .address_size 64
      .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
      .extern .func (.param .b64 r) malloc (.param .b64 n);
      .extern .func free (.param .b64 p);
      .extern .func __assertfail
        (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
      .global .align 1 .b8 line[] = {37, 100, 32, 37, 46, 49, 102, 10, 0};
      .global .align 1 .b8 what[] = {120, 32, 60, 32, 50, 0};
      .global .align 1 .b8 file[] = {97, 46, 99, 117, 0};
      .global .align 1 .b8 name[] = {107, 0};

      // printf("%d %.1f\\n", thread, thread / 2) of odd threads; out[thread] = its result
      .visible .entry print(.param .u64 out) {
        .local .align 8 .b8 packed[16];
        .reg .b32 %r<5>;
        .reg .f64 %f<3>;
        .reg .b64 %d<6>;
        .reg .pred %p;
        mov.u32 %r1, %tid.x;
        ld.param.u64 %d1, [out];
        mad.wide.u32 %d1, %r1, 4, %d1;
        and.b32 %r2, %r1, 1;
        setp.eq.u32 %p, %r2, 0;
        @%p ret;
        cvt.rn.f64.u32 %f1, %r1;
        mul.f64 %f1, %f1, 0d3FE0000000000000;
        st.local.u32 [packed], %r1;
        st.local.f64 [packed+8], %f1;
        mov.u64 %d2, line;
        cvta.global.u64 %d2, %d2;
        mov.u64 %d3, packed;
        cvta.local.u64 %d3, %d3;
        { .param .b64 p0; .param .b64 p1; .param .b32 q;
          st.param.b64 [p0], %d2;
          st.param.b64 [p1], %d3;
          call (q), vprintf, (p0, p1);
          ld.param.b32 %r3, [q]; }
        st.global.u32 [%d1], %r3;
        ret;
      }

      // prints, then runs into a trap
      .visible .entry stop(.param .u64 out) {
        .local .align 8 .b8 packed[16];
        .reg .b32 %r<3>;
        .reg .b64 %d<4>;
        st.local.u32 [packed], 7;
        st.local.u64 [packed+8], 0;
        mov.u64 %d2, line;
        mov.u64 %d3, packed;
        cvta.local.u64 %d3, %d3;
        { .param .b64 p0; .param .b64 p1; .param .b32 q;
          st.param.b64 [p0], %d2;
          st.param.b64 [p1], %d3;
          call (q), vprintf, (p0, p1); }
        trap;
      }

      // assert(x < 2) for x = thread
      .visible .entry check() {
        .reg .b32 %r<3>;
        .reg .b64 %d<4>;
        .reg .pred %p;
        mov.u32 %r1, %tid.x;
        setp.lt.u32 %p, %r1, 2;
        @%p ret;
        mov.u64 %d1, what;
        mov.u64 %d2, file;
        mov.u64 %d3, name;
        { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
          st.param.b64 [p0], %d1;
          st.param.b64 [p1], %d2;
          st.param.b32 [p2], 12;
          st.param.b64 [p3], %d3;
          st.param.b64 [p4], 1;
          call __assertfail, (p0, p1, p2, p3, p4); }
        ret;
      }

      // out[thread] = malloc(n) holds thread + 1, or -1; what was allocated is left
      .visible .entry take(.param .u64 out, .param .u64 n) {
        .reg .b32 %r<3>;
        .reg .b64 %d<5>;
        .reg .pred %p;
        mov.u32 %r1, %tid.x;
        ld.param.u64 %d1, [out];
        ld.param.u64 %d2, [n];
        mad.wide.u32 %d1, %r1, 8, %d1;
        { .param .b64 p0; .param .b64 q;
          st.param.b64 [p0], %d2;
          call (q), malloc, (p0);
          ld.param.b64 %d3, [q]; }
        setp.eq.u64 %p, %d3, 0;
        @%p mov.u64 %d3, -1;
        @!%p st.u32 [%d3], %r1;
        st.global.u64 [%d1], %d3;
        ret;
      }

      // free(p)
      .visible .entry give(.param .u64 p) {
        .reg .b64 %d1;
        ld.param.u64 %d1, [p];
        { .param .b64 p0;
          st.param.b64 [p0], %d1;
          call free, (p0); }
        ret;
      }
      """;

  private final StringBuilder printed = new StringBuilder();

  private Client client() {
    return Client.ready(
        SimulatedDriver.builder().device("sim:sm_80").output(printed::append).build());
  }

  @Test
  void threadsPrintInTheirOrder() {
    try (Client client = client()) {
      long data = client.upload(client.ints(9, 9, 9, 9));
      long print = client.function(client.module(PTX), "print");
      assertEquals(CuResult.SUCCESS, client.launch(print, 1, 4, 0, 0, data));
      assertEquals("", printed.toString());
      client.ok(cuCtxSynchronize);
      assertEquals("1 0.5\n3 1.5\n", printed.toString());
      int[] results = client.peek(data, 4);
      assertEquals(9, results[0]);
      assertEquals(2, results[1]);
      assertEquals(2, results[3]);
    }
  }

  @Test
  void whatWasPrintedBeforeATrapIsSeen() {
    try (Client client = client()) {
      long stop = client.function(client.module(PTX), "stop");
      client.launch(stop, 1, 1, 0, 0, 0L);
      client.fails(CuResult.LAUNCH_FAILED, cuCtxSynchronize);
      assertEquals("7 0.0\n", printed.toString());
    }
  }

  @Test
  void failedAssertionsNameThemselves() {
    try (Client client = client()) {
      long check = client.function(client.module(PTX), "check");
      client.launch(check, 1, 2, 0, 0);
      client.ok(cuCtxSynchronize);
      client.launch(check, 1, 3, 0, 0);
      client.fails(CuResult.ASSERT, cuCtxSynchronize);
      assertEquals(
          "a.cu:12: k: block: [0,0,0], thread: [2,0,0] Assertion `x < 2` failed.\n",
          printed.toString());
      String trap = client.driver.lastTrap().orElseThrow();
      assertTrue(trap.contains("assertion `x < 2` failed at a.cu:12: k"), trap);
    }
  }

  @Test
  void mallocGivesMemoryUntilTheHeapIsFull() {
    try (Client client = client()) {
      client.ok(cuCtxSetLimit, HEAP, 100L);
      long module = client.module(PTX);
      long take = client.function(module, "take");
      long give = client.function(module, "give");
      long data = client.alloc(24);
      client.launch(take, 1, 3, 0, 0, data, 40L);
      client.ok(cuCtxSynchronize);
      int[] words = client.peek(data, 6);
      long first = (words[0] & 0xFFFF_FFFFL) | ((long) words[1] << 32);
      assertEquals(0, client.peek(first, 1)[0]);
      assertEquals(-1, words[4] & words[5]);
      client.launch(give, 1, 1, 0, 0, first);
      client.launch(give, 1, 1, 0, 0, 0L);
      client.launch(take, 1, 1, 0, 0, data, 40L);
      client.ok(cuCtxSynchronize);
      assertTrue(client.peek(data, 2)[1] > 0);
      client.ok(cuModuleUnload, module);
    }
  }

  @Test
  void freeOfWhatNobodyAllocatedIsAFault() {
    try (Client client = client()) {
      long give = client.function(client.module(PTX), "give");
      client.launch(give, 1, 1, 0, 0, client.alloc(8));
      client.fails(CuResult.ILLEGAL_ADDRESS, cuCtxSynchronize);
      assertTrue(client.driver.lastTrap().orElseThrow().contains("free of 0x"));
    }
  }

  @Test
  void otherNamesAndOtherPrototypesAreDefinedNowhere() {
    try (Client client = client()) {
      for (String changed : new String[] {"vprintg", "vprintf"}) {
        String text = PTX.replace("vprintf", changed);
        if (changed.equals("vprintf")) {
          text = text.replace(".param .b64 f, .param .b64 a);", ".param .b64 f, .param .b32 a);");
        }
        client.fails(
            CuResult.INVALID_PTX, cuModuleLoadData, client.slot(), client.arena.allocateFrom(text));
      }
    }
  }
}
