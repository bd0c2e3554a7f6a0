package dev.minifloat.cuda.sim;

import static dev.minifloat.cuda.driver.DriverFunction.cuCtxGetCurrent;
import static dev.minifloat.cuda.driver.DriverFunction.cuCtxSetCurrent;
import static dev.minifloat.cuda.driver.DriverFunction.cuCtxSynchronize;
import static dev.minifloat.cuda.driver.DriverFunction.cuModuleLoadDataEx;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.internal.driver.CuResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Texts that ask for too much, begin oddly or go on for long, and kernels that never end. */
class OddModulesTest {
  private static final String HEADER = ".version 7.0\n.target sm_80\n.address_size 64\n";
  private static final String EMPTY = ".visible .entry k() { ret; }\n";
  private static final String ENDLESS = HEADER + ".visible .entry k() {\nL: bra L;\n}\n";

  /** Loads a text that is refused; returns the log. */
  private static String refusal(CuResult result, String ptx) {
    try (Client client = Client.ready("sim:sm_80")) {
      MemorySegment log = client.arena.allocate(1000);
      MemorySegment options = client.arena.allocateFrom(ValueLayout.JAVA_INT, 5, 6);
      MemorySegment values =
          client.arena.allocateFrom(ValueLayout.JAVA_LONG, log.address(), log.byteSize());
      MemorySegment text = client.arena.allocateFrom(ptx);
      client.fails(result, cuModuleLoadDataEx, client.slot(), text, 2, options, values);
      return log.getString(0);
    }
  }

  private static void assertRefused(String expected, String ptx) {
    String log = refusal(CuResult.INVALID_PTX, ptx);
    assertTrue(log.contains(expected), log);
  }

  private static void assertLoads(String ptx) {
    try (Client client = Client.ready("sim:sm_80")) {
      client.function(client.module(ptx), "k");
    }
  }

  @Test
  void headersMayStandOnOneLineAndAfterComments() {
    assertLoads("/* one */ .version 7.0 .target sm_80 .address_size 64 " + EMPTY);
    assertLoads("// one\n/* two\n*/ " + HEADER.replace("\n", "\r\n") + EMPTY);
  }

  @Test
  void targetsAreCheckedWhereverTheyStand() {
    assertRefused("sm_100", ".version 8.6 .target sm_100 .address_size 64 " + EMPTY);
  }

  @Test
  void versionsOfAnySizeAreTooNew() {
    String log =
        refusal(CuResult.UNSUPPORTED_PTX_VERSION, HEADER.replace("7.0", "99999.9") + EMPTY);
    assertTrue(log.contains("99999.9"), log);
  }

  @Test
  void textsThatAreNoPtxAreRefusedWhereTheyBegin() {
    assertRefused("line 1, column 1", "");
    assertRefused("line 1, column 1", "\u0001\u0002 nothing");
  }

  @Test
  void memoryThatNoDeviceGivesIsRefused() {
    assertRefused("4352", HEADER + ".entry k(.param .b8 p[4353]) { ret; }");
    assertRefused("32764", HEADER.replace("7.0", "8.1") + ".entry k(.param .b8 p[32765]) { ret; }");
    assertLoads(HEADER + ".entry k(.param .b8 p[4352]) { ret; }");
    String huge = " .b8 a[2147483000]; ";
    assertRefused("static shared", HEADER + ".entry k() { .shared" + huge + "ret; }");
    assertRefused("local memory", HEADER + ".entry k() { .local" + huge + ".local .u8 b; ret; }");
    assertRefused("parameters", HEADER + ".entry k() { .param" + huge + "ret; }");
  }

  @Test
  void sharedMemoryOfCalledFunctionsCounts() {
    String half = "{ .shared .b8 %s[30000]; .reg .b64 %%r; mov.u64 %%r, %s; %s ret; }\n";
    String text =
        HEADER
            + ".func f() "
            + half.formatted("a", "a", "")
            + ".entry k() "
            + half.formatted("b", "b", "call f;");
    assertRefused("'k' uses 60000 bytes of static shared memory", text);
  }

  @Test
  void longChainsOfCallsAreFollowed() {
    StringBuilder text = new StringBuilder(HEADER).append(".func f0() { ret; }\n");
    for (int i = 1; i < 20_000; i++) {
      text.append(".func f%d() { call f%d; ret; }%n".formatted(i, i - 1));
    }
    assertLoads(text + ".visible .entry k() { call f19999; ret; }");
  }

  @Test
  void closingTheDriverEndsAKernelThatNeverEnds() throws InterruptedException {
    Client client = Client.ready("sim:sm_80");
    long kernel = client.function(client.module(ENDLESS), "k");
    long context = client.get(cuCtxGetCurrent);
    assertEquals(CuResult.SUCCESS, client.launch(kernel, 1, 32, 0, 0));
    CountDownLatch waits = new CountDownLatch(1);
    AtomicReference<CuResult> result = new AtomicReference<>();
    Thread waiter =
        new Thread(
            () -> {
              client.ok(cuCtxSetCurrent, context);
              waits.countDown();
              result.set(client.call(cuCtxSynchronize));
            });
    waiter.start();
    waits.await();
    // Whichever of the two threads comes to run the kernel, it ends.
    client.close();
    waiter.join();
    assertEquals(CuResult.DEINITIALIZED, result.get());
    String trap = client.driver.lastTrap().orElseThrow();
    assertTrue(trap.contains("closed") && trap.contains("bra L"), trap);
  }
}
