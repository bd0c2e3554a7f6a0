package dev.minifloat.cli;

import java.time.temporal.ChronoUnit;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * A progress bar on standard error, if that is a terminal; otherwise nothing. Any thread may step
 * it.
 */
final class Progress implements AutoCloseable {
  private static final int WIDTH = 100;

  private final ProgressBar bar;

  private Progress(ProgressBar bar) {
    this.bar = bar;
  }

  /** A bar that counts to {@code total} in units of that name. */
  static Progress of(String task, long total, String unit) {
    return start(task, total, unit, 1);
  }

  /** A bar that counts bytes, shown in MB. */
  static Progress ofBytes(String task, long total) {
    return start(task, total, " MB", 1_000_000);
  }

  /** A bar that is never shown. */
  static Progress none() {
    return new Progress(null);
  }

  private static Progress start(String task, long total, String unit, long unitSize) {
    if (!Terminal.isStandardError()) {
      return none();
    }
    return new Progress(
        new ProgressBarBuilder()
            .setTaskName(task)
            .setInitialMax(total)
            .setUnit(unit, unitSize)
            .setStyle(ProgressBarStyle.COLORFUL_UNICODE_BLOCK)
            .setSpeedUnit(ChronoUnit.SECONDS)
            .showSpeed()
            .setUpdateIntervalMillis(100)
            .setConsumer(new ConsoleProgressBarConsumer(System.err, WIDTH))
            .clearDisplayOnFinish()
            .build());
  }

  /** Goes on by {@code amount}. */
  void step(long amount) {
    if (bar != null) {
      bar.stepBy(amount);
    }
  }

  /** Says what is being worked on. */
  void message(String text) {
    if (bar != null) {
      bar.setExtraMessage(text);
    }
  }

  /** Takes the bar away. */
  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
