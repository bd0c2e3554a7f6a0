package dev.minifloat.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class BarTest {
  private static final Workload.Gemm F32 = new Workload.Gemm(Format.F32, 1024, 1024, 1024, 1);
  private static final Workload.Gemm BF16 = F32.of(Format.BF16);

  private static Bar.Verdict verdict(Measurements measured, int bar) {
    return Bar.of(BF16).get(bar).verdict(BF16, measured, Samples.LIMITS);
  }

  @Test
  void theFastestPeerCounts() {
    Measurements measured = new Measurements();
    measured.add(BF16, Ours.NAME, 2.0);
    measured.add(F32, "oneDNN", 2.5);
    measured.add(F32, "OpenBLAS", 2.2);
    Bar.Verdict verdict = verdict(measured, 0);
    assertTrue(verdict.reached());
    assertEquals(1.1, verdict.ratio().orElseThrow(), 1e-12);
    assertEquals("1.10 (OpenBLAS)", verdict.measured());
    measured.add(F32, "ggml", 1.9);
    assertFalse(verdict(measured, 0).reached());
    assertEquals("MISSED 1.00 x best F32 peer: 0.95 (ggml)", verdict(measured, 0).text());
  }

  @Test
  void whatIsMissingIsNotReached() {
    Measurements measured = new Measurements();
    measured.add(BF16, Ours.NAME, 2.0);
    Bar.Verdict verdict = verdict(measured, 1);
    assertFalse(verdict.reached());
    assertEquals("must be 3.50 x Jlama BF16: not measured", verdict.text());
  }

  @Test
  void aLimitIsComparedInTheWorkloadsUnit() {
    Workload.Quantize workload = new Workload.Quantize(Format.E4M3, 4096, 4096, 1);
    Measurements measured = new Measurements();
    measured.add(workload, Ours.NAME, workload.work() / 12e9);
    Bar bar = Bar.of(workload).getFirst();
    assertEquals(
        List.of(0.6, 0.6),
        List.of(
            bar.factor(), bar.verdict(workload, measured, Samples.LIMITS).ratio().orElseThrow()));
    assertTrue(bar.verdict(workload, measured, Samples.LIMITS).reached());
  }

  @Test
  void aLimitOfTheSameRoundsGoesBeforeThatOfTheWholeRun() {
    Workload.Quantize workload = new Workload.Quantize(Format.E4M3, 4096, 4096, 1);
    Measurements measured = new Measurements();
    measured.add(workload, Ours.NAME, 2.0);
    try (MemoryTraffic traffic = new MemoryTraffic(16 << 20)) {
      double seconds = 1.5;
      for (Contestant copy : traffic.prepare(workload)) {
        measured.add(workload, copy.name(), seconds);
        seconds = 1;
      }
    }
    Bar.Verdict verdict = Bar.of(workload).getFirst().verdict(workload, measured, Samples.LIMITS);
    assertEquals("MISSED 0.60 x DRAM copy: 0.50", verdict.text());
    RunReport.Row row = RunReport.row(workload, measured, Samples.LIMITS);
    assertEquals(workload.figure(1), row.limit());
    assertTrue(row.peers().isEmpty(), row.peers().toString());
  }
}
