package dev.minifloat.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class QuickRunTest {
  private static final Path NONE = Path.of("none");
  private static final List<Plan.Group> GROUPS =
      List.of(
          new Plan.Group(
              List.of(new Workload.Dot(Format.F32, 256), new Workload.Dot(Format.BF16, 256)), 3));

  @Test
  void whoIsWrongIsReportedAndNotMeasured() {
    UnaryOperator<float[]> wrong = result -> new float[] {result[0] + 1};
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (Contestants contestants =
        new Contestants(
            List.of(
                new Ours(NONE),
                new FakePeer("liar", new Ours(NONE), 0, wrong),
                new FakePeer("honest", new Ours(NONE), 0, UnaryOperator.identity())),
            List.of())) {
      RunReport report =
          new QuickRun(
                  contestants,
                  new LimitMeter(2, 16 << 20),
                  100,
                  100,
                  new PrintStream(out, true, StandardCharsets.UTF_8))
              .run(GROUPS, Map.of());
      assertEquals(2, report.failures().size());
      assertTrue(
          report.failures().getFirst().startsWith("liar, dot F32 256, 1 thread: wrong: "),
          report.failures().getFirst());
      for (RunReport.Row row : report.rows()) {
        assertEquals(Set.of("honest"), row.peers().keySet());
        assertTrue(row.ours() > 0);
        assertTrue(row.limit() > 0);
      }
      assertTrue(report.limits().all().dramRead() > 0);
      assertTrue(out.toString(StandardCharsets.UTF_8).contains("FAILED liar"));
    }
  }

  @Test
  void whatMemoryLimitsIsMeasuredBesideItsTraffic() {
    Workload workload = new Workload.Quantize(Format.MXFP4, 64, 1024, 1);
    try (Contestants contestants = new Contestants(List.of(new Ours(NONE)), List.of())) {
      RunReport report =
          new QuickRun(
                  contestants,
                  new LimitMeter(1, 16 << 20),
                  100,
                  100,
                  new PrintStream(OutputStream.nullOutputStream()))
              .run(List.of(new Plan.Group(List.of(workload), 3)), Map.of());
      double seconds = MemoryTraffic.seconds(workload, report.measured()).orElseThrow();
      assertEquals(workload.figure(seconds), report.rows().getFirst().limit());
      assertEquals(Set.of(), report.rows().getFirst().peers().keySet());
    }
  }

  @Test
  void garbageOfOursIsReported() {
    AtomicReference<byte[]> garbage = new AtomicReference<>();
    Runnable littering = () -> garbage.set(new byte[1000]);
    try (Contestants contestants =
        new Contestants(
            List.of(
                new FakePeer(Ours.NAME, new Ours(NONE), 0, UnaryOperator.identity())
                    .with(littering)),
            List.of())) {
      RunReport report =
          new QuickRun(
                  contestants,
                  new LimitMeter(1, 16 << 20),
                  100,
                  100,
                  new PrintStream(OutputStream.nullOutputStream()))
              .run(GROUPS, Map.of());
      assertTrue(
          report.warnings().stream()
              .anyMatch(
                  w ->
                      w.startsWith(
                          "ours allocates where it should not: dot F32 256, 1 thread (10")),
          report.warnings().toString());
    }
  }

  @Test
  void roundsAreCutShortForWantOfTime() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    List<Plan.Group> groups = List.of(new Plan.Group(GROUPS.getFirst().workloads(), 9));
    try (Contestants contestants = new Contestants(List.of(new Ours(NONE)), List.of())) {
      RunReport report =
          new QuickRun(
                  contestants,
                  new LimitMeter(1, 16 << 20),
                  0,
                  100,
                  new PrintStream(out, true, StandardCharsets.UTF_8))
              .run(groups, Map.of());
      assertTrue(
          report.warnings().stream().anyMatch(w -> w.contains("only 3 rounds")),
          report.warnings().toString());
    }
  }

  @Test
  void groupsAreLeftOutWhenTheTimeIsUp() {
    try (Contestants contestants = new Contestants(List.of(new Ours(NONE)), List.of())) {
      RunReport report =
          new QuickRun(
                  contestants,
                  new LimitMeter(1, 16 << 20),
                  0,
                  0,
                  new PrintStream(OutputStream.nullOutputStream()))
              .run(GROUPS, Map.of());
      assertTrue(report.rows().isEmpty());
      assertTrue(
          report.warnings().contains("left out for want of time: dot F32 256 1"),
          report.warnings().toString());
    }
  }
}
