package dev.minifloat.cuda.internal.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.minifloat.cuda.sim.Leak;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Things that nobody closed. */
class LeaksTest {
  private static List<String> kinds(Simulated sim) {
    return sim.simulator().leaks().stream().map(Leak::kind).toList();
  }

  private static void forget(PrimaryContext context) {
    Stream stream = Stream.create(context);
    stream.fill(new DeviceAllocator(stream).allocate(100), 0, 100, (byte) 1);
    stream.record(Event.untimed(context));
    PinnedMemory.allocate(context, 10).segment().fill((byte) 1);
    stream.launch(Graph.record(context, recording -> recording.record(Event.untimed(context))));
    TestKernels.load(context, TestKernels.SCALE).kernel(TestKernels.SCALE_ENTRY);
  }

  @Test
  @Timeout(60)
  void areGivenBackWithAWarning() {
    PrintStream before = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    try (Simulated sim = Simulated.of("sim:sm_80");
        PrimaryContext context = sim.context()) {
      forget(context);
      assertEquals(9, kinds(sim).size(), kinds(sim).toString());
      while (kinds(sim).size() > 1) {
        System.gc();
        LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
      }
      assertEquals(1, kinds(sim).size(), "the context is in use: " + kinds(sim));
      context.synchronize();
    } finally {
      System.setErr(before);
    }
    String said = log.toString(StandardCharsets.UTF_8);
    for (String kind :
        List.of(
            "stream",
            "memory pool",
            "device memory",
            "event",
            "page-locked memory",
            "graph",
            "module")) {
      assertTrue(said.contains("The " + kind + " 0x"), kind + " in " + said);
    }
    assertTrue(said.contains("was never closed"), said);
  }

  @Test
  @Timeout(60)
  void contextsAreReleasedWithAWarning() {
    PrintStream before = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    try (Simulated sim = Simulated.of("sim:sm_80")) {
      assertTrue(sim.context().memory().free() > 0);
      while (!kinds(sim).isEmpty()) {
        System.gc();
        LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
      }
    } finally {
      System.setErr(before);
    }
    assertTrue(
        log.toString(StandardCharsets.UTF_8).contains("The primary context of Simulated sm_80"));
  }
}
