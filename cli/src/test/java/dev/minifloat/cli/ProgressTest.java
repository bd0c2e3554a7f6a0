package dev.minifloat.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private final StringWriter text = new StringWriter();
  private long now;

  @Test
  void aLogHearsOfALongRunEveryHalfMinute() {
    try (Progress progress =
        Progress.ofLines("contract", 100, new PrintWriter(text, true), () -> now)) {
      for (int i = 1; i <= 100; i++) {
        progress.message("gemm/" + i);
        now += Duration.ofSeconds(1).toNanos();
        progress.step(1);
      }
    }

    // Not at the end, which the command itself tells.
    assertEquals(
        List.of(
            "contract: 30 of 100, gemm/30",
            "contract: 60 of 100, gemm/60",
            "contract: 90 of 100, gemm/90"),
        text.toString().lines().toList());
  }

  @Test
  void whatTheCommandPrintsNeedsNoLineBeside() {
    StringWriter printed = new StringWriter();
    try (Progress progress =
        Progress.ofLines("contract", 100, new PrintWriter(text, true), () -> now)) {
      for (int i = 1; i <= 60; i++) {
        now += Duration.ofSeconds(1).toNanos();
        if (i % 25 == 0) {
          progress.print(new PrintWriter(printed, true), "gemm: OK");
        }
        progress.step(1);
      }
    }

    assertEquals(List.of("gemm: OK", "gemm: OK"), printed.toString().lines().toList());
    assertEquals("", text.toString());
  }

  @Test
  void aLogHearsNothingOfAShortRun() {
    try (Progress progress = Progress.ofLines("all", 2, new PrintWriter(text, true), () -> now)) {
      progress.step(1);
      now += Duration.ofHours(1).toNanos();
      progress.step(1);
    }

    assertEquals("", text.toString());
  }
}
