package dev.minifloat.cli;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * How far a command has come: a bar on standard error, if that is a terminal. Any thread may step
 * it.
 */
abstract sealed class Progress implements AutoCloseable {
  private static final int WIDTH = 100;

  /** Whoever reads a log wants to know that it goes on, but not every second. */
  private static final Duration BETWEEN_LINES = Duration.ofSeconds(30);

  private Progress() {}

  /** A bar that counts to {@code total} in units of that name; nothing without a terminal. */
  static Progress of(String task, long total, String unit) {
    return Terminal.isStandardError() ? new Bar(task, total, unit, 1) : new Silent();
  }

  /** A bar that counts bytes, shown in MB; nothing without a terminal. */
  static Progress ofBytes(String task, long total) {
    return Terminal.isStandardError() ? new Bar(task, total, " MB", 1_000_000) : new Silent();
  }

  /**
   * For what may take many minutes: a bar, or without a terminal a line every half a minute.
   *
   * @param err takes the lines
   */
  static Progress ofLongRun(String task, long total, PrintWriter err) {
    return Terminal.isStandardError()
        ? new Bar(task, total, "", 1)
        : new Lines(task, total, err, System::nanoTime);
  }

  /** The same without a terminal, by another clock, of nanoseconds. */
  static Progress ofLines(String task, long total, PrintWriter err, LongSupplier clock) {
    return new Lines(task, total, err, clock);
  }

  /** A bar that is never shown. */
  static Progress none() {
    return new Silent();
  }

  /** Goes on by {@code amount}. */
  abstract void step(long amount);

  /** Says what is being worked on. */
  abstract void message(String text);

  /** Prints a line, above the bar where both go to a terminal. */
  void print(PrintWriter out, String line) {
    out.println(line);
  }

  /** Takes the bar away. */
  @Override
  public void close() {}

  private static final class Silent extends Progress {
    @Override
    void step(long amount) {}

    @Override
    void message(String text) {}
  }

  private static final class Bar extends Progress {
    private final Screen screen = new Screen(System.err);
    private final ProgressBar bar;

    Bar(String task, long total, String unit, long unitSize) {
      bar =
          new ProgressBarBuilder()
              .setTaskName(task)
              .setInitialMax(total)
              .setUnit(unit, unitSize)
              .setStyle(
                  Terminal.wantsColor()
                      ? ProgressBarStyle.COLORFUL_UNICODE_BLOCK
                      : ProgressBarStyle.UNICODE_BLOCK)
              .setSpeedUnit(ChronoUnit.SECONDS)
              .showSpeed()
              .setUpdateIntervalMillis(100)
              .continuousUpdate()
              .setConsumer(screen)
              .clearDisplayOnFinish()
              .build();
    }

    @Override
    void step(long amount) {
      bar.stepBy(amount);
    }

    @Override
    void message(String text) {
      // The bar itself leaves no room before it.
      bar.setExtraMessage(" " + text);
    }

    @Override
    void print(PrintWriter out, String line) {
      screen.printAbove(out, line);
    }

    @Override
    public void close() {
      bar.close();
    }
  }

  /** Where the bar is drawn, by a thread of its own, again and again from a line's beginning. */
  private static final class Screen extends ConsoleProgressBarConsumer {
    private final PrintStream stream;

    Screen(PrintStream stream) {
      super(stream, WIDTH);
      this.stream = stream;
    }

    @Override
    public synchronized void accept(String drawing) {
      super.accept(drawing);
    }

    @Override
    public synchronized void clear() {
      stream.print("\r" + " ".repeat(WIDTH) + "\r");
      stream.flush();
    }

    /** Without an empty line where the bar was. */
    @Override
    public synchronized void close() {
      stream.flush();
    }

    synchronized void printAbove(PrintWriter out, String line) {
      clear();
      out.println(line);
    }
  }

  private static final class Lines extends Progress {
    private final String task;
    private final long total;
    private final PrintWriter err;
    private final LongSupplier clock;
    private String message = "";
    private long done;
    private long lastLine;

    Lines(String task, long total, PrintWriter err, LongSupplier clock) {
      this.task = task;
      this.total = total;
      this.err = err;
      this.clock = clock;
      lastLine = clock.getAsLong();
    }

    @Override
    synchronized void step(long amount) {
      done += amount;
      long now = clock.getAsLong();
      if (now - lastLine >= BETWEEN_LINES.toNanos() && done < total) {
        lastLine = now;
        err.println(
            "%s: %d of %d%s".formatted(task, done, total, message.isEmpty() ? "" : ", " + message));
      }
    }

    @Override
    synchronized void message(String text) {
      message = text;
    }

    /** A line of the command's own says as well that it goes on. */
    @Override
    synchronized void print(PrintWriter out, String line) {
      super.print(out, line);
      lastLine = clock.getAsLong();
    }
  }
}
